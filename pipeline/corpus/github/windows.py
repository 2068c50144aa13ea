"""Searches in parts: GitHub shows no more than the first thousand results of a search, so a window is halved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from pipeline.index.release_selection import Period

MAX_RESULTS = 1000
"""Results of one search that can be seen (https://docs.github.com/en/rest/search/search#about-search)."""

GITHUB_BEGAN = datetime(2008, 1, 1, tzinfo=UTC)

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Window:
    """A range of a search qualifier, both ends included: `created` and `pushed` in epoch seconds, `size` in bytes."""

    qualifier: str
    first: int
    last: int

    def __str__(self) -> str:
        """The window as GitHub reads it."""
        ends = (str(end) if self.qualifier == "size" else _iso(end) for end in (self.first, self.last))
        return f"{self.qualifier}:{'..'.join(ends)}"

    def halves(self) -> tuple[Window, Window] | None:
        """Return two windows that cover the same without overlapping; None where it cannot be parted."""
        if self.first >= self.last:
            return None
        middle = (self.first + self.last) // 2
        return Window(self.qualifier, self.first, middle), Window(self.qualifier, middle + 1, self.last)


@dataclass(frozen=True, slots=True)
class Results(Generic[_Item]):
    """What a search found: how many in all, whether GitHub ran out of time, and the first of them as they are read."""

    total: int
    incomplete: bool
    items: Iterator[_Item]


def window_of(period: Period, qualifier: str, now: datetime) -> Window:
    """Return the seconds of a period as a window; where the period has no end, until the midnight after `now`."""
    until = period.until or now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    since = max(period.since or GITHUB_BEGAN, GITHUB_BEGAN)
    return Window(qualifier, math.ceil(since.timestamp()), math.ceil(until.timestamp()) - 1)


def parts(
    window: Window, ask: Callable[[Window], Results[_Item]], max_results: int
) -> Iterator[tuple[Window, Results[_Item]]]:
    """Yield windows that cover a window, with their results.

    Each is so small that `max_results` of its results, or all, can be read. A window that cannot be parted further
    comes as it is. An empty window has no parts.

    Errors: those of `ask`.
    """
    if window.first > window.last:
        return
    results = ask(window)
    halves = window.halves()
    if halves is None or (min(max_results, results.total) <= MAX_RESULTS and not results.incomplete):
        yield window, results
        return
    for half in halves:
        yield from parts(half, ask, max_results)


def _iso(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
