"""What a curator sets about environments: dates of Python, cut-offs, gaps of old releases, limits of the smoke test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pydantic import Field

from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.execution.environments.resolution.request import EnvironmentRequest


class Gap(Rule):
    """Pins that releases need and do not ask for; it says of which versions, of before which day, on which Pythons."""

    library: str = "*"
    specifier: str = ""
    before: date | None = None
    python: str = ""
    pins: tuple[str, ...]

    def concerns(self, library: str, version: str, release_time: datetime, python: str) -> bool:
        """Whether a release has this gap on a Python X.Y."""
        return (
            self.library in ("*", library)
            and SpecifierSet(self.specifier).contains(version, prereleases=True)
            and SpecifierSet(self.python).contains(python)
            and (self.before is None or release_time < _midnight(self.before))
        )


class Extras(Rule):
    """Extras (PEP 508) that are installed with a library, where a release has them."""

    library: str
    extras: tuple[str, ...]


class EnvironmentRules(Rule):
    """The parameters of building environments; see `curation_rules/environments.yaml`."""

    python_released: dict[str, date]
    python_settles_days: int = Field(ge=0)
    slack_days: int = Field(ge=0)
    later_days: int = Field(gt=0)
    interpreters_tried: int = Field(ge=1)
    step_timeout_s: float = Field(gt=0)
    import_timeout_s: float = Field(gt=0)
    gaps: tuple[Gap, ...]
    extras: tuple[Extras, ...]
    breaks: dict[str, tuple[date, ...]]
    taken_later: dict[str, date]
    tools_as_of: date
    tools: dict[str, tuple[str, ...]]

    def released(self, python: str) -> datetime:
        """Return when Python X.Y came out, UTC."""
        return _midnight(self.python_released[python])

    def cutoff(self, release_time: datetime, python: str) -> datetime:
        """Return as of when the dependencies of a release are resolved.

        A release needs some weeks until what it needs has followed.
        """
        return self.ready(release_time, python) + timedelta(days=self.slack_days)

    def ready(self, release_time: datetime, python: str) -> datetime:
        """Return the day of a release on a Python X.Y; an interpreter needs some weeks until it has wheels."""
        return max(release_time, self.released(python) + timedelta(days=self.python_settles_days))

    def own_cutoffs(self, request: EnvironmentRequest, release_time: datetime, cutoff: datetime) -> dict[str, datetime]:
        """Return the distributions that are resolved as of another time than the rest, with that time.

        Those that broke what used them between the release and the cut-off are taken as they were before; tools, and
        what comes with them alone, as they are much later.
        """
        own = {
            name: min(day for day in map(_midnight, days) if day > release_time)
            for name, days in self.breaks.items()
            if any(release_time < _midnight(day) < cutoff for day in days)
        }
        own |= {name: _midnight(day) for name, day in self.taken_later.items() if _midnight(day) > cutoff}
        own |= dict.fromkeys(self._with_theirs(request.tools), _midnight(self.tools_as_of))
        requested = {request.library, *names_of(request.pins)}
        return {name: time for name, time in own.items() if name not in requested}

    def _with_theirs(self, tools: Iterable[str]) -> set[str]:
        names = names_of(tools)
        return names.union(*(self.tools.get(name, ()) for name in names))

    def with_extras(self, request: EnvironmentRequest) -> str:
        """Return the requirement of a release with the extras that are installed with its library."""
        names = sorted({name for each in self.extras if each.library == request.library for name in each.extras})
        return f"{request.library}[{','.join(names)}]=={request.version}" if names else request.requirement

    def gap_pins(self, request: EnvironmentRequest, release_time: datetime, python: str) -> list[str]:
        """Return the pins that fill the gaps of a release on a Python X.Y; what is asked for stays as it was asked."""
        requested = {request.library, *names_of(request.pins)}
        gaps = [gap for gap in self.gaps if gap.concerns(request.library, request.version, release_time, python)]
        return sorted({pin for gap in gaps for pin in gap.pins if not names_of([pin]) & requested})


def environment_rules(folder: Path | None = None) -> EnvironmentRules:
    """Read `environments.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "environments.yaml", EnvironmentRules)


def names_of(requirements: Iterable[str]) -> set[str]:
    """Return the distributions that requirements name; one that cannot be read is for uv to complain about."""
    names = set()
    for requirement in requirements:
        with contextlib.suppress(InvalidRequirement):
            names.add(str(canonicalize_name(Requirement(requirement).name)))
    return names


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


class InspectionRules(Rule):
    """The rules of `curation_rules/inspection.yaml`: whose compiled modules are imported to see what is in them."""

    libraries: frozenset[str]
