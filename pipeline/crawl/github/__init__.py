"""Repositories on GitHub as a source of real code."""

from pipeline.crawl.github.rules import GitHubRules
from pipeline.crawl.github.source import GitHub

__all__ = ["GitHub", "GitHubRules"]
