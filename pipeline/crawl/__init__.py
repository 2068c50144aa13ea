"""What comes from outside: the package index, and the guarded reading of its archives."""

from pipeline.crawl.releases import Period
from pipeline.crawl.tree import SourceTree

__all__ = ["Period", "SourceTree"]
