"""Marks that an answer leaves where it uses a required name."""
