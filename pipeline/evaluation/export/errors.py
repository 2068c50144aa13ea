"""Why something cannot be exported or imported."""

from __future__ import annotations


class ExportError(ValueError):
    """What was asked for cannot be exported or imported; the message says why, and what to do."""


class NothingHeld(ExportError):
    """There are rows of what the format is about, and none of them could be exported."""
