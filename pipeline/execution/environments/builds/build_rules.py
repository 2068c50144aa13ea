"""What a curator sets about builds: what they may use, and what they need beside what they ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path

from packaging.specifiers import SpecifierSet
from pydantic import Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.execution.sandbox.supervise import Limits

_FILES = 400_000


class Constraint(Rule):
    """A limit on a build requirement of what was uploaded before a day; `python` says on which Pythons."""

    requirement: str
    before: date
    python: str = ""


class BuildRules(Rule):
    """The parameters of building source distributions; see `curation_rules/builds.yaml`."""

    time_s: float = Field(gt=0)
    memory_mib: int = Field(gt=0)
    scratch_mib: int = Field(gt=0)
    download_mib: int = Field(gt=0)
    wheel_mib: int = Field(gt=0)
    processes: int = Field(gt=0)
    constraints: tuple[Constraint, ...]
    tools_from: date
    tools: frozenset[str]
    run_as_built: frozenset[str]
    undeclared: dict[str, str]

    @property
    def limits(self) -> Limits:
        """The limits that the sandbox takes; what comes out is a wheel and the telling part of a log."""
        return Limits(
            time_s=self.time_s + 10,
            memory_bytes=self.memory_mib << 20,
            processes=self.processes,
            output_bytes=(self.wheel_mib + 8) << 20,
            file_bytes=self.scratch_mib << 20,
            scratch_bytes=self.scratch_mib << 20,
            open_files=4096,
            files=_FILES,
        )

    def cutoffs(self, cutoff: datetime, later: Mapping[str, datetime]) -> dict[str, datetime]:
        """Return the cut-offs of those distributions that do not go by the common one: `later` and the tools."""
        earliest = datetime.combine(self.tools_from, time(), UTC)
        return dict.fromkeys(self.tools if cutoff < earliest else (), earliest) | dict(later)

    def constraints_of(self, uploaded: datetime, python: str) -> tuple[str, ...]:
        """Return the constraints on the build requirements of what was uploaded at a time, on a Python X.Y.

        Of several on the same distribution the first holds.
        """
        held: dict[str, str] = {}
        for rule in self.constraints:
            if uploaded < datetime.combine(rule.before, time(), UTC) and SpecifierSet(rule.python).contains(python):
                held.setdefault(re.split(r"[<>=!~]", rule.requirement)[0], rule.requirement)
        return tuple(held.values())

    def undeclared_in(self, log: str) -> str | None:
        """Return the distribution that a build needed and did not ask for, or None."""
        modules: Sequence[str] = re.findall(r"(?:ModuleNotFoundError|ImportError): No module named '?(\w+)", log)
        return next((self.undeclared[module] for module in modules if module in self.undeclared), None)


def build_rules(folder: Path | None = None) -> BuildRules:
    """Read `builds.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "builds.yaml", BuildRules)
