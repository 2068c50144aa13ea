"""Requirements files of pip: lines, options, hashes, addresses, and the files that they include."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from urllib.parse import parse_qs, urlsplit

from pipeline.crawl.pins.requirement import addressed, requirement, wheel_version
from pipeline.crawl.pins.stated import Stated, refused
from pipeline.crawl.pins.text import decoded
from pipeline.lake import Reject

_COMMENT = re.compile(r"(^|\s+)#.*$")
_INCLUDE = re.compile(r"(?:-r|-c|--requirement|--constraint)(?:\s*=\s*|\s*)(\S.*)")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=\s*|\s*)(\S.*)")
# Options behind a requirement: hashes, and what is handed on to its build.
_PER_REQUIREMENT = re.compile(r"\s+--?[A-Za-z][\w-]*(?:[=\s].*)?$")
_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]*:(?://|[a-z0-9+.-]*/)|file:|git@")
_PATH = re.compile(r"\.{0,2}[/\\]|\.{1,2}$|~|[A-Za-z]:[/\\]|.*\.(?:whl|zip|tar\.gz|tar\.bz2|tgz)$")
_EGG = re.compile(r"[A-Za-z0-9][\w.-]*")


def read(
    file: str, text: str, files: Mapping[str, bytes], group: str | None = None, seen: frozenset[str] = frozenset()
) -> Iterator[Stated | Reject]:
    """Yield what a requirements or constraints file states, and the files that it includes (pip's own format).

    What an included file states is stated there, and asked for by `group`, as the file that includes it is.
    """
    for number, line in logical_lines(text):
        if included := _INCLUDE.match(line):
            yield from _included(file, number, included[1].strip(), files, group, seen | {normpath(file)})
        elif editable := _EDITABLE.match(line):
            yield from _address(file, number, editable[1], group)
        elif line.startswith("-"):
            continue
        else:
            yield from _line(file, number, line, group)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with the number of the first: joined at `\\`, without comments."""
    parts: list[str] = []
    start = 1
    for number, line in enumerate(text.split("\n"), 1):
        start = start if parts else number
        goes_on = line.endswith("\\") and not line.lstrip().startswith("#")
        parts.append(line[:-1] if goes_on else line)
        if not goes_on:
            whole = _COMMENT.sub("", " ".join(parts)).strip()
            parts = []
            if whole:
                yield start, whole
    whole = _COMMENT.sub("", " ".join(parts)).strip()
    if whole:
        yield start, whole


def _included(
    file: str, line: int, name: str, files: Mapping[str, bytes], group: str | None, seen: frozenset[str]
) -> Iterator[Stated | Reject]:
    path = normpath(join(dirname(file), name.strip("\"'")))
    content = files.get(path)
    if content is None:
        yield refused(file, line, f"{name!r}: the file that it includes is not there")
    elif path not in seen:
        text = decoded(content)
        if text is not None:
            yield from read(path, text, files, group, seen)


def _line(file: str, number: int, line: str, group: str | None) -> Iterator[Stated | Reject]:
    bare = _PER_REQUIREMENT.sub("", line).strip()
    if " @ " not in bare and (_ADDRESS.match(bare) or _PATH.match(bare)):
        yield from _address(file, number, bare, group)
    else:
        yield requirement(bare, file, number, group)


def _address(file: str, number: int, address: str, group: str | None) -> Iterator[Stated | Reject]:
    """Yield what an address names by `#egg=`, or by the name of a wheel; a folder is the project's own."""
    try:
        egg = parse_qs(urlsplit(address).fragment).get("egg", [""])[0]
    except ValueError as error:
        yield refused(file, number, f"{address!r}: {error}")
        return
    name = _EGG.match(egg)
    if name is None and wheel_version(address):
        name = _EGG.match(address.rsplit("/", 1)[-1].split("-")[0])
    if name:
        yield addressed(name[0], address, file, number, None, group)
    elif _ADDRESS.match(address):
        yield refused(file, number, f"{address!r}: an address that names no distribution")
