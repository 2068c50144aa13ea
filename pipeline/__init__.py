"""Driftline: live, execution-proven benchmarks of library-version-aware code."""

__version__ = "0.1.0"
