"""Retention: what of the past is kept, by rule."""

from pipeline.retention.clean import Cleaned, bytes_by_kind, clean, clean_here
from pipeline.retention.leftovers import Leftover
from pipeline.retention.metadata import NotCleaned
from pipeline.retention.rules import RetentionRules, retention_rules

__all__ = [
    "Cleaned",
    "Leftover",
    "NotCleaned",
    "RetentionRules",
    "bytes_by_kind",
    "clean",
    "clean_here",
    "retention_rules",
]
