"""Repositories on GitHub as a source of real code."""

from pipeline.crawl.github.rules import GitHubRules

__all__ = ["GitHubRules"]
