"""Status of a lock's files on the index: missing, yanked, or available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.pinned import Pin, read_lock
from pipeline.execution.environments.resolution.wheel_compatibility import fits
from pipeline.execution.environments.store import Locked
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.index.index import IndexFile


@dataclass(frozen=True, slots=True)
class OnIndex:
    """Pins of a lock whose files the index no longer has, and yanked ones (PEP 592)."""

    gone: tuple[str, ...]
    yanked: tuple[str, ...]


def of_lock(row: Locked, facts: IndexFacts) -> OnIndex:
    """Return the index status of the lock of an `environments` or `projects` row.

    Files are matched by hash; a wheel must fit the Python of the environment.

    Errors: ValueError for an unreadable lock; IndexUnreachable.
    """
    gone, yanked = [], []
    for pin in read_lock(row["lock"] or ""):
        files = [file for file in _files(pin.name, facts) if _is_of(file, pin, row["python"] or "")]
        if not files:
            gone.append(pin.requirement)
        elif all(file.yanked for file in files):
            yanked.append(pin.requirement)
    return OnIndex(tuple(gone), tuple(yanked))


def _is_of(file: IndexFile, pin: Pin, python: str) -> bool:
    return file.sha256 in pin.sha256s and (pin.built is not None or fits(file, python))


def has_file(name: str, sha256: str, facts: IndexFacts) -> bool:
    """Return whether the index has a file of a distribution.

    Errors: IndexUnreachable.
    """
    return any(file.sha256 == sha256 for file in _files(name, facts))


def _files(name: str, facts: IndexFacts) -> Sequence[IndexFile]:
    try:
        return [file for files in facts.project(name).releases.values() for file in files]
    except NotFound:
        return []
    except (Unreachable, BadAnswer) as error:
        raise IndexUnreachable(str(error)) from None
