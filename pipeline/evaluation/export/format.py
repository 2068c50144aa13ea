"""What a benchmark's format is: how a snapshot becomes its files, and how its files are recognised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.evaluation.export.projects import Unpack
from pipeline.evaluation.export.results import Layout, Result
from pipeline.snapshots.format.reader import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format; how one of its records is read to be run stands in `programs.py`."""

    layout: Layout
    results: Callable[[Snapshot, Unpack, bool], Iterator[Result]]
    """What the rows of a snapshot become; True takes in rows whose tests do not notice an empty answer."""
    recognised_by: tuple[frozenset[str], ...] = ()
    """Fields of the first record of a file of JSON lines; none where a file is one object {"data": [ … ]}."""
    answers: tuple[str, str] | None = None
    """The key of a record and the field of its answer in a file of answers; None where records hold them."""
    in_projects: bool = False
    """Whether records run in a project, by its own tests, and not as programs."""
