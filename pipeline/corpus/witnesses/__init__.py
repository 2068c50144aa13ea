"""Witnesses: the smallest programs of which running shows a change of a library."""
