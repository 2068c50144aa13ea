"""`driftline prompts`: what it writes and tells, and what is bad usage."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.command import Driftline
from tests.cli.scoring.views import BAD_VIEWS
from tests.evaluation.export.columns import TIME
from tests.evaluation.export.rows import lake_tables, problem, snapshot_of


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return snapshot_of(lake_tables(), tmp_path)


def test_lines_that_go_with_predictions(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / "made" / "prompts.jsonl"
    result = driftline("prompts", snapshot, "--setting", "versicode-completion", "--view", "all", "--out", out)
    assert (result.status, result.out) == (0, "")
    assert f"3 prompts in {out}" in result.err.replace("\n", "")
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["id"] for line in lines} == {"completion-token", "completion-line", "completion-block"}
    assert {line["family"] for line in lines} == {"completion"}
    assert set(lines[0]) == {"id", "family", "setting", "prompt", "canary"}


def test_the_same_snapshot_gives_the_same_bytes(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        driftline("prompts", snapshot, "--setting", "versicode-migration", "--out", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_rows_without_a_prompt_are_counted(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / "prompts.jsonl"
    asked = ("prompts", snapshot, "--setting", "libevolutioneval-retrieval-bm25", "--view", "all", "--out", out)
    result = driftline(*asked, "--json")
    assert result.status == 1
    assert result.json == {
        "snapshot": str(snapshot),
        "setting": "libevolutioneval-retrieval-bm25",
        "prompts": 0,
        "without": {"no_document": 1},
        "attempts_without_row": [],
    }
    assert out.read_text() == ""
    assert "1 rows have no prompt, no_document: there is no document" in driftline(*asked).err.replace("\n", " ")


def test_the_settings_are_listed(driftline: Driftline) -> None:
    result = driftline("prompts", "--list")
    assert result.status == 0
    assert "versicode-migration" in result.out
    assert "codevbench-fim" in result.out


def test_a_view_leaves_rows_out(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    asked = ("prompts", snapshot, "--setting", "gitchameleon-greedy", "--out", tmp_path / "prompts.jsonl", "--json")
    assert driftline(*asked).json == driftline(*asked, "--view", "discriminating").json
    assert driftline(*asked).json["without"] == {"not_in_view": 1}
    assert "--view all" in driftline(*asked[:-1]).err
    assert driftline(*asked, "--view", "all").json["prompts"] == 1


def test_rows_after_a_training_cutoff(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / "prompts.jsonl"
    asked = ("prompts", snapshot, "--setting", "driftline-compatibility", "--out", out, "--view", "post_cutoff")
    assert driftline(*asked, "--cutoff", TIME.date() - timedelta(1), "--json").json["prompts"] == 1
    before = out.read_bytes()
    result = driftline(*asked, "--cutoff", TIME.date())
    assert (result.status, result.out) == (2, "")
    assert "[cutoff_after_rows]" in result.err
    assert f"{TIME.date()}" in result.err
    assert out.read_bytes() == before


@pytest.mark.parametrize(("options", "code"), BAD_VIEWS)
def test_a_cutoff_that_cannot_be_used(
    driftline: Driftline, snapshot: Path, tmp_path: Path, options: tuple[str, ...], code: str
) -> None:
    out = tmp_path / "prompts.jsonl"
    result = driftline("prompts", snapshot, "--setting", "versicode-migration", "--out", out, *options)
    assert (result.status, result.out, out.exists()) == (2, "", False)
    assert f"[{code}]" in result.err


def test_a_snapshot_without_rows_of_the_family_is_named(driftline: Driftline, tmp_path: Path) -> None:
    folder = snapshot_of(lake_tables() | {"published_block_completions": []}, tmp_path)
    result = driftline("prompts", folder, "--setting", "versicode-block", "--out", tmp_path / "prompts.jsonl")
    assert result.status == 1
    assert "no rows of block_completions" in result.err.replace("\n", " ")


BAD = {
    "almost a setting": (["--setting", "versicode-migrations", "--out", "x"], "did you mean versicode-migration"),
    "no such setting": (["--setting", "best", "--out", "x"], "[prompt_setting_unknown]"),
    "no such snapshot": (["--setting", "versicode-migration", "--out", "x"], "no such folder"),
    "no setting": (["--out", "x"], "Missing option '--setting'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage(driftline: Driftline, tmp_path: Path, case: str) -> None:
    options, message = BAD[case]
    result = driftline("prompts", tmp_path / "nowhere", *options)
    assert result.status == 2
    assert message in result.err.replace("\n", " ")


def test_failed_answers_that_cannot_be_read(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    bad = tmp_path / "failed.jsonl"
    bad.write_text("no\n")
    out = tmp_path / "prompts.jsonl"
    asked = ("prompts", snapshot, "--setting", "gitchameleon-self-debugging", "--out", out)
    result = driftline(*asked, "--attempts", bad)
    assert result.status == 2
    assert "failed.jsonl:1: no object with id, solution and trace" in result.err.replace("\n", " ")
    assert driftline(*asked, "--attempts", tmp_path / "none").status == 1
    assert not out.exists()


def test_failed_answers_to_nothing_are_told(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    tried = tmp_path / "failed.jsonl"
    lines = [
        {"id": id_, "solution": "    return 1\n", "trace": "AssertionError"} for id_ in ("nobody's", problem()["id"])
    ]
    tried.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = (
        "prompts",
        snapshot,
        "--out",
        tmp_path / "prompts.jsonl",
        "--attempts",
        tried,
        "--view",
        "all",
        "--setting",
    )
    result = driftline(*asked, "gitchameleon-self-debugging", "--json")
    assert (result.status, result.json["prompts"], result.json["attempts_without_row"]) == (0, 1, ["nobody's"])
    told = driftline(*asked, "gitchameleon-self-debugging").err.replace("\n", " ")
    assert '1 failed answers are left out: the snapshot has no such problem, first "nobody\'s"' in told
    refused = driftline(*asked, "gitchameleon-greedy")
    assert refused.status == 2
    assert "gitchameleon-greedy shows no failed answers: leave out --attempts" in refused.err.replace("\n", " ")


def test_a_table_that_is_broken_is_told(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    (snapshot / "data" / "completions.parquet").write_bytes(b"PAR1")
    result = driftline("prompts", snapshot, "--setting", "versicode-completion", "--out", tmp_path / "x")
    assert result.status == 2
    assert "driftline verify" in result.err
    assert not (tmp_path / "x").exists()
