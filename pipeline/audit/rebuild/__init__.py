"""Rows of a snapshot made again from their provenance, by the functions that made them the first time."""
