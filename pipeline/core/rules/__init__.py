"""Curation rules: what a curator edits, as frozen models."""
