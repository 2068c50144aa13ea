"""Contexts of completions: in-line contexts, documents of the version, and the controlled scenario."""
