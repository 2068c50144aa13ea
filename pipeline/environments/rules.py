"""What a curator sets about environments: dates of Python, cut-offs, gaps of old releases, limits of the smoke test."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pydantic import Field

from pipeline.rules import Rule, load
from pipeline.settings import settings


class Gap(Rule):
    """Pins that old releases need and do not ask for: `specifier` says of which versions, `before` until when."""

    library: str = "*"
    specifier: str = ""
    before: date | None = None
    pins: tuple[str, ...]

    def concerns(self, library: str, version: str, release_time: datetime) -> bool:
        """Whether a release has this gap."""
        return (
            self.library in ("*", library)
            and SpecifierSet(self.specifier).contains(version, prereleases=True)
            and (self.before is None or release_time < _midnight(self.before))
        )


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
    tools_as_of: date
    tools: dict[str, tuple[str, ...]]

    def later(self, tools: Iterable[str]) -> dict[str, datetime]:
        """Return the cut-off of each tool and of what comes with it and no library asks for."""
        names = {canonicalize_name(Requirement(tool).name) for tool in tools}
        with_theirs = names.union(*(self.tools.get(name, ()) for name in names))
        return dict.fromkeys(with_theirs, _midnight(self.tools_as_of))

    def released(self, python: str) -> datetime:
        """Return when Python X.Y came out, UTC."""
        return _midnight(self.python_released[python])

    def cutoff(self, release_time: datetime, python: str) -> datetime:
        """Return as of when the dependencies of a release are resolved.

        An interpreter needs some weeks until wheels for it are there, and a release some weeks until what it
        needs has followed.
        """
        ready = max(release_time, self.released(python) + timedelta(days=self.python_settles_days))
        return ready + timedelta(days=self.slack_days)

    def extra_pins(self, library: str, version: str, release_time: datetime) -> list[str]:
        """Return the pins that fill the gaps of a release."""
        return sorted({pin for gap in self.gaps if gap.concerns(library, version, release_time) for pin in gap.pins})


def environment_rules(folder: Path | None = None) -> EnvironmentRules:
    """Read `environments.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "environments.yaml", EnvironmentRules)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


class InspectionRules(Rule):
    """The rules of `curation_rules/inspection.yaml`: whose compiled modules are imported to see what is in them."""

    libraries: frozenset[str]
