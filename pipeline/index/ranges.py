"""A file on a server, read in parts like a file on disk: what is not there yet is fetched."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from pipeline.index.http import Fetcher, NoRanges, Span
from pipeline.index.rules import RangeRules

Place = tuple[int, int]


class RemoteFile:
    """The bytes of a file on a server, as far as they were needed (RFC 9110 §14).

    All parts are of one state of the file: should it change in between, that is NoRanges. Errors, here and in every
    reading: those of Fetcher.get_span, and NoRanges where more than `max_bytes` would have to be fetched.
    """

    def __init__(self, fetcher: Fetcher, url: str, rules: RangeRules, max_bytes: int) -> None:
        self._fetcher = fetcher
        self._url = url
        self._rules = rules
        self._budget = max_bytes
        self._position = 0
        tail = fetcher.get_span(url, -rules.tail_bytes)
        self.size = tail.total
        self._etag = tail.etag
        self._held: list[tuple[int, bytes]] = []
        self._hold(tail)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place, which may lie behind the end."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        if base + offset < 0:
            raise ValueError(f"{self._url}: byte {base + offset} lies before the file")
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        """Return the place."""
        return self._position

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, n: int = -1, /) -> bytes:
        """Read so many bytes, or all that are left."""
        start = self._position
        stop = self.size if n < 0 else min(start + n, self.size)
        if start >= stop:
            return b""
        self.fetch([(start, stop)])
        self._position = stop
        return b"".join(self._parts(start, stop))

    def fetch(self, places: Iterable[Place]) -> None:
        """Fetch what is not there yet of some places [start, stop), neighbours together, several at a time."""
        gaps = [gap for start, stop in sorted(places) for gap in self._gaps(start, min(stop, self.size))]
        joined = _join(gaps, self._rules.gap_bytes)
        requests = [gap for start, stop in joined for gap in self._gaps(start, stop)]
        size = sum(stop - start for start, stop in requests)
        if size > self._budget:
            raise NoRanges(f"{self._url}: {size} bytes more to fetch, the limit leaves {self._budget}")
        if len(requests) > 1:
            with ThreadPoolExecutor(self._rules.at_once) as pool:
                for span in pool.map(lambda place: self._get(*place), requests):
                    self._hold(span)
        else:
            for place in requests:
                self._hold(self._get(*place))

    def _get(self, start: int, stop: int) -> Span:
        span = self._fetcher.get_span(self._url, start, stop, etag=self._etag)
        if (span.total, span.etag) != (self.size, self._etag):
            raise NoRanges(f"{self._url}: another file than at the first request, {span.total} bytes were {self.size}")
        return span

    def _hold(self, span: Span) -> None:
        self._budget -= len(span.content)
        self._held.insert(bisect_right(self._held, (span.start, b"")), (span.start, span.content))

    def _overlapping(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        """Yield the parts that are there of a place; parts never overlap each other."""
        first = max(bisect_right(self._held, start, key=lambda part: part[0]) - 1, 0)
        for begin, content in self._held[first:]:
            if begin >= stop:
                return
            if begin + len(content) > start:
                yield begin, content

    def _parts(self, start: int, stop: int) -> Iterator[bytes]:
        for begin, content in self._overlapping(start, stop):
            yield content[max(start - begin, 0) : stop - begin]

    def _gaps(self, start: int, stop: int) -> Iterator[Place]:
        for begin, content in list(self._overlapping(start, stop)):
            if start < begin:
                yield start, begin
            start = begin + len(content)
        if start < stop:
            yield start, stop


def _join(places: Iterable[Place], gap: int) -> list[Place]:
    """Join sorted places that overlap or lie at most `gap` apart."""
    joined: list[Place] = []
    for start, stop in places:
        if joined and start - joined[-1][1] <= gap:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined
