"""What changed between releases, when each API came and went, and what the benchmarks call it."""
