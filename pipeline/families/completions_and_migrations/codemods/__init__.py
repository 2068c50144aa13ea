"""Codemods: libcst writes a snippet for another release of its library, as the changes between the two want it."""
