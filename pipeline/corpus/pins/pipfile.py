"""Pipfile and Pipfile.lock, as Pipenv writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pipeline.corpus.pins.requirement import addressed, both, locked, normal, requirement, specified
from pipeline.corpus.pins.statements import PYTHON, FileEntry, Statement, refused
from pipeline.corpus.pins.text import Lines
from pipeline.corpus.pins.toml import Document, parse, table
from pipeline.lake.stage import Reject

_ADDRESSES = ("git", "path", "file", "hg", "svn")
_MARKERS = ("os_name", "sys_platform", "platform_machine", "platform_system", "python_version", "python_full_version")
_NOT_PACKAGES = frozenset({"source", "requires", "scripts", "pipenv", "pipfile", "build-system"})


def read(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a Pipfile asks for; each category but `packages` is a group."""
    document = parse(file, text)
    if isinstance(document, Reject):
        yield document
        return
    for category in document.top:
        if category not in _NOT_PACKAGES:
            yield from _category(document, category)
    yield from _python(file, table(document.top, "requires"), document.lines)


def _category(document: Document, category: str) -> Iterator[FileEntry]:
    start = document.lines.table(category)
    group = None if category == "packages" else category.removesuffix("-packages")
    for name, entry in table(document.top, category).items():
        yield _entry(document.file, document.lines.key(name, start), name, entry, group)


def _entry(file: str, line: int, name: str, value: Any, group: str | None) -> FileEntry:
    entry = value if isinstance(value, dict) else {"version": value}
    marker: str | None = None
    for text in (str(entry.get("markers", "")), *(f"{key} {entry[key]}" for key in _MARKERS if key in entry)):
        marker = both(text, marker)
    address = next((str(entry[key]) for key in _ADDRESSES if key in entry), None)
    version = str(entry.get("version", "*"))
    specifier = "" if version.strip() in ("*", "") else version.strip()
    if specifier[:1].isalnum():
        return refused(file, line, f"{name[:200]} {version[:200]!r}: a version without an operator")
    statement = requirement(f"{name}{specifier}" + (f"; {marker}" if marker else ""), file, line, group)
    if address is not None and isinstance(statement, Statement):
        return addressed(name, address, file, line, statement.marker, group)
    return statement


def read_lock(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a Pipfile.lock names; each category but `default` is a group."""
    try:
        document = json.loads(text)
    except ValueError as error:
        yield refused(file, getattr(error, "lineno", 1), f"not JSON: {error}"[:400])
        return
    lines = Lines(text)
    for category in document if isinstance(document, dict) else ():
        if category != "_meta":
            group = None if category == "default" else category
            start = lines.key(category)
            for name, entry in table(document, category).items():
                yield _locked(file, lines.key(name, start), name, entry, group)
    yield from _python(file, table(document, "_meta", "requires"), lines)


def _locked(file: str, line: int, name: str, entry: Any, group: str | None) -> FileEntry:
    pinned = table(entry)
    try:
        marker = normal(str(pinned.get("markers", "")))
    except ValueError as error:
        return refused(file, line, f"{name[:200]}: {str(error).splitlines()[0]}")
    address = next((str(pinned[key]) for key in _ADDRESSES if key in pinned), None)
    if address is not None:
        return addressed(name, address, file, line, marker, group)
    version = str(pinned.get("version", ""))
    if not version.startswith("=="):
        return refused(file, line, f"{name[:200]} {version[:200]!r}: no pinned version")
    return locked(name, version.lstrip("="), file, line, marker, group)


def _python(file: str, requires: dict[str, Any], lines: Lines) -> Iterator[FileEntry]:
    for key in ("python_version", "python_full_version"):
        if key in requires:
            version = str(requires[key])
            prefix = f"=={version}.*" if key == "python_version" and version.count(".") == 1 else f"=={version}"
            yield specified(PYTHON, prefix, file, lines.key(key))
