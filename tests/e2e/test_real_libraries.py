"""Libraries that people mean go through every family, release by release of the real index, and nothing is raised.

Each covers a few weeks, and of their examples the shortest alone are taken: what runs once shows what a stage raises.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from pipeline.core.rules.load import RULES
from pipeline.core.settings import settings
from pipeline.core.vocabularies.families import Family
from pipeline.lake.tables import Lake
from pipeline.orchestration.failures import internal_errors
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, begin, counts_of, run_group
from pipeline.orchestration.stages.groups import GROUPS
from tests.cli.command import driftline
from tests.evaluation.scores.references import write_predictions

LIBRARIES = {
    "numpy": ("2023-02-01", "2023-02-10"),
    "attrs": ("2025-03-01", "2025-04-01"),
    "pyyaml": ("2025-07-01", "2025-10-01"),
    "toolz": ("2024-10-01", "2024-10-10"),
}
"""A release or two each, with the one before: compiled and pure ones, with short examples and without; NumPy takes minutes."""

LIMITS = {
    "snippets": {"max_lines": 2, "max_characters": 100},
    "validation": {"repeats": 1},
    "repository": {"max_sdist_bytes": 100_000, "tasks": 3},
    "own_tests": {"max_sdist_bytes": 1_500_000},
}
"""The tests of NumPy take minutes to cut out; those of attrs and PyYAML show as much."""

EXEMPLARY = frozenset({"numpy", "toolz"})
"""Those of them whose docstrings have examples that are as short."""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rules take less than those that ship."""
    shutil.copytree(RULES, tmp_path / "rules")
    for name, limits in LIMITS.items():
        path = tmp_path / "rules" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | limits))
    monkeypatch.setenv("DRIFTLINE_RULES", str(tmp_path / "rules"))


def refreshed(library: str, since: str, until: str) -> Refresh:
    """Run all stages over a library, none of which may raise anything."""
    refresh = Refresh(library, "starter", (library,), since, until)
    begin(refresh)
    for group in GROUPS:
        run_group(refresh, group, library)
    assert internal_errors(Lake(settings().lake_root), [library]) == []
    return refresh


@pytest.mark.slow(minutes=1)
@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=pytest.mark.soak if name == "numpy" else ()) for name in LIBRARIES]
)
@pytest.mark.usefixtures("rules", "data")
def test_every_family_is_reached_and_nothing_is_raised(library: str) -> None:
    counts = {count.stage: count for count in counts_of(refreshed(library, *LIBRARIES[library]))}
    assert set(counts) == {name for names in GROUPS.values() for name in names}
    of_all = {"crawl", "surface", "lifecycle", "flags"}
    for stage in of_all | (
        {"snippets", "usage", "instances", "validation", "acceptance"} if library in EXEMPLARY else set()
    ):
        assert counts[stage].units_out, stage


@pytest.mark.slow(minutes=1)
@pytest.mark.usefixtures("rules", "data")
def test_references_of_every_family_are_scored_as_right(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of MarkupSafe, which has rows of the families that run its own tests; the demo library has the others."""
    published = publish_refresh(refreshed("markupsafe", "2024-02-01", "2024-03-01"))
    written = write_predictions(published.path, tmp_path / "predictions.jsonl")
    assert {Family.SCENE, Family.REPOSITORY_TASK, Family.FUNCTION} <= {family for family in written if written[family]}
    score = driftline(monkeypatch, capsys)
    found = score("score", "starter", str(tmp_path / "predictions.jsonl"), "--run", "--json").json
    assert {family: row["tasks"] for family, row in found["answered"].items()} == {
        f: n for f, n in written.items() if n
    }
    assert {row["mean"] for row in found["scores"] if row["k"] == 1} - {None} == {1.0}
    passed = {row["family"] for row in found["scores"] if (row["metric"], row["facet"]) == ("pass", "family")}
    assert passed >= {Family.SCENE, Family.REPOSITORY_TASK, Family.FUNCTION}
