"""Benchmark instances from real code: completions with the core API masked, and migrations between two versions."""
