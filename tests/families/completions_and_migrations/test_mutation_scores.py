"""How many mutants of the target code of migrations its stated outputs notice, run in the real sandbox."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.usages.text import source_of
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.mutation_scores import mutation_scores_stage
from pipeline.lake.rows import MigrationRow, RewriteRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.families.completions_and_migrations.rows import releases
from tests.families.problems.examples import MUTATION, example
from tests.families.problems.stores import Closed, Store, bare_store, environment_row

LIB = """
import time
def parts(items, size, app=None, first=0): return [items[n:n + size] for n in range(first, len(items), size)]
def wait(): time.sleep(2)
"""
TELLING = example(">>> from lib import parts\n>>> parts([1, 2, 3], 2)\n[[1, 2], [3]]\n", "lib.parts", "1.1")
VAGUE = example(">>> from lib import parts\n>>> bool(parts([1, 2, 3], 2))\nTrue\n", "lib.parts", "1.1")
SILENT = example(">>> from lib import parts\n>>> found = parts([1, 2, 3], 2)\n", "lib.parts", "1.1")
SLOW = example(
    ">>> from lib import parts\n>>> parts([1, 2, 3], 2)\n[[1, 2], [3]]\n>>> import lib\n>>> lib.wait()\n",
    "lib.parts",
    "1.1",
)
OLD = example(">>> from lib import parts\n>>> parts([1], 1)\n[[1]]\n", "lib.parts", "1.0")
REWRITE: Any = {**TELLING, "id": "rewritten", "preamble": TELLING["preamble"], "snippet_id": VAGUE["id"]}


def migration(target: Any, rewrite: RewriteRow | None = None, source: str | None = None) -> MigrationRow:
    code = source_of(rewrite or target)
    return {
        "id": f"migration to {(rewrite or target)['id']}",
        "path": "lib.parts",
        "target_path": "lib.parts",
        "target_name": "parts",
        "source_code": code if source is None else source,
        "target_code": code,
        "snippet_id": OLD["id"],
        "source_rewrite_id": None,
        "target_snippet_id": target["id"],
        "target_rewrite_id": rewrite and rewrite["id"],
        "target_version": "1.1",
        "target_outputs": sum(check["expected"] is not None for check in (rewrite or target)["checks"]),
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return bare_store(LIB, tmp_path_factory.mktemp("lib"))


def scored(
    store: Store,
    *migrations: MigrationRow,
    failed: tuple[str, ...] = (),
    rules: MutationRules = MUTATION,
    **tables: Any,
) -> Output:
    subjects = [row["target_rewrite_id"] or row["target_snippet_id"] for row in migrations]
    verdicts = [
        {
            "subject_id": subject,
            "version": "1.1",
            "outcome": Outcome.API_MISSING if subject in failed else Outcome.PASSED,
        }
        for subject in subjects
    ]
    given: Any = {
        "releases": releases("1.0", "1.1"),
        "snippets": [TELLING, VAGUE, SILENT, SLOW, OLD],
        "rewrites": [REWRITE],
        "migrations": migrations,
        "verdicts": verdicts,
        "environments": [environment_row("1.1", store.environments["1.1"])],
    }
    runner = Runner(cast(EnvironmentStore, store), find_sandbox(), load(RULES / "validation.yaml", ValidationRules))
    output = mutation_scores_stage(given | tables, rules, runner)
    assert output.units_in == output.units_out + len(output.rejects)
    for row in output.tables["mutation_scores"]:
        table("mutation_scores").check(row)
    return output


def test_outputs_that_tell_values_notice_more_mutants_than_those_that_do_not(store: Store) -> None:
    output = scored(store, migration(TELLING), migration(VAGUE))
    scores = {row["subject_id"]: row for row in output.tables["mutation_scores"]}
    telling, vague = scores[TELLING["id"]], scores[VAGUE["id"]]
    assert telling["mutation_score"] == 1
    assert 0 < (vague["mutation_score"] or 0) < 1
    assert (telling["mutants_killed"], telling["mutants_equivalent"]) == (telling["mutants"], 0)
    assert 0 < vague["mutants"] <= MUTATION.mutants[Family.MIGRATION]
    assert (telling["version"], telling["lock_id"]) == ("1.1", "lock-1.1")


def test_the_target_is_run_once_for_all_migrations_to_it_and_as_it_was_rewritten(store: Store) -> None:
    output = scored(store, migration(VAGUE, REWRITE), migration(VAGUE, REWRITE))
    (row,) = output.tables["mutation_scores"]
    assert (row["subject_id"], row["mutation_score"]) == ("rewritten", 1)


def target_of(*calls: str) -> Any:
    statements = "".join(f">>> parts({call})\n[[1, 2], [3]]\n" for call in calls)
    return example(f">>> from lib import parts\n{statements}", "lib.parts", "1.1")


# The arguments of the calls of source and target, and how many programs without a changed one run, and are noticed.
CHANGED_ARGUMENTS: dict[str, tuple[list[str], list[str], tuple[int, int] | None]] = {
    "one without effect": (["[1, 2, 3], 2, None"], ["[1, 2, 3], 2, app=None"], (1, 0)),
    "one that is needed": (["[1, 2, 3], length=2"], ["[1, 2, 3], size=2"], (1, 1)),
    "one that has an effect": (["[0, 1, 2, 3], 2, 1"], ["[0, 1, 2, 3], 2, first=1"], (1, 1)),
    "two, of which one has none": (["[1, 2, 3], length=2"], ["[1, 2, 3], size=2, app=1"], (2, 1)),
    "one that has an effect in one call alone": (
        ["[1, 2, 3], 2, 0", "[0, 1, 2, 3], 2, 1"],
        ["[1, 2, 3], 2, first=0", "[0, 1, 2, 3], 2, first=1"],
        (1, 1),
    ),
    "one by position": (["[1, 2, 3], size=2"], ["[1, 2, 3], 2"], (1, 1)),
    "one that stands elsewhere": (["2, [1, 2, 3]"], ["[1, 2, 3], 2"], None),
    "none": (["[1, 2, 3], 2"], ["[1, 2, 3], 2"], None),
}


@pytest.mark.parametrize("case", CHANGED_ARGUMENTS)
def test_changed_arguments_are_left_out(store: Store, case: str) -> None:
    calls, new_calls, expected = CHANGED_ARGUMENTS[case]
    target = target_of(*new_calls)
    row = migration(target, source=source_of(target_of(*calls)))
    output = scored(store, row, snippets=[target])
    scores = {each["subject_id"]: each for each in output.tables["mutation_scores"]}
    assert scores.keys() == {target["id"], *([row["id"]] if expected else [])}
    if expected:
        assert (scores[row["id"]]["mutants"], scores[row["id"]]["mutants_killed"]) == expected


@pytest.mark.parametrize("columns", [{"path": "lib.chunks"}, {"source_code": "print 'parts'\n"}])
def test_arguments_are_not_left_out_where_the_path_changed_or_the_source_does_not_parse(
    store: Store, columns: dict[str, str]
) -> None:
    row: Any = migration(TELLING, source="from lib import parts\nparts([1, 2, 3], length=2)\n")
    output = scored(store, row | columns)
    assert [each["subject_id"] for each in output.tables["mutation_scores"]] == [TELLING["id"]]


def test_a_name_that_an_import_gives_the_api_counts(store: Store) -> None:
    target = example(">>> from lib import parts as p\n>>> p([1, 2, 3], 2, app=0)\n[[1, 2], [3]]\n", "lib.parts", "1.1")
    row = migration(target, source="from lib import parts as p\np([1, 2, 3], 2, 0)\n")
    output = scored(store, row, snippets=[target])
    assert {each["subject_id"]: each["mutants_killed"] for each in output.tables["mutation_scores"]}[row["id"]] == 0


def test_a_target_that_takes_longer_than_a_mutant_may_has_no_score(store: Store) -> None:
    output = scored(store, migration(SLOW), rules=MUTATION.model_copy(update={"time_s": 1}))
    (row,) = output.tables["mutation_scores"]
    assert (row["mutants"], row["mutation_score"]) == (0, None)


def test_a_target_that_states_nothing_or_fails_is_not_run(store: Store) -> None:
    output = scored(store, migration(SILENT), migration(TELLING), failed=(TELLING["id"],))
    assert (output.units_in, output.tables["mutation_scores"]) == (0, [])


def test_targets_whose_environment_raises_are_rejects(store: Store) -> None:
    output = scored(Closed(store.environments), migration(TELLING), migration(VAGUE))
    assert output.tables["mutation_scores"] == []
    assert {reject.key: reject.reason for reject in output.rejects} == {
        f"{row['id']} 1.1": RejectReason.INTERNAL_ERROR for row in (TELLING, VAGUE)
    }


def test_a_target_that_raises_is_a_reject_and_the_others_are_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {key: value for key, value in VAGUE.items() if key != "preamble"}
    output = scored(store, migration(VAGUE), migration(TELLING), snippets=[TELLING, broken])
    assert [row["subject_id"] for row in output.tables["mutation_scores"]] == [TELLING["id"]]
    assert [reject.reason for reject in output.rejects] == [RejectReason.INTERNAL_ERROR]


def test_code_that_this_python_does_not_parse_has_no_mutants(store: Store) -> None:
    ancient = {**TELLING, "id": "ancient", "code": "print 'parts'\n", "preamble": ""}
    output = scored(store, migration(ancient), snippets=[ancient])
    assert [row["mutants"] for row in output.tables["mutation_scores"]] == [0]


def test_a_release_that_is_built_no_longer_is_not_run(store: Store) -> None:
    missing = {**environment_row("1.1", store.environments["1.1"]), "outcome": EnvironmentOutcome.BUILD_FAILED}
    output = scored(store, migration(TELLING), environments=[missing])
    assert (output.units_in, output.units_out) == (0, 0)
