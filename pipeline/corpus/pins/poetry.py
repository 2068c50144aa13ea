"""What Poetry allows where a version is asked for: constraints that PEP 440 lacks, tables of several keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from poetry.core.constraints.version import parse_constraint
from poetry.core.packages.dependency import Dependency

from pipeline.corpus.pins.requirement import addressed, both, normal, specified
from pipeline.corpus.pins.statements import FileEntry, refused
from pipeline.corpus.pins.toml import Document, items, table

_ADDRESSES = ("git", "url", "path", "file", "hg", "svn")
_NUMBER = re.compile(r"\d{100}")


def read(document: Document) -> Iterator[FileEntry]:
    """Yield what the tables of `[tool.poetry]` state."""
    poetry = ("tool", "poetry")
    yield from _table(document, None, *poetry, "dependencies")
    yield from _table(document, "dev", *poetry, "dev-dependencies")
    for group in table(document.top, *poetry, "group"):
        yield from _table(document, group, *poetry, "group", group, "dependencies")


def _table(document: Document, group: str | None, *path: str) -> Iterator[FileEntry]:
    start = document.lines.table(*path)
    for name, value in table(document.top, *path).items():
        line = document.lines.key(name, start)
        for constraint in items(value) or [value]:
            yield from dependency(document.file, line, name, constraint, group)


def dependency(file: str, line: int, name: str, value: Any, group: str | None) -> Iterator[FileEntry]:
    """Yield what one entry asks for: a constraint, or a table with `version`, `python`, `markers` or an address."""
    entry = {"version": value} if isinstance(value, str) else value
    if not isinstance(entry, dict):
        yield refused(file, line, f"{name[:200]}: neither a constraint nor a table")
        return
    group = group or ("optional" if entry.get("optional") is True else None)
    try:
        marker = both(normal(str(entry.get("markers", ""))), on_pythons(str(entry.get("python", "*"))))
        specifier = pep440(str(entry.get("version", "*")))
    except ValueError as error:
        yield refused(file, line, f"{name[:200]}: {error}"[:400])
        return
    address = next((str(entry[key]) for key in _ADDRESSES if key in entry), None)
    if address is not None:
        yield addressed(name, address, file, line, marker, group)
    else:
        yield specified(name, specifier, file, line, marker, group)


def on_pythons(constraint: str) -> str | None:
    """Return the marker for the Pythons that a constraint allows, None for all. Errors: ValueError."""
    interpreter = Dependency("python-marker", "*")
    interpreter.python_versions = _readable(constraint)
    return None if interpreter.marker.is_any() else str(interpreter.marker)


def pep440(constraint: str) -> str:
    """Return a constraint of Poetry as a specifier, with alternatives beside `||`.

    Errors: ValueError (ParseConstraintError) for what is no constraint, or allows nothing.
    """
    parsed = parse_constraint(_readable(constraint))
    if parsed.is_empty():
        raise ValueError(f"{constraint!r} allows nothing")
    return " || ".join(_alternative(alternative) for alternative in str(parsed).split(" || "))


def _readable(constraint: str) -> str:
    if _NUMBER.search(constraint):
        raise ValueError("a number of more than a hundred digits")
    return constraint.strip() or "*"


def _alternative(text: str) -> str:
    """Write out what Poetry shortens: a bare version is that version, `*` is any."""
    if text == "*":
        return ""
    return f"=={text}" if text[:1].isdigit() else text
