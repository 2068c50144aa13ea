"""What the files of a project state about versions: one row for each requirement, pin or locked release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.lake import Reject
from pipeline.terms import RejectReason, StatementKind

PYTHON = "python"
"""The name under which a project states the interpreters that it runs on, as Poetry and Conda write it."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What one line of a project says about the version of a distribution (or of `PYTHON`).

    `specifier` is that of PEP 440, empty for any version; alternatives stand beside `||`. `version` is the one release
    that it names. `group` is the extra, dependency group or environment that asks for it, None where the project itself
    does. `marker` is PEP 508's; what it says of extras is meant for `group`.
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
        """The place and the requirement, for the table `found`: `requirements.txt:3: pandas==1.3.5`."""
        wanted = " @ an address" if self.kind is StatementKind.ADDRESS else self.specifier
        marker = f"; {self.marker}" if self.marker else ""
        return f"{self.file}:{self.line}: {self.library}{wanted}{marker}"


@dataclass(frozen=True, slots=True)
class Pins:
    """What the files of a project state, in the order of their names and lines, and the lines that nobody can read."""

    stated: tuple[Stated, ...]
    rejects: tuple[Reject, ...]


def parted(found: Iterable[Stated | Reject]) -> Pins:
    """Part what was read from what was refused; the same statement twice in one place counts once."""
    both = list(dict.fromkeys(found))
    stated = sorted((one for one in both if isinstance(one, Stated)), key=_order)
    return Pins(tuple(stated), tuple(one for one in both if isinstance(one, Reject)))


def refused(file: str, line: int, detail: str) -> Reject:
    """Say which line states a requirement that cannot be read, and why."""
    return Reject(f"{file}:{line}", RejectReason.BAD_REQUIREMENT, detail)


def _order(one: Stated) -> tuple[str, int, str, str, str, str]:
    return one.file, one.line, one.library, one.specifier, one.marker or "", one.group or ""
