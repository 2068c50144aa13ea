"""Snippets: examples in docstrings and code of others, as programs whose library version is known."""
