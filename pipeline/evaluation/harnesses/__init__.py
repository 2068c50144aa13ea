"""Adapters for harnesses that ask models themselves; their answers get our prompts and our verdicts."""
