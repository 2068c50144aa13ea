"""`driftline libraries`: the profile chosen anew, and the index asked about libraries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES
from pipeline.index.library_facts import FOLDER, read_facts
from tests.cli.command import Driftline
from tests.index_server import Index


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules, ranking and facts of one's own."""
    folder = Path(shutil.copytree(FOLDER, tmp_path / "libraries"))
    monkeypatch.setattr("pipeline.cli.libraries.FOLDER", folder)
    monkeypatch.setenv("DRIFTLINE_RULES", str(shutil.copytree(RULES, tmp_path / "rules")))
    return folder


def test_what_ships_is_what_the_rule_gives(driftline: Driftline) -> None:
    result = driftline("libraries", "choose", "--check")
    assert result.status == 0, result.err
    assert "300 chosen" in result.err


def test_a_list_that_somebody_changed_is_told_and_made_anew(driftline: Driftline, kept: Path, tmp_path: Path) -> None:
    profile = tmp_path / "rules" / "profiles" / "popular.yaml"
    before = profile.read_text()
    profile.write_text(before.replace("  - requests\n", "  - my-favourite\n"))
    assert driftline("libraries", "choose", "--ranking", kept / "ranking.csv", "--check").status == 1
    assert driftline("libraries", "choose", "--ranking", kept / "ranking.csv").status == 0
    assert profile.read_text() == before


def test_json_has_the_counts(driftline: Driftline) -> None:
    told = driftline("libraries", "choose", "--check", "--json").json
    assert told["chosen"] == len(told["libraries"]) == 300
    assert told["considered"] == 300 + sum(told["refused"].values())
    assert 0 < told["queried"] <= 300


def test_the_index_is_asked_about_those_that_are_named(
    driftline: Driftline, kept: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    index.add_wheel("textual", "8.0", {"textual.py": ""}, "2026-06-01T00:00:00Z")
    result = driftline("libraries", "ask", "Textual", "nonesuch")
    assert result.status == 0, result.err
    assert "textual: 1 releases since 2021-01-01" in result.err
    assert "nonesuch: the index has no final release" in result.err
    assert read_facts(kept / "facts.jsonl")["textual"].all_releases == 1
    assert {request.split("/")[2] for request in index.requests} == {"textual", "nonesuch"}


def test_to_ask_about_nothing_is_bad_usage(driftline: Driftline) -> None:
    assert driftline("libraries", "ask").status == 2


def test_a_ranking_of_another_form_is_bad_usage(driftline: Driftline, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("name,place\na,1\n")
    result = driftline("libraries", "choose", "--ranking", tmp_path / "other.csv")
    assert result.status == 2
    assert "columns are rank, library" in result.err
