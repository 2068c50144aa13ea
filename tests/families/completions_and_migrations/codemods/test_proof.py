"""What a codemod wrote counts after it ran: planned with both sides, run in real environments, judged by acceptance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.stage import environments_stage
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.runs import plan_runs, planned_versions
from pipeline.execution.validation.stage import Runner, validation_stage
from pipeline.lake.rows import EnvironmentRow, SnippetRow, VerdictRow
from pipeline.lake.schema import table
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.codemods.library import Files, Tables, example, module, stages
from tests.families.completions_and_migrations.rows import EXECUTABLE_SOURCES, verdict
from tests.families.problems.examples import MUTATION
from tests.index_server import Index

QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
BODY = '    """Fetch a page, slowly and surely."""\n    page = [name, how]\n    page = page[:2]\n    return "".join(page)\n'
OLD = module(f"def fetch(name, how='slow'):\n{BODY}")
NEW = module(f"def load(name, how='slow'):\n{BODY}")
KEPT = module("def fetch(name, *more, how='slow'):\n    return name + how\n")
CODE = "import lib\nlib.fetch('a', 'b')\n"


def tables_of(old: Files, new: Files, *snippets: SnippetRow) -> Tables:
    """What validation and acceptance read, as far as it concerns migrations."""
    read, made = stages(old, new, *snippets)
    names = ("migrations", "rewrites", "completions")
    return read | {name: list(made.by_table[name]) for name in names}


def planned(tables: Tables) -> dict[str, list[Any]]:
    names = ("releases", "snippets", "completions", "migrations", "changes", "symbols", "rewrites")
    return {name: tables[name] for name in names} | {"completions": []}


def judge(
    tables: Tables, verdicts: list[VerdictRow], environments: list[EnvironmentRow]
) -> tuple[list[Any], dict[str, int]]:
    output = acceptance_stage(
        {
            "completions": [],
            "migrations": tables["migrations"],
            "block_completions": [],
            "drafts": [],
            "flags": [],
            "snippets": tables["snippets"],
            "releases": tables["releases"],
            "verdicts": verdicts,
            "behaviours": [],
            "environments": environments,
            "changes": tables["changes"],
            "reviews": [],
            "mutation_scores": [],
            "other_answers": [],
            "symbols": [],
        },
        QUALITY,
        EXECUTABLE_SOURCES,
        DRAFTING,
        MUTATION,
    )
    rows = list(output.tables["published_migrations"])
    for row in rows:
        table("published_migrations").check(row)
    return rows, dict(output.reasons)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find_sandbox()


def test_both_sides_are_run_in_every_release() -> None:
    tables = tables_of(OLD, NEW, example(CODE, "2", outputs=("'ab'\n",)))
    (rewrite,) = tables["rewrites"]
    runs = plan_runs(**planned(tables), executable_sources=EXECUTABLE_SOURCES)
    assert {(run.version, run.role) for run in runs if run.subject_id == rewrite["id"]} == {
        ("1", VerdictRole.OTHER_VERSION),
        ("2", VerdictRole.OTHER_VERSION),
        ("3", VerdictRole.REFERENCE),
    }
    (snippet,) = tables["snippets"]
    assert {run.version for run in runs if run.subject_id == snippet["id"]} == {"1", "2", "3"}


def prove(
    index: Index, root: Path, sandbox: Sandbox, old: Files, new: Files, tables: Tables
) -> tuple[list[Any], list[Any]]:
    """Build the environments of both releases and run what is planned; return environments and verdicts."""
    for version, files in (("1", {"lib.py": ""}), ("2", old), ("3", new)):
        index.add_wheel("lib", version, files, f"2020-01-0{version}T00:00:00Z")
    shipped = environment_rules().model_copy(update={"gaps": (), "interpreters_tried": 1})
    store = EnvironmentStore(root, index_url=index.simple, rules=shipped, workers=2, sandbox=sandbox)
    rules = load(RULES / "validation.yaml", ValidationRules)
    wanted = planned_versions(**planned(tables), executable_sources=EXECUTABLE_SOURCES)
    releases = tables["releases"]
    built = environments_stage({"releases": releases, "environments": []}, wanted, store)
    environments = list(built.tables["environments"])
    runner = Runner(store, sandbox, rules, 2)
    verdicts = validation_stage(
        {**planned(tables), "environments": environments, "controlled_completions": []}, runner=runner
    ).tables["verdicts"]
    return environments, list(verdicts)


def test_the_strong_form_is_published_with_both_outcomes(index: Index, tmp_path: Path, sandbox: Sandbox) -> None:
    tables = tables_of(OLD, NEW, example(CODE, "2", outputs=("'ab'\n",)))
    environments, verdicts = prove(index, tmp_path, sandbox, OLD, NEW, tables)
    rows, _ = judge(tables, verdicts, environments)
    by_direction = {row["direction"]: row for row in rows}
    up, down = by_direction["old_to_new"], by_direction["new_to_old"]
    assert up["target_code"] == "import lib\nlib.load('a', 'b')\n"
    assert up["target_outputs"] == 1
    outcomes = ("reference_outcome", "source_in_target", "target_in_target", "target_in_source")
    assert [up[column] for column in outcomes] == ["passed", "api_missing", "passed", "api_missing"]
    assert [down[column] for column in outcomes] == ["passed", "api_missing", "passed", "api_missing"]
    assert up["discriminating"] is down["discriminating"] is True
    assert up["evidence"] == "executed"


def made_up(tables: Tables, **outcomes: Outcome) -> list[Any]:
    """Verdicts that all passed, but for those given as side and version: `old_3`, `new_2`."""
    (snippet,), (rewrite,) = tables["snippets"], tables["rewrites"]
    subjects = {"old": snippet["id"], "new": rewrite["id"]}
    return [
        verdict(subject, version, outcomes.get(f"{side}_{version}", Outcome.PASSED))
        for side, subject in subjects.items()
        for version in ("2", "3")
    ]


@pytest.mark.parametrize(
    ("outcomes", "directions", "why"),
    [
        ({"old_3": Outcome.API_MISSING, "new_2": Outcome.API_MISSING}, ["new_to_old", "old_to_new"], {}),
        ({"old_3": Outcome.SIGNATURE_MISMATCH}, ["old_to_new"], {"not_proven": 1}),
        ({"new_3": Outcome.FAILED_ASSERTION, "old_3": Outcome.API_MISSING}, [], {"not_proven": 2}),
        ({"old_2": Outcome.WRONG_EXCEPTION, "old_3": Outcome.API_MISSING}, [], {"not_proven": 2}),
        ({"old_3": Outcome.TIMED_OUT, "new_2": Outcome.TIMED_OUT}, [], {"not_proven": 2}),
        ({}, [], {"not_proven": 2}),
    ],
)
def test_only_what_ran_counts(outcomes: dict[str, Outcome], directions: list[str], why: dict[str, int]) -> None:
    tables = tables_of(OLD, KEPT, example(CODE, "2"))
    assert {row["basis"] for row in tables["migrations"]} == {"parameters"}
    rows, reasons = judge(tables, made_up(tables, **outcomes), [])
    assert sorted(row["direction"] for row in rows) == directions
    assert {reason: n for reason, n in reasons.items() if reason == "not_proven"} == why
    assert all(row["discriminating"] for row in rows)


def test_neither_direction_of_what_still_runs_is_published() -> None:
    old = module("def fetch(name):\n    return name\ndef load(name):\n    return name\n")
    new = module(
        "import warnings\ndef fetch(name):\n    warnings.warn('fetch is deprecated, use load instead', DeprecationWarning)\n"
        "    return name\ndef load(name):\n    return name\n"
    )
    tables = tables_of(old, new, example("import lib\nlib.fetch('a')\n", "2", outputs=("'a'\n",)))
    rows, reasons = judge(tables, made_up(tables), [])
    assert (rows, reasons["not_proven"]) == ([], 2)
