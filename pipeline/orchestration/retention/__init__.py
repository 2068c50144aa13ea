"""Retention: what of the past is kept, by rule."""
