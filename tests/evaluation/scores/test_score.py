"""A whole scoring: right answers, empty ones, and every kind of bad input, against a snapshot of every family."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion, Facet, Metric
from pipeline.evaluation.scores.picture import _DRAWN, _look
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.score import Scored, score_predictions, write
from pipeline.evaluation.scores.tasks import read_tasks, tasks_in
from pipeline.evaluation.views import TaskView
from pipeline.lake.tables import read_parquet
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from tests.errors import raises
from tests.evaluation.scores.snapshots import (
    CONTEXT,
    MIGRATION,
    REFERENCES,
    RULES_OF_SCORES,
    TASKS,
    TOKEN,
    answers,
    lines,
    snapshot,
)
from tests.snapshots.lakes import seal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return snapshot(tmp_path / "snapshot")


def scored(folder: Path, predictions: bytes, **rules: Any) -> Scored:
    return score_predictions(folder, io.BytesIO(predictions), RULES_OF_SCORES.model_copy(update=rules))


def figure(found: Scored, family: Family, metric: Metric, k: int = 1, facet: Facet = Facet.FAMILY) -> Any:
    (row,) = [
        row
        for row in found.rows
        if (row["family"], row["metric"], row["k"], row["facet"]) == (family, metric, k, facet)
    ]
    return row


def test_what_stood_there_has_all_and_nothing_has_none(folder: Path) -> None:
    right, empty = scored(folder, answers()), scored(folder, answers(dict.fromkeys(REFERENCES, "")))
    assert {row["family"] for row in right.rows} == set(Family) - {Family.SCENE}
    for found, mean in ((right, 1.0), (empty, 0.0)):
        assert not found.excluded
        assert {row["mean"] for row in found.rows if row["tasks"]} == {mean}
    assert right.answered == {
        family: ((2, 2) if family is Family.COMPLETION else (1, 1)) for family in Family if family != Family.SCENE
    }


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        (b"nonsense", Exclusion.NOT_A_PREDICTION, "malformed"),
        (b"[1]", Exclusion.NOT_A_PREDICTION, "Expected `object`, got `array`"),
        (b'{"completions": ["x"]}', Exclusion.NOT_A_PREDICTION, "missing required field `id`"),
        (b'{"id": "line"}', Exclusion.NOT_A_PREDICTION, "neither completions nor documents"),
        (b'{"id": "line", "completions": "load(1)"}', Exclusion.NOT_A_PREDICTION, "Expected `array"),
        (b'{"id": "line", "completions": [null]}', Exclusion.NOT_A_PREDICTION, "$.completions[0]"),
        (b'{"id": "line", "completions": ["x"], "family": "lines"}', Exclusion.NOT_A_PREDICTION, "Invalid enum value"),
        (b'{"id": "line", "completions": ["x"], "documents": ["d"]}', Exclusion.NOT_A_PREDICTION, "give one of them"),
        (b'{"id": "\xff", "completions": ["x"]}', Exclusion.NOT_A_PREDICTION, "utf-8"),
        (b'{"id": "line", "completions": []}', Exclusion.NO_SAMPLES, "an empty list"),
        (b'{"id": "line", "completions": ["a", "b", "c", "d"]}', Exclusion.TOO_MANY_SAMPLES, "4 samples, more than 3"),
        (b'{"id": "lime", "completions": ["x"]}', Exclusion.UNKNOWN_ID, "no such task"),
        (
            b'{"id": "line", "completions": ["x"], "family": "scene"}',
            Exclusion.UNKNOWN_ID,
            "as completion, not as scene",
        ),
        (
            b'{"id": "line", "documents": ["d1"]}',
            Exclusion.UNKNOWN_ID,
            "answer queries (context, controlled); the task of this id is completion",
        ),
        (b'{"id": "token", "completions": ["load"]}', Exclusion.AMBIGUOUS_ID, "one of completion, context"),
        (
            b'{"id": "line", "completions": ["' + b"x" * 101 + b'"]}',
            Exclusion.SAMPLE_TOO_LONG,
            "1 samples longer than 100",
        ),
        (b'{"id": "line", "completions": ["' + b"x" * (1 << 20) + b'"]}', Exclusion.LINE_TOO_LONG, "longer than 1 MiB"),
    ],
)
def test_what_cannot_be_counted_is_named_and_stops_nothing_else(
    folder: Path, line: bytes, reason: Exclusion, detail: str
) -> None:
    rest = answers({("migration", "migration"): str(MIGRATION["target_code"])})
    found = scored(folder, b"\xef\xbb\xbf\n" + line + b"\n" + rest, samples=3, sample_chars=100, line_mib=1)
    (excluded,) = [each for each in found.excluded if each.line is not None]
    assert (excluded.reason, excluded.line) == (reason, 2)
    assert detail in excluded.detail
    assert found.flawed
    assert figure(found, Family.MIGRATION, Metric.CDC)["mean"] == 1.0
    # An answer that is too long is a wrong one, and raises no figure by being left out.
    means = {row["mean"] for row in found.rows if row["family"] == Family.COMPLETION and row["tasks"]}
    assert means == ({0.0} if reason is Exclusion.SAMPLE_TOO_LONG else set())


def test_a_wrong_family_stands_beside_the_right_ones(folder: Path) -> None:
    found = scored(folder, lines({"id": "line", "completions": ["x"], "family": "completions"}))
    (excluded,) = found.excluded
    assert excluded.reason is Exclusion.NOT_A_PREDICTION
    assert all(family in excluded.detail for family in Family)


def test_a_task_that_is_answered_twice_does_not_count(folder: Path) -> None:
    twice = [{"id": "line", "completions": [text]} for text in ("load(1)", "nothing")]
    found = scored(folder, lines(*twice, {"id": "migration", "completions": ["x"]}))
    assert [each.line for each in found.excluded if each.reason is Exclusion.DUPLICATE_ID] == [1, 2]
    assert {row["family"] for row in found.rows} == {Family.MIGRATION}


def test_tasks_without_an_answer_are_told_and_are_no_flaw_of_the_predictions(folder: Path) -> None:
    found = scored(folder, lines({"id": "line", "completions": ["load(1)"]}))
    (excluded,) = found.excluded
    assert (excluded.reason, excluded.id, found.answered) == (
        Exclusion.NOT_PREDICTED,
        "token",
        {Family.COMPLETION: (1, 2)},
    )
    assert not found.flawed


def test_fewer_samples_than_k_are_said_and_never_divided(folder: Path) -> None:
    found = scored(folder, lines({"id": "line", "completions": ["load(1)", "save(1)"]}), k=(1, 2, 3))
    figures = [figure(found, Family.COMPLETION, Metric.EM, k) for k in (1, 2, 3)]
    assert [(row["mean"], row["tasks"], row["short"]) for row in figures] == [(0.5, 1, 0), (1.0, 1, 0), (None, 0, 1)]
    assert not any(row["k"] == 3 and row["facet"] != Facet.FAMILY for row in found.rows)


def test_groups_are_those_of_the_rows(folder: Path) -> None:
    found = scored(folder, answers())
    assert figure(found, Family.COMPLETION, Metric.CDC, facet=Facet.GRANULARITY)["value"] == "line"
    assert figure(found, Family.COMPLETION, Metric.EM, facet=Facet.YEAR)["value"] == "2021"
    assert figure(found, Family.CONTEXT, Metric.API_F1, facet=Facet.TAG)["value"] == "introduced"
    assert figure(found, Family.MIGRATION, Metric.CDC, facet=Facet.DISCRIMINATING)["value"] == "true"
    assert figure(found, Family.PROBLEM, Metric.API_HIT, facet=Facet.CATEGORY)["value"] == "name"


def test_the_year_of_a_migration_is_that_of_its_target(tmp_path: Path) -> None:
    times = {"release_time": datetime(2019, 1, 1, tzinfo=UTC), "target_release_time": datetime(2023, 1, 1, tzinfo=UTC)}
    found = scored(snapshot(tmp_path / "snapshot", {"migrations": [MIGRATION | times]}), answers())
    assert figure(found, Family.MIGRATION, Metric.CDC, facet=Facet.YEAR)["value"] == "2023"


def test_a_view_of_no_row(tmp_path: Path) -> None:
    tables = {"migrations": [MIGRATION | {"discriminating": False}]}
    tasks = read_tasks(Snapshot(snapshot(tmp_path / "snapshot", tables)), ())
    with raises(InputError, "discriminating", code="view_no_rows"):
        tasks_in(tasks, TaskView(View.DISCRIMINATING))
    with raises(InputError, "2023-01-01", "2024-01-01", code="cutoff_after_rows"):
        tasks_in(tasks, TaskView(View.POST_CUTOFF, date(2024, 1, 1)))


def test_a_context_has_the_dates_of_its_completion(tmp_path: Path) -> None:
    times = {"created_time": datetime(2020, 1, 1, tzinfo=UTC)}
    tables = {"completions": [TOKEN | times, TOKEN | {"id": "new", "created_time": TOKEN["release_time"]}]}
    of_both = [CONTEXT, CONTEXT | {"completion_id": "new"}]
    tasks = read_tasks(Snapshot(snapshot(tmp_path / "snapshot", tables | {"contexts": of_both})), ())
    found = tasks_in(tasks, TaskView(View.POST_CUTOFF, date(2021, 1, 1)))
    assert {of: {*by} for of, by in found.items()} == {"new": {Family.COMPLETION, Family.CONTEXT}}


def test_the_year_of_a_scene_is_that_of_its_project(tmp_path: Path) -> None:
    scene = {"id": "scene", "project_id": "shop 1.0", "scene": "1.1", "created_time": datetime(2024, 1, 1, tzinfo=UTC)}
    tables: dict[str, list[dict[str, Any]]] = {"scenes": [scene]}
    tasks = read_tasks(Snapshot(snapshot(tmp_path / "snapshot", tables)), RULES_OF_SCORES.facets)
    assert {(Facet.YEAR, "2024"), (Facet.SCENE, "1.1")} <= set(tasks["scene"][Family.SCENE].groups)


@pytest.mark.parametrize(
    ("of", "documents", "rank"),
    [
        ("token", ["d1"], 1.0),
        ("token", ["d3", "d2"], 0.5),  # another public path of the same API
        ("token", ["d3", "d4", "d1"], 1 / 3),  # d4 is of other versions
        ("token", ["d3"], 0.0),
        ("controlled", ["d1", "d2"], 0.5),
    ],
)
def test_rank_of_the_own_document(folder: Path, of: str, documents: list[str], rank: float) -> None:
    found = scored(folder, lines({"id": of, "documents": documents}))
    row: Any
    (row,) = [row for row in found.rows if row["facet"] == Facet.FAMILY]
    assert (row["metric"], row["mean"]) == (Metric.MRR, pytest.approx(rank, abs=1e-4))


def test_a_query_without_a_document_is_no_failure_of_the_retriever(tmp_path: Path) -> None:
    without = snapshot(tmp_path / "snapshot", TASKS | {"api_documents": TASKS["api_documents"][2:]})
    found = scored(without, lines({"id": "token", "documents": ["d3"]}))
    assert [each.reason for each in found.excluded] == [Exclusion.NO_DOCUMENT]
    assert (found.rows, found.flawed) == ([], False)


def test_documents_and_completions_of_one_query_both_count(folder: Path) -> None:
    both = [{"completions": ["load(1)"]}, {"documents": ["d1"]}]
    found = scored(folder, lines(*({"id": "token", "family": "context"} | each for each in both)))
    assert {row["metric"] for row in found.rows} == {Metric.API_F1, Metric.IDENTIFIER_F1, Metric.MRR}
    assert not found.excluded


@pytest.mark.parametrize(
    ("tables", "code"),
    [
        ({}, "snapshot_no_tasks"),
        (
            {"completions": [{"id": "a"}]},
            "snapshot_of_other_version",
        ),
        ({"completions": [TOKEN | {"granularity": "page"}]}, "snapshot_of_other_version"),
    ],
)
def test_a_snapshot_of_another_schema(tmp_path: Path, tables: dict[str, Any], code: str) -> None:
    with raises(SnapshotError, code=code):
        scored(snapshot(tmp_path / "snapshot", tables), answers())


def test_what_is_no_snapshot(tmp_path: Path, folder: Path) -> None:
    with raises(SnapshotError, code="not_a_snapshot"):
        scored(tmp_path, answers())
    (folder / "data" / "completions.parquet").write_bytes(b"PAR1")
    with raises(SnapshotError, "sha256", code="snapshot_file_differs"):
        scored(folder, answers())
    seal(folder)
    with raises(SnapshotError, code="snapshot_file_unreadable"):
        scored(folder, answers())
    (folder / "manifest.json").write_text(json.dumps({"format": 99}))
    with raises(SnapshotError, code="manifest_of_other_format"):
        scored(folder, answers())


def test_files_of_a_scoring(tmp_path: Path, folder: Path) -> None:
    found = scored(folder, answers() + b"nonsense\n")
    for name in ("one", "other"):
        write(found, tmp_path / name, "mine & yours", RULES_OF_SCORES)
    one = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert one == {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()}
    assert read_parquet(tmp_path / "one" / "scores.parquet") != []
    table = list(csv.DictReader(io.StringIO(one["scores.csv"].decode())))
    assert len(table) == len(found.rows)
    (excluded,) = csv.DictReader(io.StringIO(one["excluded.csv"].decode()))
    assert (excluded["reason"], excluded["line"]) == ("not_a_prediction", str(len(REFERENCES) + 1))
    picture = ElementTree.fromstring(one["scores.svg"])
    said = "".join(picture.itertext())
    assert "completion, granularity line, cdc@1: 1.0 (1.0 to 1.0), 1 tasks" in said
    assert "mine & yours" in said


def test_no_two_metrics_look_the_same() -> None:
    markers = [_look(metric)["marker"] for metric in _DRAWN]
    assert len(set(markers)) == len(_DRAWN)


def test_nothing_counted_has_a_table_and_no_picture(tmp_path: Path, folder: Path) -> None:
    found = scored(folder, b"")
    write(found, tmp_path / "out", "nothing", RULES_OF_SCORES)
    assert (found.samples, found.rows) == (0, [])
    assert not (tmp_path / "out" / "scores.svg").exists()


def test_the_rules_are_those_that_ship() -> None:
    assert isinstance(RULES_OF_SCORES, ScoreRules)
    assert Facet.FAMILY not in RULES_OF_SCORES.facets
    assert set(RULES_OF_SCORES.facets) == set(Facet) - {Facet.FAMILY}
