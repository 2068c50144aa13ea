"""Why a test cannot be cut out."""

from __future__ import annotations

from pipeline.core.vocabularies.review import RejectReason


class Refused(Exception):
    """A test, or one of its cases, cannot stand alone; the message is the detail of the reject."""

    def __init__(self, reason: RejectReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
