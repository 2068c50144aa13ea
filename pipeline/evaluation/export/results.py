"""What a format makes of rows: records in files, further files, and rows that it cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.core.vocabularies.exports import NotHeld
from pipeline.lake.schema import Row

Record = dict[str, Any]
"""One object of a benchmark's file."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A row as a record of a file; `told` is what can be read from the record again."""

    file: str
    record: Record
    config: str
    row: Row
    told: Row

    @property
    def rest(self) -> Row:
        """The columns that the record does not tell as they are: told and rest together are the row."""
        missing = {name: value for name, value in self.row.items() if self.told.get(name) != value}
        return missing | dict.fromkeys(sorted(self.told.keys() - self.row.keys()))


@dataclass(frozen=True, slots=True)
class Further:
    """A record of a row that stands in another file already."""

    file: str
    record: Record


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that the format cannot hold at all."""

    config: str
    id: str
    reason: NotHeld
    detail: str


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that is no list of records: hidden tests, sources of a project."""

    file: str
    content: bytes


Result = Placed | Further | Refused | Attached


@dataclass(frozen=True, slots=True)
class Layout:
    """What is to be known of a format beside its records.

    `configs` are the configurations of a snapshot that it holds; those of `families` are what it is about, and one of
    them must have rows. `added` are fields that the benchmark does not have and its tools pass over, `notes` what
    whoever uses the files has to know.
    """

    families: tuple[str, ...]
    configs: tuple[str, ...]
    added: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
