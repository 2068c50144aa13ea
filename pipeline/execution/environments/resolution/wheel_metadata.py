"""The core metadata of wheels, with requirements put right that only an old pip could read (PEP 440, PEP 508)."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier

from pipeline.index.archives import ArchiveLimits, BadArchive, UnsafeArchive, ZipMembers, ZipReadable
from pipeline.index.http import Fetcher, NoRanges, NotFound
from pipeline.index.index import IndexFile
from pipeline.index.ranges import Place, RemoteFile
from pipeline.index.rules import RangeRules

_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_REQUIRES = re.compile(r"^Requires-Dist:[ \t]*(.*?)[ \t]*$", re.M | re.I)
_PARTS = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*(?:\s*\[[^\]]*\])?)\s*\(?((?:[<>=!~][^;()]*)?)\)?\s*(;.*)?")
_LETTER = re.compile(r"(?<=\d)([a-z])$")
_DOT_STAR = re.compile(r"^\s*((?:<=?|>=?|~=)\s*[\d.]*\d)\.\*\s*$")
_LIMITS = ArchiveLimits()
_RANGES = RangeRules(over_bytes=0, tail_bytes=1 << 16, gap_bytes=1 << 16, at_once=1)


class WheelMetadata:
    """Reads the metadata of wheels without fetching the wheels; what was read is kept. Many threads may ask."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._cache: dict[str, bytes] = {}
        self._changing = threading.Lock()

    def read(self, file: IndexFile) -> bytes:
        """Return the metadata of a wheel, repaired.

        Errors: NotFound where the wheel holds none that can be read; those of Fetcher.
        """
        with self._changing:
            cached = self._cache.get(file.sha256)
        if cached is None:
            cached = repaired(self._fetch(file).decode("utf-8", "replace")).encode()
            with self._changing:
                self._cache[file.sha256] = cached
        return cached

    def _fetch(self, file: IndexFile) -> bytes:
        try:
            try:
                remote = RemoteFile(self._fetcher, file.url, _RANGES, _LIMITS.max_bytes)
                return _metadata(remote, remote.size, remote.fetch)
            except NoRanges:
                with tempfile.TemporaryFile() as whole:
                    size = self._fetcher.download(file.url, whole, sha256=file.sha256, max_bytes=_LIMITS.max_bytes)
                    return _metadata(whole, size, lambda _: None)
        except (BadArchive, UnsafeArchive, KeyError) as error:
            raise NotFound(f"{file.url}: no metadata: {error}") from None


def _metadata(source: ZipReadable, size: int, fetch: Callable[[Iterable[Place]], None]) -> bytes:
    wheel = ZipMembers(source, size, _LIMITS)
    name = next((name for name in wheel.names if _METADATA.fullmatch(name)), "METADATA")
    fetch([wheel.place(name)])
    return wheel.read(name)


def repaired(metadata: str) -> str:
    """Return core metadata whose requirements can be read; what was right, and what nobody understands, stays."""
    head, separator, description = metadata.partition("\n\n")
    return (
        _REQUIRES.sub(lambda match: f"Requires-Dist: {repaired_requirement(match[1])}", head) + separator + description
    )


def repaired_requirement(text: str) -> str:
    """Return a requirement with versions as PEP 440 has them: `2011k` was 2011.11, and `>=1.0.*` meant `>=1.0`.

    A clause that still cannot be read is left out.
    """
    parts = _PARTS.fullmatch(text)
    if _readable(text) or not parts:
        return text
    clauses = [clause for part in parts[2].split(",") if (clause := _clause(part.strip()))]
    better = (
        f"{parts[1]} ({','.join(clauses)}){' ' + parts[3] if parts[3] else ''}"
        if clauses
        else parts[1] + (parts[3] or "")
    )
    return better if _readable(better) else text


def _clause(text: str) -> str:
    text = _DOT_STAR.sub(r"\1", _LETTER.sub(lambda match: f".{ord(match[1]) - ord('a') + 1}", text))
    try:
        return str(Specifier(text))
    except InvalidSpecifier:
        return ""


def _readable(requirement: str) -> bool:
    try:
        Requirement(requirement)
    except InvalidRequirement:
        return False
    return True
