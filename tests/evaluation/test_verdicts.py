"""Lines with the verdict on each answer: its code as extracted, scores, outcomes and the reason of a failure."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.score import RUNS, Scored, score_predictions, write
from pipeline.evaluation.verdicts import FILE, write_verdicts
from tests.evaluation.scores.snapshots import RULES_OF_SCORES, TASKS, lines, snapshot
from tests.evaluation.scores.test_running import TABLES_OF_WRAP, runners

__all__ = ["runners"]


def scored(
    tmp_path: Path, runners: Runners | None, *predictions: dict[str, Any], tables: Any = TABLES_OF_WRAP
) -> Scored:
    folder = tmp_path / "snapshot"
    if not folder.exists():
        snapshot(folder, tables)
    file = io.BytesIO(lines(*predictions))
    found = score_predictions(folder, file, RULES_OF_SCORES, runners, tmp_path / "out" / RUNS)
    write(found, tmp_path / "out", "title", RULES_OF_SCORES)
    write_verdicts(found, tmp_path / "out")
    return found


def verdicts(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "out" / FILE).read_text().splitlines()]


ANSWERS = [
    {"id": "unheard", "completions": ["x = 2", "wrap('')"]},
    {"id": "token", "completions": ["`wrap`", "fold", "wrap"]},
    {"id": "comment", "completions": ["wrap('')"]},
]


def test_each_answer_has_a_line_whether_or_not_it_ran(tmp_path: Path, data: Path, runners: Runners) -> None:
    found = scored(tmp_path, runners, *ANSWERS)
    written = verdicts(tmp_path)
    by_sample = {(line["id"], line["sample"]): line for line in written}
    assert list(by_sample) == [("token", 0), ("token", 1), ("token", 2), ("unheard", 0), ("unheard", 1), ("comment", 0)]
    right, wrong, same = (by_sample["token", number] for number in range(3))
    assert (right["answer"], right["scores"]) == ("wrap", {"em": 1.0, "pass": 1.0})
    assert (right["outcomes"], right["reason"], right["equal_to"]) == ({"pass": "passed"}, "", None)
    assert (wrong["scores"], wrong["outcomes"]) == ({"em": 0.0, "pass": 0.0}, {"pass": "api_missing"})
    assert "fold" in wrong["reason"]
    assert (same["scores"], same["equal_to"]) == (right["scores"], 0)
    unused = by_sample["unheard", 0]
    assert (unused["outcomes"], unused["scores"]["pass"]) == ({"pass": "failed_assertion"}, 0.0)
    assert "wrap" in unused["reason"]
    passes_empty = by_sample["comment", 0]
    assert "pass" not in passes_empty["scores"]
    assert passes_empty["reason"]
    content = (tmp_path / "out" / FILE).read_bytes()
    again = scored(tmp_path, runners, *ANSWERS)
    assert (found.runs, again.runs) != (0, None)
    assert again.runs == 0
    assert (tmp_path / "out" / FILE).read_bytes() == content


@pytest.mark.parametrize("with_runners", [True, False], ids=["fewer tasks", "no runs"])
def test_a_later_scoring_removes_no_result_of_a_run(
    tmp_path: Path, data: Path, runners: Runners, with_runners: bool
) -> None:
    assert scored(tmp_path, runners, *ANSWERS).runs
    results = (tmp_path / "out" / RUNS).read_bytes()
    scored(tmp_path, runners if with_runners else None, ANSWERS[0])
    assert (tmp_path / "out" / RUNS).read_bytes() == results
    assert scored(tmp_path, runners, *ANSWERS).runs == 0


def test_a_family_that_is_never_run_has_no_line_about_runs(tmp_path: Path, data: Path, runners: Runners) -> None:
    answers = [
        {"id": "compatibility", "completions": ["1.0, 1.1"]},
        {"id": "controlled", "completions": ["load(1)"]},
        {"id": "token", "family": "context", "completions": ["load(1)"]},
    ]
    never_run = {name: TASKS[name] for name in ("compatibilities", "controlled_completions", "completions", "contexts")}
    assert scored(tmp_path, runners, *answers, tables=never_run).excluded == []


def test_without_a_run_there_are_scores_alone(tmp_path: Path, data: Path) -> None:
    answers = [
        {"id": "compatibility", "completions": ["1.0, 1.1", "v1.0, 2.0"]},
        {"id": "token", "family": "context", "completions": ["load(1)", "x"]},
        {"id": "token", "family": "context", "documents": ["d1"]},
    ]
    scored(tmp_path, None, *answers, tables=TASKS)
    right, wrong, context, other = verdicts(tmp_path)
    assert (context["scores"]["api_f1"], other["scores"]["api_f1"]) == (1.0, 0.0)
    assert (right["scores"], right["reason"]) == ({"releases": 1.0}, "")
    assert (wrong["scores"], wrong["outcomes"]) == ({"releases": 0.0}, {})
    assert "1.1" in wrong["reason"]
    assert "2.0" in wrong["reason"]


@pytest.mark.parametrize(
    "answer",
    [{"id": "line"}, {"id": "compatibility"}, {"id": "token", "family": "context"}],
    ids=lambda answer: str(answer["id"]),
)
def test_only_an_overlong_sample_has_its_length_as_the_reason(
    tmp_path: Path, data: Path, answer: dict[str, str]
) -> None:
    long = "x" * (RULES_OF_SCORES.sample_chars + 1)
    scored(tmp_path, None, answer | {"completions": ["load(1)", long, ""]}, tables=TASKS)
    reasons = [Exclusion.SAMPLE_TOO_LONG.meaning in line["reason"] for line in verdicts(tmp_path)]
    assert reasons == [False, True, False]


def test_the_length_is_a_reason_beside_those_of_runs(tmp_path: Path, data: Path, runners: Runners) -> None:
    long = "x" * (RULES_OF_SCORES.sample_chars + 1)
    scored(tmp_path, runners, {"id": "token", "completions": ["fold", long]})
    short, overlong = verdicts(tmp_path)
    assert Exclusion.SAMPLE_TOO_LONG.meaning not in short["reason"]
    assert overlong["reason"].startswith(Exclusion.SAMPLE_TOO_LONG.meaning)
    assert overlong["outcomes"]


def test_exclusions_of_other_lines_are_no_reason(tmp_path: Path, data: Path) -> None:
    answers = [
        {"id": "token", "family": "completion", "completions": ["load"]},
        {"id": "token", "completions": ["load"]},
        {"id": "token", "family": "completion", "documents": ["d1"]},
    ]
    found = scored(tmp_path, None, *answers, tables=TASKS)
    assert {Exclusion.AMBIGUOUS_ID, Exclusion.UNKNOWN_ID} <= found.reasons.keys()
    assert [line["reason"] for line in verdicts(tmp_path)] == [""]


def test_samples_are_in_the_result_of_every_scoring(tmp_path: Path, data: Path) -> None:
    file = io.BytesIO(lines({"id": "line", "completions": ["```\nload(1)\n```", "x"]}))
    result = score_predictions(snapshot(tmp_path / "snapshot", TASKS), file, RULES_OF_SCORES)
    assert result.texts == {(Family.COMPLETION, "line"): ["load(1)\n", "x"]}


def test_an_answer_is_written_that_is_no_text(tmp_path: Path, data: Path) -> None:
    found = scored(tmp_path, None, {"id": "line", "completions": ["load(1)"]}, tables=TASKS)
    half = replace(found, texts={key: ["\ud800"] for key in found.texts})
    write_verdicts(half, tmp_path / "out")
    assert [line["answer"] for line in verdicts(tmp_path)] == ["\ud800"]
