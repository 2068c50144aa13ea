"""Which release the versions that words name stand for, on the day of a post."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.stack_overflow.mentions import Mention
from pipeline.lake.rows import ReleaseRow

_OPEN_END = re.compile(r"\.[x*]$", re.IGNORECASE)
_FULL = 3
"""A version of so many numbers names one release; one of fewer names a series, unless the words are exact."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The version that code is for, spelled as the index does, and what says so."""

    version: str
    words: str


@dataclass(frozen=True, slots=True)
class NotChosen:
    """Why no version was chosen."""

    reason: RejectReason
    detail: str


@dataclass(frozen=True, slots=True)
class Day:
    """When a post was written, and when its text was last changed."""

    created: datetime
    edited: datetime


class Releases:
    """The releases of a library that the lake holds."""

    def __init__(self, rows: Iterable[ReleaseRow]) -> None:
        self._all = sorted((Version(row["version"]), row["release_time"], row["version"]) for row in rows)

    def exact(self, version: Version) -> tuple[str, datetime] | None:
        """Return a release and its time."""
        return next(((spelled, time) for each, time, spelled in self._all if each == version), None)

    def series(self, numbers: Sequence[int]) -> list[tuple[str, datetime]]:
        """Return the releases that begin with these numbers, and their times, in their order."""
        size = len(numbers)
        padded = ((tuple(each.release) + (0,) * size, time, spelled) for each, time, spelled in self._all)
        return [(spelled, time) for release, time, spelled in padded if release[:size] == tuple(numbers)]

    def know(self, mention: Mention, day: Day) -> bool:
        """Tell whether a release had the number of a mention by then."""
        parsed = _parsed(mention.version)
        return parsed is not None and any(time <= day.edited for _, time in self.series(parsed.release))


def agreed(mentions: Sequence[Mention]) -> Mention | NotChosen:
    """Return the most definite of mentions that are all about one version, or how they disagree."""
    words = "; ".join(dict.fromkeys(f"“{mention.words}”" for mention in mentions))
    if any(mention.unclear for mention in mentions):
        return NotChosen(RejectReason.VERSION_UNKNOWN, f"it is said which version it is not for: {words}")
    definite = max(mentions, key=lambda mention: (len(_numbers(mention)), mention.exact))
    if any(_numbers(definite)[: len(_numbers(mention))] != _numbers(mention) for mention in mentions):
        return NotChosen(RejectReason.VERSION_UNKNOWN, f"several versions are named: {words}")
    return definite


def choose(mention: Mention, releases: Releases, day: Day) -> Chosen | NotChosen:
    """Return the release that a mention stands for.

    `1.3.5`, and what exact words name (`==1.3`, the output of `__version__`), is that release. `1.3` in prose is a
    series: the newest of it that was there when the post was written; where none was, when it was last edited.
    """
    parsed = _parsed(mention.version)
    if parsed is None:
        return NotChosen(RejectReason.VERSION_UNKNOWN, f"“{mention.words}”: {mention.version} is no version (PEP 440)")
    whole = not _OPEN_END.search(mention.version)
    if whole and (mention.exact or len(parsed.release) >= _FULL or parsed.public != parsed.base_version):
        return _exactly(mention, parsed, releases, day)
    series = releases.series(parsed.release)
    if not series:
        return NotChosen(RejectReason.VERSION_NOT_COVERED, f"“{mention.words}”: no release of {mention.version}")
    for time in (day.created, day.edited):
        if there := [spelled for spelled, released in series if released <= time]:
            words = f"{mention.words} (newest of the series on {time:%Y-%m-%d})"
            return Chosen(there[-1], words)
    return _too_early(mention, day)


def _exactly(mention: Mention, version: Version, releases: Releases, day: Day) -> Chosen | NotChosen:
    release = releases.exact(version)
    if release is None:
        return NotChosen(RejectReason.VERSION_NOT_COVERED, f"“{mention.words}”: no release {mention.version}")
    spelled, released = release
    return Chosen(spelled, mention.words) if released <= day.edited else _too_early(mention, day)


def _too_early(mention: Mention, day: Day) -> NotChosen:
    detail = f"“{mention.words}”: {mention.version} was not released on {day.edited:%Y-%m-%d}, when this was written"
    return NotChosen(RejectReason.VERSION_UNKNOWN, detail)


def _parsed(version: str) -> Version | None:
    try:
        return Version(_OPEN_END.sub("", version))
    except InvalidVersion:
        return None


def _numbers(mention: Mention) -> list[str]:
    return re.split(r"[.-]", _OPEN_END.sub("", mention.version))
