"""Repositories on GitHub as a source of real code."""
