"""`driftline compare-scores` on two scorings of a small library."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.evaluation.scores.result import FILE
from tests.cli.command import Driftline
from tests.evaluation.scores.snapshots import REFERENCES, TASKS, answers
from tests.evaluation.scores.snapshots import snapshot as small

ERRATUM = {
    "config": "completions",
    "row_id": "line",
    "library": "demo",
    "version": "2.0",
    "last_snapshot": "mine-2020",
    "reason": "refused",
    "detail": "no longer made",
    "successor_id": None,
    "kept": True,
    "restored": False,
}


@pytest.fixture
def scorings(driftline: Driftline, data: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two scorings: of the references, and of nothing."""
    snapshot = small(tmp_path / "mine-2021")
    for name, texts in (("right", None), ("empty", dict.fromkeys(REFERENCES, ""))):
        (tmp_path / f"{name}.jsonl").write_bytes(answers(texts))
        assert driftline("score", snapshot, tmp_path / f"{name}.jsonl", "--out", tmp_path / name).status == 0
    return tmp_path / "empty", tmp_path / "right"


def test_differences_on_common_tasks(driftline: Driftline, scorings: tuple[Path, Path]) -> None:
    result = driftline("compare-scores", *scorings)
    assert result.status == 0
    assert result.out.startswith(f"{len(REFERENCES)} common tasks; 0 only in the first, 0 only in the second")
    found = driftline("compare-scores", *scorings, "--json").json
    em = next(each for each in found["differences"] if (each["family"], each["metric"]) == ("completion", "em"))
    # Both are about one API, which says no more than one task.
    assert (em["first"], em["second"], em["difference"], em["second_only"], em["p"]) == (0, 1, 1, 2, 1.0)
    assert found["conditions"] == {}


def test_errata_leave_tasks_out(driftline: Driftline, scorings: tuple[Path, Path], tmp_path: Path) -> None:
    later = small(tmp_path / "mine-2022", TASKS | {"errata": [ERRATUM]})
    result = driftline("compare-scores", *scorings, "--errata", later)
    assert f"{len(REFERENCES) - 1} common tasks" in result.out
    assert "no longer made" in result.out


def test_the_score_of_a_withdrawn_task(driftline: Driftline, data: Path, tmp_path: Path) -> None:
    tables = TASKS | {"completions": TASKS["completions"][:1], "errata": [ERRATUM]}
    (tmp_path / "answers.jsonl").write_bytes(answers())
    result = driftline("score", small(tmp_path / "mine-2022", tables), tmp_path / "answers.jsonl", "--json")
    assert (result.status, result.json["excluded"]) == (0, {"withdrawn": 1})


def test_nothing_in_common(driftline: Driftline, scorings: tuple[Path, Path]) -> None:
    assert driftline("compare-scores", *scorings, "--k", 5).status == 1


@pytest.mark.parametrize("text", ["{}", "no JSON"])
def test_bad_usage(driftline: Driftline, scorings: tuple[Path, Path], tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    for other in (tmp_path / FILE, tmp_path / "nowhere"):
        result = driftline("compare-scores", scorings[0], other)
        assert (result.status, result.out) == (2, "")
    assert driftline("compare-scores", *scorings, "--errata", "nowhere").status == 2
