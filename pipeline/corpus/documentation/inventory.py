"""Inventories of documentation sites (`objects.inv`): which page and anchor documents which name.

Sphinx writes version 2, and wrote version 1 before 1.0; mkdocstrings writes version 2 too. Their format is what
`sphinx.util.inventory` reads. sphobjinv reads version 2 alone, whole, and unpacks without bound; so this is our own
reader, which the tests hold against it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from pipeline.core.errors import CodedError

_CHUNK = 1 << 16
_MAX_LINE = 1 << 16
_HEAD = b"# Sphinx inventory version "
_V2 = re.compile(r"(?P<name>.+?)\s+(?P<domain>[^\s:]+):(?P<role>\S+)\s+-?\d+\s+?(?P<place>\S*)\s+(?P<title>.*)")


class BadInventory(CodedError):
    """It is no inventory, or broken from somewhere on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name with the page and anchor of the site at which it is documented; `title` for pages."""

    name: str
    domain: str
    role: str
    page: str
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Head:
    """What an inventory says of itself: its format, the project, and its version as it is spelled."""

    format: int
    project: str
    version: str


def read_head(file: IO[bytes]) -> Head:
    """Read the first lines of an inventory, after which `read_entries` goes on.

    Errors: BadInventory where it is something else (a page in HTML, an empty file).
    """
    first = file.readline(_MAX_LINE)
    if not first.startswith(_HEAD):
        raise BadInventory(
            f"begins with {_excerpt(first)}, not with the head of a Sphinx inventory", code="inventory_no_head"
        )
    written = first.removeprefix(_HEAD).strip()
    if written not in (b"1", b"2"):
        raise BadInventory(
            f"version {_excerpt(written)} of the format; 1 and 2 are known", code="inventory_version_unknown"
        )
    project, version = (_field(file.readline(_MAX_LINE), name) for name in ("Project", "Version"))
    if written == b"2" and b"zlib" not in file.readline(_MAX_LINE):
        raise BadInventory("version 2 that does not say that zlib packed it", code="inventory_not_zlib")
    return Head(int(written), project, version)


def _field(line: bytes, name: str) -> str:
    head, _, value = line.decode("utf-8", "replace").partition(":")
    if head.strip("# ") != name:
        raise BadInventory(
            f"line {_excerpt(line)} where its {name.lower()} should stand", code="inventory_head_invalid"
        )
    return value.strip()


def read_entries(file: IO[bytes], head: Head, max_bytes: int) -> Iterator[Entry | str]:
    """Yield the entries of an inventory; a line that is none comes as the text of it.

    Memory does not grow with the inventory. Errors: BadInventory where it breaks off, or unpacks to more than
    `max_bytes`; what was yielded before holds.
    """
    read = _second if head.format == 2 else _first
    for line in _lines(_unpacked(file) if head.format == 2 else iter(lambda: file.read(_CHUNK), b""), max_bytes):
        if line and not line.startswith("#"):
            yield read(line) or line[:200]


def _first(line: str) -> Entry | None:
    """Read `name role page`; a module has its anchor with a prefix. Version 1 knows only Python."""
    parts = line.split()
    if len(parts) != 3:
        return None
    name, role, page = parts
    role = "module" if role == "mod" else role
    return Entry(name, "py", role, page, f"module-{name}" if role == "module" else name, "")


def _second(line: str) -> Entry | None:
    """Read `name domain:role priority page#anchor title`: `$` in the place and `-` as title stand for the name."""
    match = _V2.fullmatch(line)
    if not match:
        return None
    name, place, title = match["name"], match["place"], match["title"]
    if place.endswith("$"):
        place = place[:-1] + name
    page, _, anchor = place.partition("#")
    return Entry(name, match["domain"], match["role"], page, anchor, name if title == "-" else title)


def _unpacked(file: IO[bytes]) -> Iterator[bytes]:
    unpack = zlib.decompressobj()
    try:
        while packed := file.read(_CHUNK):
            yield unpack.decompress(packed, _CHUNK)
            while unpack.unconsumed_tail:
                yield unpack.decompress(unpack.unconsumed_tail, _CHUNK)
        yield unpack.flush()
    except zlib.error as error:
        raise BadInventory(f"broken zlib: {error}", code="inventory_damaged") from None
    if not unpack.eof:
        raise BadInventory("breaks off: its zlib stream has no end", code="inventory_cut_off")


def _lines(chunks: Iterator[bytes], max_bytes: int) -> Iterator[str]:
    size, rest = 0, b""
    for chunk in chunks:
        size += len(chunk)
        if size > max_bytes or len(rest) > _MAX_LINE:
            raise BadInventory(
                f"unpacks to more than {max_bytes} bytes, or to a line longer than {_MAX_LINE}",
                code="inventory_too_large",
            )
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode("utf-8", "replace").rstrip("\r") for line in lines)
    if rest:
        yield rest.decode("utf-8", "replace").rstrip("\r")


def _excerpt(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))
