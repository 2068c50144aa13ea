"""What one search or one repository may end with: a reject, while the others go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from more_itertools import first

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.github.archive import TooLarge
from pipeline.corpus.github.client import Empty
from pipeline.corpus.github.limits import RateLimited
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.lake.stage import Reject

# In this order: an empty repository is not found in a way of its own.
_REASONS: tuple[tuple[type[Exception], RejectReason], ...] = (
    (Empty, RejectReason.NO_USE),
    (NotFound, RejectReason.VANISHED),
    (RateLimited, RejectReason.RATE_LIMITED),
    (Unreachable, RejectReason.SOURCE_UNREACHABLE),
    (BadAnswer, RejectReason.BAD_ANSWER),
    (TooLarge, RejectReason.TOO_LARGE),
    (BadArchive, RejectReason.BAD_ARCHIVE),
    (UnsafeArchive, RejectReason.UNSAFE_ARCHIVE),
)


class Outcomes:
    """Makes rejects of errors, and gives up where so many things in a row were not answered at all."""

    def __init__(self, silent_in_a_row: int) -> None:
        self._silent_in_a_row = silent_in_a_row
        self._silent = 0

    @contextmanager
    def rejecting(self, key: str, rejects: list[Reject]) -> Iterator[None]:
        """Append to `rejects` what ends the work on one thing.

        Errors: Unreachable where nothing was answered too often.
        """
        try:
            yield
        except Unreachable as error:
            self._silent += 1
            if self._silent >= self._silent_in_a_row:
                raise
            rejects.append(_reject(key, error))
        except tuple(kind for kind, _ in _REASONS) as error:
            self._silent = 0
            rejects.append(_reject(key, error))
        else:
            self._silent = 0


def _reject(key: str, error: Exception) -> Reject:
    reason = first(reason for kind, reason in _REASONS if isinstance(error, kind))
    return Reject(key, reason, str(error))
