"""`driftline score` on a snapshot of a small library: figures, files, exclusions, and how it ends."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from pipeline.core.vocabularies.evaluation import View
from pipeline.evaluation.scores.result import FILE, read_result
from pipeline.evaluation.scores.score import FILES, RUNS
from pipeline.evaluation.verdicts import FILE as VERDICTS
from tests.cli.command import Driftline
from tests.cli.scoring.views import BAD_VIEWS
from tests.evaluation.scores.snapshots import MIGRATION, REFERENCES, answers, lines
from tests.evaluation.scores.snapshots import snapshot as small


@pytest.fixture
def snapshot(data: Path) -> Path:
    """The latest snapshot of a profile."""
    folder = small(data / "snapshots" / "mine" / "mine-2021")
    (folder.parent / "latest").write_text("mine-2021\n")
    return folder


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "right.jsonl"
    path.write_bytes(answers())
    return path


def test_figures_of_every_family(driftline: Driftline, snapshot: Path, predictions: Path) -> None:
    result = driftline("score", "mine", predictions, "--k", "1")
    assert result.status == 0, result.text
    assert "completion, granularity line\nmetric" in result.out
    for what in ("completion, granularity line", "migration", "function", "block completion"):
        assert re.search(rf"^{what}\nmetric .*\nEM \([a-z, ]*name occurs\) ", result.out, re.MULTILINE), what
    assert re.search(r"^completion, granularity token\nmetric .*\nEM +1 ", result.out, re.MULTILINE)
    assert re.search(r"^CDC rule 1 +1  1.000  1.000 to 1.000", result.out, re.MULTILINE)
    assert "completion: 2 of 2 tasks answered" in result.err
    assert "not counted" not in result.text


def test_json_has_the_rows_of_the_table(driftline: Driftline, snapshot: Path, predictions: Path) -> None:
    found = driftline("score", snapshot, predictions, "--json").json
    assert set(found) == {"snapshot", "samples", "runs", "answered", "excluded", "scores"}
    assert (found["snapshot"], found["samples"], found["runs"]) == (str(snapshot), len(REFERENCES), None)
    assert found["answered"]["completion"] == {"tasks": 2, "of": 2}
    assert {row["mean"] for row in found["scores"] if row["k"] == 1} == {1.0}
    assert {row["mean"] for row in found["scores"] if row["k"] == 3} == {None}


def test_files_and_a_breakdown(driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path) -> None:
    result = driftline("score", "mine", predictions, "--by", "library", "--out", tmp_path / "out")
    assert result.status == 0
    assert "completion, library demo" in result.out
    assert "block completion, library guava" in result.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*FILES, FILE, VERDICTS])


def test_too_few_samples_are_said_once_for_each_k(driftline: Driftline, snapshot: Path, predictions: Path) -> None:
    result = driftline("score", "mine", predictions, "--k", "1,3")
    said = [line for line in result.err.splitlines() if line.startswith("completion: 2 tasks have fewer")]
    assert said == ["completion: 2 tasks have fewer than 3 samples and are left out of every @3; so there is no figure"]


def test_what_cannot_be_counted_is_listed(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(lines({"id": "migration", "completions": ["x"]}, {"id": "[red]", "completions": ["x"]}))
    result = driftline("score", "mine", path)
    assert result.status == 1
    assert "line 2 ([red]): unknown_id: the snapshot has no such task" in result.err
    assert driftline("score", "mine", path, "--json").json["excluded"] == {"unknown_id": 1}
    path.write_bytes(b"{\n" * 12)
    result = driftline("score", "mine", path)
    assert result.status == 1
    assert "and 2 more lines; --out DIR writes all of them" in result.err


def test_nothing_to_score_is_a_problem(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"\n \n")
    result = driftline("score", "mine", path, "--out", tmp_path / "out")
    assert (result.status, result.out) == (1, "")
    assert "empty.jsonl" in result.err
    assert "[predictions_empty]" in result.err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_the_report_of_an_evaluation_is_refused(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path
) -> None:
    (tmp_path / "report.md").write_text("")
    result = driftline("score", "mine", predictions, "--out", tmp_path)
    assert result.status == 2
    assert "[score_folder_taken]" in result.err


def test_a_second_scoring_replaces_all_files_but_runs(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / RUNS).write_text("{}\n")
    assert driftline("score", "mine", predictions, "--out", out).status == 0
    predictions.write_bytes(b"nonsense\n")
    assert driftline("score", "mine", predictions, "--out", out).status == 1
    assert sorted(path.name for path in out.iterdir()) == sorted({*FILES, FILE, VERDICTS, RUNS} - {"scores.svg"})
    assert (out / RUNS).read_text() == "{}\n"
    assert (out / VERDICTS).read_text() == ""


def test_a_profile_comes_before_a_file_of_its_name(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_text("")
    monkeypatch.chdir(tmp_path)
    assert driftline("score", "mine", predictions, "--json").json["snapshot"] == str(snapshot)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nonesuch", "{file}"), "no such folder"),
        (("{tmp}", "{file}"), "not a snapshot"),
        (("mine", "nowhere.jsonl"), "nowhere.jsonl: no such file"),
        (("mine", "{tmp}"), "a folder; name a file"),
        (("mine", "{file}", "--k", "0"), "--k '0': whole numbers from 1 to 1000"),
        (("mine", "{file}", "--k", "1,x"), "such as 1,3,10"),
        (("mine", "{file}", "--by", "weather"), "'weather' is not one of"),
        (("mine", "{file}", "--out", "{file}"), "is a file; name a folder"),
    ],
)
def test_bad_usage(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    given = [each.format(file=predictions, tmp=tmp_path) for each in arguments]
    result = driftline("score", *given)
    assert (result.status, result.out) == (2, "")
    assert complaint in " ".join(result.err.split())


@pytest.mark.parametrize(("options", "code"), BAD_VIEWS)
def test_a_cutoff_that_cannot_be_used(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path, options: tuple[str, ...], code: str
) -> None:
    result = driftline("score", "mine", predictions, "--out", tmp_path / "out", *options)
    assert (result.status, result.out, (tmp_path / "out").exists()) == (2, "", False)
    assert f"[{code}]" in result.err


def test_answers_outside_of_a_view_are_counted_and_no_problem(
    driftline: Driftline, snapshot: Path, predictions: Path, tmp_path: Path
) -> None:
    """Answers to all rows can be scored in a view, and those of a view without naming it."""
    asked = ("score", "mine", predictions, "--out", tmp_path / "out", "--view", "post_cutoff", "--cutoff", "2022-12-31")
    result = driftline(*asked, "--json")
    assert result.status == 0
    assert result.json["answered"] == {"migration": {"tasks": 1, "of": 1}}
    assert result.json["excluded"] == {"not_in_view": len(REFERENCES) - 1}
    found = read_result(tmp_path / "out")
    assert (found.view, found.cutoff) == (View.POST_CUTOFF, date(2022, 12, 31))
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(answers({("migration", "migration"): str(MIGRATION["target_code"])}))
    assert driftline("score", "mine", alone, "--json").json["scores"] == result.json["scores"]


def test_a_snapshot_of_another_time(driftline: Driftline, snapshot: Path, predictions: Path) -> None:
    manifest = snapshot / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 99}))
    result = driftline("score", "mine", predictions)
    assert (result.status, result.out) == (2, "")
    assert "not a manifest of format 1 or 2" in result.err
