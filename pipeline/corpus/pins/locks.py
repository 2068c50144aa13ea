"""Lock files in TOML: Poetry's, uv's, PDM's, and the one that is everybody's (PEP 751)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from packaging.pylock import Package, Pylock, PylockUnsupportedVersionError, PylockValidationError

from pipeline.corpus.pins.poetry import pep440
from pipeline.corpus.pins.requirement import addressed, locked, normal, specified
from pipeline.corpus.pins.statements import PYTHON, FileEntry, refused
from pipeline.corpus.pins.toml import Document, items, parse, table, texts
from pipeline.lake.stage import Reject

_OWN = ("virtual", "editable", "directory")
_IN_GROUP = re.compile(r"""["']([\w.-]+)["']\s+in\s+(?:extras|dependency_groups)""")
_ADDRESSES = ("git", "url", "path", "file")

ReadPackage = Callable[[str, int, dict[str, Any]], Iterator[FileEntry]]
"""(path, line, package) to what a lock says of it."""


def read_poetry(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a poetry.lock names; its groups stand with each package, in old ones its category."""
    yield from _packages(file, text, _of_poetry)


def read_uv(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a uv.lock names, without what of it is the project itself."""
    yield from _packages(file, text, _of_uv)


def read_pdm(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a pdm.lock names."""
    yield from _packages(file, text, _of_pdm)


def _packages(file: str, text: str, read: ReadPackage) -> Iterator[FileEntry]:
    document = parse(file, text)
    if isinstance(document, Reject):
        yield document
        return
    key = "distribution" if "distribution" in document.top else "package"  # the first is that of early uv
    packages = items(document.top.get(key))
    for line, package in zip(_lines(document, key, len(packages)), packages, strict=True):
        if isinstance(package, dict) and isinstance(package.get("name"), str):
            yield from read(file, line, package)
        else:
            yield refused(file, line, "a package without a name")
    yield from _python(document)


def _lines(document: Document, key: str, count: int) -> list[int]:
    """Return the lines of the headers of an array of tables; the first line for all where they cannot be told."""
    lines = document.lines.each(f"[[{key}]]")
    return lines if len(lines) == count else [1] * count


def _python(document: Document) -> Iterator[FileEntry]:
    """Yield the Pythons that a lock was made for: uv's `requires-python`, Poetry's and PDM's in `[metadata]`."""
    metadata = table(document.top, "metadata")
    for where, key in ((document.top, "requires-python"), (metadata, "python-versions"), (metadata, "requires_python")):
        if isinstance(constraint := where.get(key), str):
            line = document.lines.key(key)
            try:
                yield specified(PYTHON, pep440(constraint), document.file, line)
            except ValueError as error:
                yield refused(document.file, line, f"{key}: {error}"[:400])


def _of_poetry(file: str, line: int, package: dict[str, Any]) -> Iterator[FileEntry]:
    groups = texts(package.get("groups", package.get("category", "main")))
    kind = table(package, "source").get("type")
    address = str(kind) if kind in ("git", "directory", "file", "url") else None
    markers = package.get("markers", package.get("marker"))
    for group in _asking(groups, "main"):
        marker = markers.get(group or "main") if isinstance(markers, dict) else markers
        yield _entry(file, line, package, address, marker, group)


def _of_uv(file: str, line: int, package: dict[str, Any]) -> Iterator[FileEntry]:
    source = table(package, "source")
    if not any(key in source for key in _OWN):
        address = next((str(source[key]) for key in _ADDRESSES if key in source), None)
        marker = " or ".join(f"({marker_text})" for marker_text in texts(package.get("resolution-markers"))) or None
        yield _entry(file, line, package, address, marker, None)


def _of_pdm(file: str, line: int, package: dict[str, Any]) -> Iterator[FileEntry]:
    address = next((str(package[key]) for key in _ADDRESSES if key in package), None)
    groups = texts(package.get("groups", "default"))
    for group in _asking(groups, "default"):
        yield _entry(file, line, package, address, package.get("marker"), group)


def _asking(groups: list[str], main: str) -> list[str | None]:
    """Return who asks for a package: the project itself, where that is among the groups."""
    return [None] if main in groups or not groups else list(groups)


def _entry(
    file: str, line: int, package: dict[str, Any], address: str | None, marker: Any, group: str | None
) -> FileEntry:
    try:
        condition = normal(marker if isinstance(marker, str) else None)
    except ValueError as error:
        return refused(file, line, f"{package['name'][:200]}: {str(error).splitlines()[0]}")
    if address is not None:
        return addressed(package["name"], address, file, line, condition, group)
    if "version" not in package:
        return refused(file, line, f"{package['name'][:200]}: a locked package without a version")
    return locked(package["name"], str(package["version"]), file, line, condition, group)


def read_pylock(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a pylock.toml names (PEP 751); one that breaks the standard is refused whole."""
    document = parse(file, text)
    if isinstance(document, Reject):
        yield document
        return
    try:
        lock = Pylock.from_dict(document.top)
    except (PylockValidationError, PylockUnsupportedVersionError) as error:
        yield refused(file, 1, f"not PEP 751: {error}"[:400])
        return
    if lock.requires_python is not None:
        yield specified(PYTHON, str(lock.requires_python), file, document.lines.key("requires-python"))
    for line, package in zip(_lines(document, "packages", len(lock.packages)), lock.packages, strict=True):
        yield from _of_pylock(file, line, package)


def _of_pylock(file: str, line: int, package: Package) -> Iterator[FileEntry]:
    if package.directory is not None and package.version is None:
        return  # the project itself, or a part of it
    marker = str(package.marker) if package.marker else None
    in_group = _IN_GROUP.search(marker or "")
    group = in_group[1] if in_group else None
    if package.version is None or package.vcs is not None:
        yield addressed(package.name, "", file, line, marker, group)
    else:
        yield locked(package.name, str(package.version), file, line, marker, group)
