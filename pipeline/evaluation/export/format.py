"""Declaration of a benchmark's format: conversion of a snapshot to its files, and recognition of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.exports import Unsupported
from pipeline.families.repository_tasks.tree import Tree
from pipeline.lake.rows import AnyRow, ProjectRow
from pipeline.snapshots.format.reader import Snapshot


class ExportError(CodedError, ValueError):
    """An export or import is impossible; the message has the reason and what to do."""


class NothingExported(ExportError):
    """The snapshot has rows of the format's families, and the format supports none of them."""

    code = "export_nothing_supported"


Unpack = Callable[[ProjectRow], Tree]
"""Returns the tree of a project's source distribution. Errors: SourcesMissing."""

Record = dict[str, Any]
"""One object of a benchmark's file."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A row as a record of a file; `restorable` are the columns that can be read from the record again."""

    file: str
    record: Record
    config: str
    row: AnyRow
    restorable: AnyRow

    @property
    def rest(self) -> AnyRow:
        """The columns that cannot be read from the record: `restorable` and `rest` together are the row."""
        missing = {name: value for name, value in self.row.items() if self.restorable.get(name) != value}
        return missing | dict.fromkeys(sorted(self.restorable.keys() - self.row.keys()))


@dataclass(frozen=True, slots=True)
class Further:
    """A further record of a row that is placed in another file."""

    file: str
    record: Record


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that the format does not support."""

    config: str
    id: str
    reason: Unsupported
    detail: str


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that is no list of records: hidden tests, sources of a project."""

    file: str
    content: bytes


Result = Placed | Further | Refused | Attached


@dataclass(frozen=True, slots=True)
class Layout:
    """Configurations, fields and notes of a format.

    `configs` are the supported configurations of a snapshot; one of those in `families` must have rows. `added` are
    fields that the benchmark lacks and its tools ignore, `notes` are for users of the files. `evaluate` is the shell
    script of the scorer's own command, `usage` its call.
    """

    families: tuple[str, ...]
    configs: tuple[str, ...]
    usage: str
    evaluate: str
    added: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    prepares: bool = True
    """Whether prepare.py makes its environments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format; `programs.py` reads its records as programs."""

    layout: Layout
    results: Callable[[Snapshot, Unpack], Iterator[Result]]
    """Converts the rows of a snapshot."""
    recognised_by: tuple[frozenset[str], ...] = ()
    """Fields of the first record of a file of JSON lines; none where a file is one object {"data": [ … ]}."""
    answers: tuple[str, str] | None = None
    """The key of a record and the field of its answer in a file of answers; None where records hold them."""
    in_projects: bool = False
    """Whether records run in a project, by its own tests, and not as programs."""
