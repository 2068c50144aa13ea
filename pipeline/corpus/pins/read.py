"""Which files of a project are read, by which reader, and what they include."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from posixpath import basename, dirname, join

from packaging.pylock import is_valid_pylock_path

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.pins import conda, ini, locks, metadata, pipfile, pyproject, requirements_txt, setup_py
from pipeline.corpus.pins.rules import PinRules, pin_rules
from pipeline.corpus.pins.scopes import SHELVES
from pipeline.corpus.pins.statements import FileEntry, Pins, Reader, Statement, refused
from pipeline.corpus.pins.text import decoded
from pipeline.lake.stage import Reject

MAX_BYTES = 16 << 20
"""A file that is longer is a reject TOO_LARGE: the longest lock files of large projects have a few megabytes."""

_LONGEST_NAME = 255
_WORDS = r"(?:(?P<before>[\w.-]+?)[-_.])?(?:{})(?:[-_.](?P<after>[\w.-]+?))?\.(?:{})"
_REQUIREMENTS = re.compile("(?i)" + _WORDS.format("requirements?|requires|reqs?|constraints?", "txt|in|pip"))
_ENVIRONMENT = re.compile("(?i)" + _WORDS.format("environment|env|conda", "ya?ml"))
_READERS: dict[str, Reader] = {
    "pyproject.toml": pyproject.read,
    "setup.py": setup_py.read,
    "setup.cfg": ini.read_setup,
    "tox.ini": ini.read_tox,
    "Pipfile": pipfile.read,
    "Pipfile.lock": pipfile.read_lock,
    "poetry.lock": locks.read_poetry,
    "uv.lock": locks.read_uv,
    "pdm.lock": locks.read_pdm,
    "PKG-INFO": metadata.read,
    "METADATA": metadata.read,
}


def is_pin_file(path: str) -> bool:
    """Whether a file may state versions, by its name; the others need not be taken from an archive."""
    return _reader(path) is not None


def read_pins(files: Mapping[str, bytes], rules: PinRules | None = None) -> Pins:
    """Return what the files of a project (path to content) state about versions, and what of it cannot be read.

    `rules` are by default those of the settings. Never fails: a file that is no text is a reject UNREADABLE, one that
    is too long TOO_LARGE, and what no parser likes a BAD_REQUIREMENT whose key is `file:line`. Nothing is run, nothing
    is fetched.
    """
    rules = rules or pin_rules()
    statements: dict[Statement, None] = {}
    rejects: dict[Reject, None] = {}
    todo = deque((path, make(rules)) for path in sorted(files) if (make := _reader(path)))
    included: set[tuple[str, str | None]] = set()
    while todo:
        path, reader = todo.popleft()
        for entry in _read(path, files[path], reader):
            if isinstance(entry, Statement):
                statements[entry] = None
            elif isinstance(entry, Reject):
                rejects[entry] = None
            elif (included_path := _included_path(entry.path, files)) is None:
                detail = f"{entry.path[:200]!r} is taken in here and is not there"
                rejects[refused(entry.file, entry.line, detail)] = None
            elif (included_path, entry.group) not in included:
                included.add((included_path, entry.group))
                todo.append((included_path, partial(requirements_txt.read, group=entry.group)))
    return Pins(tuple(sorted(statements, key=_order)), tuple(rejects))


def _included_path(path: str, files: Mapping[str, bytes]) -> str | None:
    """Return the file that is meant: scripts leave out the folder that holds nothing but requirements."""
    shelves = (join(dirname(path), shelf, basename(path)) for shelf in sorted(SHELVES))
    return next((candidate for candidate in (path, *shelves) if candidate in files), None)


def _read(path: str, content: bytes, reader: Reader) -> Iterator[FileEntry]:
    if len(content) > MAX_BYTES:
        yield Reject(path, RejectReason.TOO_LARGE, f"{len(content)} bytes, more than {MAX_BYTES}")
        return
    text = decoded(content)
    if text is None:
        yield Reject(path, RejectReason.UNREADABLE, "in no encoding that it states, nor in UTF-8 or UTF-16")
        return
    try:
        yield from reader(path, text)
    except RecursionError:
        yield refused(path, 1, "nested too deeply")


def _reader(path: str) -> Callable[[PinRules], Reader] | None:
    """Return what makes the reader of a file of its rules, by its name; None for one that states nothing.

    Every member of an archive is asked for, so that this must not look at rules or settings.
    """
    name, folders = basename(path), dirname(path).split("/")
    if "{{" in path or len(name) > _LONGEST_NAME:
        return None  # a template, for projects that are not there yet; or nothing that a file system has
    if name in _READERS:
        return lambda rules: _READERS[name]
    if name == "requires.txt" and folders[-1].endswith(".egg-info"):
        return lambda rules: metadata.read_requires
    if name.endswith((".rst.txt", ".md.txt")):
        return None  # sources of documentation, as Sphinx shows them
    if _REQUIREMENTS.fullmatch(name) or (not SHELVES.isdisjoint(folders) and name.endswith((".txt", ".in", ".pip"))):
        return lambda rules: partial(requirements_txt.read, group=group_of(path, rules))
    if _ENVIRONMENT.fullmatch(name):
        return lambda rules: partial(conda.read, group=group_of(path, rules), names=rules.conda_names)
    return (lambda rules: locks.read_pylock) if is_valid_pylock_path(Path(path)) else None


def group_of(path: str, rules: PinRules) -> str | None:
    """Return for what a requirements file is by its name: `requirements-dev.txt` for `dev`, None for the project."""
    name = basename(path)
    match = _REQUIREMENTS.fullmatch(name) or _ENVIRONMENT.fullmatch(name)
    words = [match["before"], match["after"]] if match else [name.rsplit(".", 1)[0]]
    group = "-".join(word for word in words if word).lower()
    return None if not group or group in rules.project else group


def _order(statement: Statement) -> tuple[str, int, str, str, str, str]:
    return (
        statement.file,
        statement.line,
        statement.library,
        statement.specifier,
        statement.marker or "",
        statement.group or "",
    )
