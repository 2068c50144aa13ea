"""Six past weeks in which two small libraries had releases, and the index as it was at the end of each of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, plan, run_group
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.snapshot import Published
from tests.demo_library import RELEASES
from tests.index_server import Index

START = datetime(2021, 1, 4, 3, tzinfo=UTC)
"""A Monday at three, when the DAG's week begins."""

PROFILE = "weeks"
_DAYS = {"demo": {"1.0": 2, "1.1": 9, "1.2": 16, "2.0": 37}, "other": {"1.0": -100, "1.1": 3, "1.2": 30}}


@dataclass
class World:
    """A data folder, and an index that both worlds share."""

    data: Path
    index: Index
    rules: Path

    @property
    def settings(self) -> dict[str, str]:
        """The environment of whatever works in this world."""
        return {
            "DRIFTLINE_INDEX_URL": self.index.simple,
            "DRIFTLINE_DATA": str(self.data),
            "DRIFTLINE_RULES": str(self.rules),
            "DRIFTLINE_PROFILE": PROFILE,
        }

    def week(self, week: int, run: str | None = None, libraries: tuple[str, ...] = ()) -> Path:
        with pytest.MonkeyPatch.context() as monkeypatch:
            for name, value in self.settings.items():
                monkeypatch.setenv(name, value)
            return run_week(week, run, libraries).path


def bounds(week: int) -> tuple[str, str]:
    """Return since and until of a week, counted from 0."""
    since, until = (START + timedelta(days=7 * number) for number in (week, week + 1))
    return since.isoformat(), until.isoformat()


def publish_weeks(index: Index, until: datetime | None = None) -> None:
    """Put on an index what both libraries had released before a time, all of it where none is given."""
    index.projects.clear()
    for library, days in _DAYS.items():
        for version, day in days.items():
            uploaded = START + timedelta(days=day)
            if until is None or uploaded < until:
                files = RELEASES[version][1]
                index.add_wheel(library, version, files, uploaded.isoformat(), requires_python=">=3.6")


def write_rules(folder: Path, libraries: Iterable[str] = tuple(_DAYS)) -> Path:
    """Write the shipped rules into a folder, with a profile of both libraries or of one."""
    shutil.copytree(RULES, folder)
    (folder / "profiles" / f"{PROFILE}.yaml").write_text(f"name: {PROFILE}\nlibraries: [{', '.join(libraries)}]\n")
    return folder


def run_week(week: int, run: str | None = None, libraries: tuple[str, ...] = ()) -> Published:
    """Refresh one week and publish it, as a run of the DAGs does."""
    since, until = bounds(week)
    asked = Refresh(run or f"week{week}", PROFILE, libraries, since, until)
    for library in plan(asked):
        for group in GROUPS:
            run_group(asked, group, library)
    return publish_refresh(asked)


def manifests(data: Path) -> dict[str, str]:
    """Return the hash of the manifest of each snapshot, which has the hash of every file."""
    folders = sorted((data / "snapshots" / PROFILE).glob(f"{PROFILE}-*"))
    return {folder.name: hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest() for folder in folders}


def tables(snapshot: Path) -> Mapping[str, str]:
    """Return the hash of each table of a snapshot, without what it says of the one before."""
    files = json.loads((snapshot / "manifest.json").read_text())["files"]
    return {f["path"]: f["sha256"] for f in files if f["path"].startswith("data/") and "errata" not in f["path"]}
