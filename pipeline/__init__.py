"""Driftline: live, execution-proven benchmarks of library-version-aware code."""
