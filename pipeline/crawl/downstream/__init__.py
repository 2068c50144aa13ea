"""Code of dependents: source distributions of packages on the index that require the library."""

from pipeline.crawl.downstream.rules import DependentRules
from pipeline.crawl.downstream.source import Downstream

__all__ = ["DependentRules", "Downstream"]
