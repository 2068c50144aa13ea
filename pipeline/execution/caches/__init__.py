"""Caches have limits: what was used longest ago goes first, and what is in use stays."""
