"""Requirements files of pip: lines, options, hashes, addresses, and the files that they include."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from urllib.parse import parse_qs, urlsplit

from pipeline.corpus.pins.requirement import addressed, requirement, wheel_version
from pipeline.corpus.pins.statements import FileEntry, Include, refused

_COMMENT = re.compile(r"(?:^|\s)#.*$")
_INCLUDE = re.compile(r"(?:-r|-c|--requirements?|--constraints?)(?:\s*=\s*|\s*)(\S.*)")
_EDITABLE = re.compile(r"(?:-e|--editable)(?:\s*=\s*|\s*)(\S.*)")
# Options of pip that concern no requirement: where to look, and what kind of files to take.
_OPTION = re.compile(
    r"(?:-[if]|--(?:index-url|pypi-url|extra-index-url|no-index|find-links|no-binary|only-binary|prefer-binary|pre"
    r"|trusted-host|use-feature|require-hashes|no-use-wheel|use-wheel|always-unzip|allow-[a-z-]+|process-dependency-links"
    r"|no-deps|no-build-isolation|use-mirrors|mirrors|upgrade|no-cache-dir|proxy|timeout|retries))(?:[\s=/.h].*)?"
)
# Options behind a requirement: hashes, and what is handed on to its build.
_BEHIND = re.compile(r"\s--?[A-Za-z][\w-]*(?:[=\s].*)?$")
_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]*:/|file:|git@")
_REPOSITORY = re.compile(r"(?i)(?:git|hg|svn|bzr)\+|git@|git:")
_PATH = re.compile(r"\.{0,2}[/\\]|\.{1,2}(?:\[|$)|~|[A-Za-z]:[/\\]|[^\s;]*\.(?:whl|zip|tar\.gz|tar\.bz2|tgz)$")
_EGG = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")


def read(file: str, text: str, group: str | None = None) -> Iterator[FileEntry]:
    """Yield what a requirements or constraints file states, and the files that it includes (pip's own format)."""
    for number, line in logical_lines(text):
        yield from read_line(file, number, line, group)


def read_line(file: str, number: int, line: str, group: str | None, folder: str | None = None) -> Iterator[FileEntry]:
    """Yield what a line says as pip reads it; included paths count from `folder`, by default that of the file."""
    if included := _INCLUDE.fullmatch(line):
        path = included[1].strip().strip("\"'")
        base = dirname(file) if folder is None else folder
        yield Include(path if _ADDRESS.match(path) else normpath(join(base, path)), file, number, group)
    elif editable := _EDITABLE.fullmatch(line):
        yield from _address(file, number, editable[1], group)
    elif _OPTION.fullmatch(line):
        return
    else:
        bare = _BEHIND.sub("", line).strip()
        if " @ " not in bare and (_ADDRESS.match(bare) or _PATH.match(bare)):
            yield from _address(file, number, bare, group)
        else:
            yield requirement(bare, file, number, group)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with the number of the first: joined at `\\`, without comments."""
    parts: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        goes_on = line.endswith("\\") and not line.lstrip().startswith("#") and number < len(lines)
        parts.append(line[:-1] if goes_on else line)
        if not goes_on:
            whole = _COMMENT.sub("", "".join(parts)).strip()
            if whole:
                yield number - len(parts) + 1, whole
            parts = []


def _address(file: str, number: int, address: str, group: str | None) -> Iterator[FileEntry]:
    """Yield what an address names: by `#egg=`, else by the name of the wheel or repository that it leads to.

    A folder is the project's own.
    """
    try:
        egg = parse_qs(urlsplit(address).fragment).get("egg", [""])[0]
    except ValueError as error:
        yield refused(file, number, f"{address[:200]!r}: {error}")
        return
    last = address.split("#")[0].rstrip("/").rsplit("/", 1)[-1]
    wheel = last.split("-")[0] if wheel_version(address) else ""
    repository = last.split("@")[0].removesuffix(".git") if _REPOSITORY.match(address) else ""
    name = _EGG.match(egg or wheel or repository)
    if name:
        yield addressed(name[0], address, file, number, None, group)
    elif _ADDRESS.match(address) and not address.lower().startswith("file:"):
        yield refused(file, number, f"{address[:200]!r}: an address that names no distribution")
