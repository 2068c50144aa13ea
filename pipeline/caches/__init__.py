"""Caches have limits: what was used longest ago goes first, and what is in use stays."""

from pipeline.caches.clearing import Cleared, clear_caches
from pipeline.caches.rules import CacheRules
from pipeline.caches.using import IN_USE, use_caches

__all__ = ["IN_USE", "CacheRules", "Cleared", "clear_caches", "use_caches"]
