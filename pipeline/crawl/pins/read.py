"""Which files of a project are read, and by which reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import basename, dirname

from pipeline.crawl.pins import metadata, pyproject, requirements_txt
from pipeline.crawl.pins.scopes import SHELVES
from pipeline.crawl.pins.stated import Pins, Stated, parted
from pipeline.crawl.pins.text import decoded
from pipeline.lake import Reject
from pipeline.terms import RejectReason

Reader = Callable[[str, str, Mapping[str, bytes]], Iterator[Stated | Reject]]

_REQUIREMENTS = re.compile(
    r"(?i)(?:(?P<before>[\w.]+)[-_.])?(?:requirements?|reqs?|constraints?)(?:[-_.](?P<after>[\w.-]+?))?\.(?:txt|in|pip)"
)

_MAIN = frozenset({"", "base", "common", "main", "core", "prod", "production", "install", "default", "run", "runtime"})


def is_pin_file(path: str) -> bool:
    """Whether a file may state versions, by its name; the others need not be taken from an archive."""
    return _reader(path) is not None


def read_pins(files: Mapping[str, bytes]) -> Pins:
    """Return what the files of a project (path to content) state about versions, and what of it cannot be read.

    Never fails: a file that is no text is a reject UNREADABLE, what no parser likes a reject BAD_REQUIREMENT whose key
    is `file:line`. Nothing is run, nothing is fetched.
    """
    found: list[Stated | Reject] = []
    for path in sorted(files):
        reader = _reader(path)
        if reader is not None:
            text = decoded(files[path])
            if text is None:
                found.append(Reject(path, RejectReason.UNREADABLE, "text in no encoding that it states"))
            else:
                found += reader(path, text, files)
    return parted(found)


def _reader(path: str) -> Reader | None:
    name = basename(path)
    if name in _READERS:
        return _READERS[name]
    if _REQUIREMENTS.fullmatch(name) or (basename(dirname(path)) in SHELVES and name.endswith((".txt", ".in"))):
        return _requirements
    return None


def _requirements(path: str, text: str, files: Mapping[str, bytes]) -> Iterator[Stated | Reject]:
    return requirements_txt.read(path, text, files, group_of(path))


def group_of(path: str) -> str | None:
    """Return for what a requirements file is by its name: `requirements-dev.txt` for `dev`, None for the project."""
    found = _REQUIREMENTS.fullmatch(basename(path))
    words = [found["before"], found["after"]] if found else [basename(path).rsplit(".", 1)[0]]
    group = "-".join(word for word in words if word).lower()
    return None if group in _MAIN else group


_READERS: dict[str, Reader] = {
    "pyproject.toml": pyproject.read,
    "PKG-INFO": metadata.read,
    "METADATA": metadata.read,
}
