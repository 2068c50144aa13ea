"""Which runs stand for a published row, family by family; and which of them are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.audit.survival.references import ProbeRun, Reference, read_references
from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import draw
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.runs import CaseRun, ProjectRun
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.reader import Snapshot
from tests.audit.survival.published import example, snapshot
from tests.errors import raises

AT = {"library": "lib", "version": "1.0", "outcome": "built", "python": "3.11", "lock": "", "import_names": ["lib"]}
ENVIRONMENTS = [AT | {"lock_id": "old"}, AT | {"lock_id": "new"}]
PROJECT = AT | {
    "outcome": "traced",
    "id": "p",
    "project": "lib",
    "sha256": "0",
    "size": 1,
    "packages": [],
    "lock_id": "tests",
}
ONE, TWO = example("one", "x = 1\n"), example("two", "x = 2\n")
OWN = {"id": "i", "library": "lib", "version": "1.0", "lock_id": "old"}
SIDES = OWN | {"target_version": "2.0", "snippet_id": "one", "target_snippet_id": "two", "target_lock_id": "new"}
TASK = OWN | {"project_id": "p", "path": "lib/a.py"}
RUNS: list[tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = [
    ("completions", OWN | {"path": "lib.a", "snippet_id": "one", "reference_outcome": "passed"}, [(CaseRun, "old", "x = 1\n")]),
    ("completions", OWN | {"path": "lib.a", "snippet_id": "gone", "reference_outcome": None}, [(ProbeRun, "old", "lib.a")]),
    ("controlled_completions", OWN | {"path": "lib.a"}, [(ProbeRun, "old", "lib.a")]),
    ("migrations", SIDES, [(CaseRun, "new", "x = 2\n"), (CaseRun, "old", "x = 1\n")]),
    ("migrations", SIDES | {"target_rewrite_id": "written", "source_rewrite_id": None}, [(CaseRun, "new", "x = 3\n"), (CaseRun, "old", "x = 1\n")]),
    ("problems", OWN | {"starting_code": "a = 1\n", "solution": "b = a\n", "test": "assert b", "hidden_tests": "t", "module": "m"}, [(CaseRun, "old", "a = 1\nb = a\n")] * 2),
    ("functions", OWN | {"code": "a = 1\n", "tests": "t", "module": "m"}, [(CaseRun, "old", "a = 1\n")]),
    ("repository_tasks", TASK | {"tests": ["t.py::test_a"]}, [(ProjectRun, "p", ["t.py::test_a"])]),
    ("scenes", TASK | {"unit_test_ids": ["t.py::test_a"]}, [(ProjectRun, "p", ["t.py::test_a"])]),
]  # fmt: skip


def written(folder: Path, **tables: list[dict[str, Any]]) -> Path:
    rewrites = [example("written", "x = 3\n")]
    given: dict[str, list[dict[str, Any]]] = {
        "environments": ENVIRONMENTS,
        "projects": [PROJECT],
        "snippets": [ONE, TWO],
        "rewrites": rewrites,
    }
    return snapshot(folder, **(given | tables))


def told(run: object) -> tuple[Any, ...]:
    if isinstance(run, CaseRun):
        assert run.case.import_names == ("lib",)
        return CaseRun, run.lock_id, run.case.code
    if isinstance(run, ProbeRun):
        return ProbeRun, run.lock_id, run.path
    assert isinstance(run, ProjectRun)
    assert run.rewrite("as it is") == "as it is"
    return ProjectRun, run.project_id, list(run.tests)


@pytest.mark.parametrize(("table", "row", "runs"), RUNS, ids=[f"{table}-{at}" for at, (table, *_) in enumerate(RUNS)])
def test_the_runs_of_a_family(tmp_path: Path, table: str, row: dict[str, Any], runs: list[tuple[Any, ...]]) -> None:
    [found], _ = read_references(Snapshot(written(tmp_path / "m", **{table: [row]})), "lib", [])
    assert [told(run) for run in found.runs] == runs
    assert {run.answered for run in found.runs} == {(found.family, "i")}
    assert (found.id, found.missing) == ("i", None)
    assert found.version == ("2.0" if table == "migrations" else "1.0")
    assert found.probed == (runs[0][0] is ProbeRun)


def test_a_problem_has_both_tests(tmp_path: Path) -> None:
    [found], _ = read_references(Snapshot(written(tmp_path / "m", problems=[RUNS[5][1]])), "lib", [])
    hidden, visible = (run.case for run in found.runs if isinstance(run, CaseRun))
    assert (hidden.test_file, hidden.module, hidden.test) == ("t", "m", None)
    assert (visible.test_file, visible.test) == (None, "assert b")


def test_equal_runs_are_one_and_rules_and_locks_tell_them_apart(tmp_path: Path) -> None:
    rows = [RUNS[0][1] | {"id": name, "lock_id": lock} for name, lock in (("a", "old"), ("b", "old"), ("c", "new"))]
    folder = written(tmp_path / "m", completions=rows)
    keys = [one.runs[0].key for one in read_references(Snapshot(folder), "lib", [])[0]]
    assert (keys[0] == keys[1], len(set(keys))) == (True, 2)
    assert not {*keys} & {one.runs[0].key for one in read_references(Snapshot(folder), "lib", ["other rules"])[0]}


def test_only_the_library_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path / "m", completions=[RUNS[0][1] | {"library": "other"}])
    assert read_references(Snapshot(folder), "lib", [])[0] == []


def test_an_example_that_is_not_there_is_said(tmp_path: Path) -> None:
    folder = written(tmp_path / "m", completions=[RUNS[0][1] | {"snippet_id": "gone"}])
    [found], _ = read_references(Snapshot(folder), "lib", [])
    assert (found.runs, found.missing) == ((), "no snippet gone in the snapshot: run `driftline verify` on it")


def test_a_snapshot_of_other_columns_is_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = written(tmp_path / "m", functions=[OWN | {"code": "a = 1\n"}])
    with raises(SnapshotError, "functions.parquet", code="snapshot_of_other_version"):
        read_references(Snapshot(folder), "lib", [])


def probes(locks: list[str]) -> list[Reference]:
    return [
        Reference(
            Family.CONTROLLED,
            f"{at}",
            "lib",
            "1.0",
            (ProbeRun((Family.CONTROLLED, f"{at}"), "", Metric.PASS, f"{at}", False, lock, "lib.a"),),
        )
        for at, lock in enumerate(locks)
    ]


@given(st.lists(st.sampled_from("abcdefghijkl"), max_size=40), st.floats(0.01, 1), st.integers(1, 5))
def test_whole_environments_are_drawn_as_many_as_the_rules_say(locks: list[str], share: float, least: int) -> None:
    rules = survival_rules().model_copy(update={"share": share, "least": least})
    references = probes(locks)
    chosen, drawn = draw(references, "2026-11", rules)
    taken = {one.places[0] for one in chosen}
    there = {one.places[0] for one in references}
    assert [one for one in references if one.places[0] in taken] == chosen
    assert min(least, len(there)) <= len(taken) <= max(least, share * len(there) + 1)
    assert drawn == pytest.approx(len(taken) / len(there) if there else 1.0, abs=1e-4)
    assert draw(references[::-1], "2026-11", rules)[1] == drawn
    assert {one.id for one in draw(references[::-1], "2026-11", rules)[0]} == {one.id for one in chosen}


def test_another_month_draws_others() -> None:
    rules = survival_rules().model_copy(update={"share": 0.3, "least": 1})
    references = probes(list("abcdefghijkl"))
    drawn = {
        f"2026-{month:02}": frozenset(one.id for one in draw(references, f"2026-{month:02}", rules)[0])
        for month in range(1, 13)
    }
    assert len(set(drawn.values())) > 6
    assert frozenset.union(*drawn.values()) == {one.id for one in references}


def test_what_cannot_be_run_is_always_told() -> None:
    lacking = Reference(Family.COMPLETION, "x", "lib", "1.0", (), "no snippet")
    rules = survival_rules().model_copy(update={"share": 0.01, "least": 1})
    chosen, _ = draw([*probes(list("abcdef")), lacking], "2026-11", rules)
    assert lacking in chosen
    assert len(chosen) == 2
