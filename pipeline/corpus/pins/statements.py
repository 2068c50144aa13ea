"""What the files of a project state about versions: one row for each requirement, pin or locked release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.stage import Reject

PYTHON = "python"
"""The name under which a project states the interpreters that it runs on, as Poetry and Conda write it."""


class StatementKind(Enum):
    """How much a statement says: a lock or a pin names one release, a range allows several, an address none."""

    LOCK = auto()
    EXACT_PIN = auto()
    RANGE = auto()
    ADDRESS = auto()


@dataclass(frozen=True, slots=True)
class Statement:
    """What one line of a project says about the version of a distribution (or of `PYTHON`).

    `specifier` is that of PEP 440, empty for any version; alternatives stand beside `||`. `version` is the one release
    that it names. `group` is the extra, dependency group or environment that asks for it, None where the project itself
    does. `marker` is PEP 508's; what it says of extras and groups is meant for `group`.
    """

    library: str
    specifier: str
    version: str | None
    kind: StatementKind
    file: str
    line: int
    marker: str | None = None
    group: str | None = None

    @property
    def words(self) -> str:
        """The place and the requirement, for the table `code_samples`: `requirements.txt:3: pandas==1.3.5`."""
        specifier = " @ an address" if self.kind is StatementKind.ADDRESS else self.specifier
        marker = f"; {self.marker}" if self.marker else ""
        return f"{self.file}:{self.line}: {self.library}{specifier}{marker}"


@dataclass(frozen=True, slots=True)
class Include:
    """A file of requirements that another one, at a line, takes in for a group."""

    path: str
    file: str
    line: int
    group: str | None = None


FileEntry = Statement | Include | Reject
"""What a reader finds in a file."""

Reader = Callable[[str, str], Iterator[FileEntry]]
"""(path, text) to what the file says."""


@dataclass(frozen=True, slots=True)
class Pins:
    """What the files of a project state, in the order of their names and lines, and the lines that nobody can read."""

    statements: tuple[Statement, ...]
    rejects: tuple[Reject, ...]


def refused(file: str, line: int, detail: str) -> Reject:
    """Say which line states a requirement that cannot be read, and why."""
    return Reject(f"{file}:{line}", RejectReason.BAD_REQUIREMENT, detail)
