"""`driftline refresh` from a real index to a snapshot, and what it says when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.verify import verify
from tests.cli.command import Driftline
from tests.index_server import Index

STAGES = [name for names in GROUPS.values() for name in names]


@pytest.mark.slow
def test_a_refresh_another_one_and_one_without_the_index(
    driftline: Driftline, at_demo: Index, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = driftline("refresh", "--libraries", " Demo,demo ")
    assert first.status == 0, first.text
    published = latest(data / "snapshots", "starter")
    assert published is not None
    assert verify(published) == []
    assert f"{published} (written)" in first.out
    assert [line.split()[0] for line in first.out.split("\n\n")[0].splitlines()[2:] if line[0] != " "] == STAGES
    proposed = [line.split()[1:] for line in first.out.split("Next:")[1].splitlines() if " driftline " in line]
    assert [words[0] for words in proposed] == ["verify", "history"]
    assert all(driftline(*words).status == 0 for words in proposed)
    assert "Left out: github: no token: set GITHUB_TOKEN" in " ".join(first.out.split())
    # groups of stages that the family does not need are empty, and no failure
    of_scenes = driftline("refresh", "--libraries", "demo", "--families", "scenes")
    assert of_scenes.status == 0, of_scenes.text
    assert "scenes_acceptance" in of_scenes.out
    again = driftline("refresh", "--libraries", "demo", "--json").json
    told = {
        "run",
        "stages",
        "libraries",
        "left_out",
        "gaps",
        "empty",
        "internal_errors",
        "drafts",
        "snapshot",
        "report",
    }
    assert set(again) == told
    assert again["drafts"]["model"] is None
    assert set(again["drafts"]["improvable"]) <= set(DraftKind)
    assert again["left_out"]["github"].startswith("no token")
    assert (again["gaps"], "Gap:" in first.out) == ({}, False), "nothing is compared with the oldest release"
    assert [stage["stage"] for stage in again["stages"]] == STAGES
    assert all(stage["unchanged"] == stage["units_in"] for stage in again["stages"])
    assert (again["snapshot"]["path"], again["snapshot"]["written"]) == (str(published), False)
    assert again["snapshot"]["rows"]["completions"] > 0

    versions = [f"1.{number}" for number in range(7)]
    monkeypatch.setattr("pipeline.cli.refresh.gaps_of", lambda done: {"demo": versions})
    summary = " ".join(driftline("refresh", "--libraries", "demo").out.split())
    assert "Gap: demo: what changed in 1.0, 1.1, 1.2, 1.3, 1.4 and 2 more is unknown" in summary

    monkeypatch.setenv("DRIFTLINE_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    before = sorted(published.parent.iterdir())
    away = driftline("refresh", "--libraries", "demo", "--until", "2030-01-01")
    assert away.status == 1
    assert "nothing is published and `latest` stays: the index answered for none of demo" in " ".join(away.err.split())
    assert (sorted(published.parent.iterdir()), latest(data / "snapshots", "starter")) == (before, published)


def test_an_index_that_is_down_and_a_lake_that_is_empty(driftline: Driftline, at_nothing: None, data: Path) -> None:
    result = driftline("refresh", "--libraries", "demo", "--json")
    assert result.status == 1
    assert result.json["snapshot"] is None
    assert result.json["stages"][0]["rejected"] == {"index_unreachable": 1}
    assert "nothing is published and `latest` stays: the index answered for none of demo" in result.err
    assert "demo: index_unreachable; run the same command again to go on" in result.err
    assert not (data / "snapshots").exists()


def test_a_library_that_does_not_exist(driftline: Driftline, at_demo: Index, data: Path) -> None:
    result = driftline("refresh", "--libraries", "demo,nonesuch")
    assert (result.status, result.out) == (2, "")
    assert "libraries: the index does not know nonesuch" in result.err
    assert not (data / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--since", "yesterday"], "--since and --until take a date such as 2026-11-16"),
        (["--until", "2026-02-30"], "--since and --until take a date such as 2026-11-16"),
        (["--since", "2026-02-01", "--until", "2026-02-01"], "--since 2026-02-01 is not before --until 2026-02-01"),
        (["--since", "2026-02-02", "--until", "2026-02-01"], "is not before"),
        (["--profile", "nonesuch"], "no profile 'nonesuch'"),
        (["--profile", "startr"], "(did you mean starter?)"),
        (["--profile", "../profiles/starter"], "no profile '../profiles/starter'"),
        (["--libraries", "a/../../b"], "'a/../../b' is not a name that a package index can have"),
        (["--libraries", "flask, [/bold]"], "'[/bold]' is not a name"),
        (["--libraries", " , "], "names no library"),
        (["--families", "changes"], "families: there is no 'changes'; there are completions, "),
        (["--sources", "docstring"], "sources: there is no 'docstring'; there are downstream, "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_refreshed(driftline: Driftline, data: Path, arguments: list[str], complaint: str) -> None:
    result = driftline("refresh", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
    assert not data.exists()


def test_a_review_database_that_does_not_answer_is_a_line_and_nothing_is_published(
    driftline: Driftline, at_demo: Index, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_REVIEWS", "postgresql+psycopg://ada:secret@127.0.0.1:1/reviews")
    result = driftline("refresh", "--libraries", "young")
    assert result.status == 1
    assert "nothing is published, since what people decided is not known" in result.err
    assert "young, stage decisions: StoreError" in result.err
    assert "secret" not in result.err
    assert not (data / "snapshots").exists()
