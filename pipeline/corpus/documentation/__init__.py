"""The documentation of libraries by parts, for each API and version: from documentation sites and from docstrings."""
