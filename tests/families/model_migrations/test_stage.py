"""Migrations that a model writes for a made-up library of two releases, run in the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Direction, Drafter, Evidence, MigrationBasis
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.model_migrations.stage import Migrating, model_migrations_stage
from pipeline.families.model_migrations.tables import TABLES, with_drafted
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.rules import draft_rules
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from tests.families.completions_and_migrations.rows import TAGGING, change, document, life, releases, symbol, usages
from tests.families.problems.examples import MUTATION, example
from tests.families.problems.stores import Store, environment_row, store_of
from tests.llm.conftest import drafter, server  # noqa: F401 - fixtures
from tests.llm.tasks.test_description import data_of
from tests.model_server import Fault, ModelServer

pytestmark = pytest.mark.slow

SOURCES = {
    "1.0": "def total(items): return sum(items)\ndef same(x): return x\n",
    "1.1": "def summed(items, start=0): return sum(items, start)\ndef same(x): return x\n",
}
TOTAL = example(">>> from lib import total\n>>> n = 100\n>>> total([n, 23])\n123\n", "lib.total", "1.0")
SAME = example(">>> from lib import same\n>>> same('ab')\n'ab'\n", "lib.same", "1.0")
WRONG = example(">>> from lib import total\n>>> total([1, 1])\n3\n", "lib.total", "1.0")
GOOD: dict[str, Any] = {
    "preamble": "from lib import summed",
    "statements": ["", "n = 100", "summed([n, 23])"],
    "core_name": "summed",
    "description": "Add numbers up and give back how much they come to.",
}
VALIDATION = load(RULES / "validation.yaml", ValidationRules)
QUALITY = load(RULES / "quality.yaml", QualityRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
REMOVED = change(ChangeKind.REMOVED, "lib.total", "1.0", "1.1")
RELEASES = releases("0.9", "1.0", "1.1")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of(SOURCES, tmp_path_factory.mktemp)


def tables(store: Store, docstring: str, *snippets: SnippetRow) -> Any:
    return {
        "releases": RELEASES,
        "snippets": list(snippets),
        "usages": [use for row in snippets for use in usages(row, {"total": "lib.total", "same": "lib.same"})],
        "symbols": [symbol("lib.total", "1.0"), symbol("lib.same", "1.0", "1.1"), symbol("lib.summed", "1.1")],
        "changes": [REMOVED, change(ChangeKind.RETURNS, "lib.same", "1.0", "1.1", breaking=False)],
        "lifecycles": [
            life("lib.total", "1.0", "1.0", removed_in="1.1"), life("lib.same", "1.0", "1.1", modified=["1.1"]),
            life("lib.summed", "1.1", "1.1", introduced=True),
        ],
        "documents": [document("lib.total", docstring, "1.0")],
        "migrations": [],
        "environments": [environment_row(version, store.environments[version]) for version in SOURCES],
        "verdicts": [],
    }  # fmt: skip


Make = Callable[..., Output]


@pytest.fixture
def make(drafter: Any, store: Store) -> Make:  # noqa: F811
    """Run the stage over snippets, with rules as they are then."""

    def run(*snippets: SnippetRow, docstring: str = "Add numbers up.", **changes: Any) -> Output:
        rules = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).migrated_code.model_copy(update=changes)
        migrating = Migrating(
            rules=rules,
            drafting=DRAFTING,
            tagging=TAGGING,
            usage=load(RULES / "usage.yaml", UsageRules),
            executable_sources=VALIDATION.executable_sources,
            fails=QUALITY.fails_in_target,
            runner=Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION),
            drafter=drafter(),
        )
        made = model_migrations_stage(tables(store, docstring, *(snippets or (TOTAL,))), migrating=migrating)
        assert made.tables.keys() == set(TABLES)
        for name, rows in made.by_table.items():
            for row in rows:
                table(name).check(row)
        return made

    return run


def in_turn(*answers: dict[str, Any]) -> Any:
    left = list(answers)
    return lambda _: {"text": json.dumps(left.pop(0))}


def test_code_that_does_the_same_becomes_a_migration_in_both_directions_in_the_strong_form(
    make: Make,
    server: ModelServer,  # noqa: F811
    store: Store,
) -> None:
    server.reply = in_turn(GOOD)
    made = make()
    assert (made.units_in, made.units_out) == (1, 1)
    told = data_of(server.asked[0])
    assert told["failure"].startswith("api_missing: ")
    assert (told["here"]["docstring"], told["there"], told["beside"]) == ("Add numbers up.", None, ["summed", "same"])
    (rewrite,) = made.tables["drafted_rewrites"]
    assert (rewrite["drafter"], rewrite["tries"], rewrite["changes"]) == (Drafter.MODEL, 1, [REMOVED["id"]])
    up, down = sorted(made.tables["model_migrations"], key=lambda row: str(row["version"]))
    assert (up["direction"], up["path"], up["target_path"]) == (Direction.OLD_TO_NEW, "lib.total", "lib.summed")
    assert (down["source_rewrite_id"], up["target_rewrite_id"], up["target_outputs"]) == (*(2 * [rewrite["id"]]), 1)
    outcomes = {(row["subject_id"], row["version"]): row["outcome"] for row in made.tables["drafted_verdicts"]}
    assert outcomes == {
        (TOTAL["id"], "1.0"): Outcome.PASSED, (TOTAL["id"], "1.1"): Outcome.API_MISSING,
        (rewrite["id"], "1.1"): Outcome.PASSED, (rewrite["id"], "1.0"): Outcome.API_MISSING,
    }  # fmt: skip
    given = tables(store, "", TOTAL) | {"completions": [], "block_completions": [], "drafts": [], "flags": []}
    drafted = {
        name: list(made.tables[name]) for name in ("model_migrations", "drafted_verdicts", "drafted_descriptions")
    }
    reads = "completions migrations block_completions drafts flags snippets releases verdicts environments changes"
    published = acceptance_stage(
        with_drafted(
            {
                **drafted,
                **{name: given[name] for name in reads.split()},
                "reviews": [],
                "mutation_scores": [],
                "other_answers": [],
                "symbols": [],
                "behaviours": [],
            }
        ),
        rules=QUALITY,
        executable_sources=VALIDATION.executable_sources,
        drafting=DRAFTING,
        mutation=MUTATION,
    ).tables["published_migrations"]
    shown = {(row["basis"], row["evidence"], row["discriminating"], row["drafter"]) for row in published}
    assert shown == {(MigrationBasis.MODEL, Evidence.EXECUTED, True, Drafter.MODEL)}
    assert {row["direction"] for row in published} == set(Direction)
    assert {row["description"] for row in published} == {GOOD["description"]}


BAD = {
    "other outputs": (["", "n = 101", "summed([n, 23])"], ["in 1.1 it ends as failed_assertion", "got: 131"]),
    "does not need the API": (["", "n = 100", "(summed([]), n + 23)[1]"], ["lib.summed does nothing"]),
    "another each time": (["", "n = 100", "summed([n, 23]) + (hash('a') % 2)"], ["in 1.1 it ends as"]),
    "takes all memory": (["", "n = 100", "len('x' * 10**11) and summed([n, 23])"], ["in 1.1 it ends as"]),
    "leaves before the end": (["", "n = 100", "raise SystemExit(summed([]))"], ["in 1.1 it ends as"]),
}


def numbered(answer: dict[str, Any], number: int) -> dict[str, Any]:
    """The same for an example with another number."""
    written: dict[str, Any] = json.loads(json.dumps(answer).replace("23", str(number)))
    return written


def test_what_is_not_accepted_goes_back_with_the_reason(make: Make, server: ModelServer) -> None:  # noqa: F811
    code = ">>> from lib import total\n>>> n = 100\n>>> total([n, {0}])\n{1}\n"
    snippets = [example(code.format(number, 100 + number), "lib.total", "1.0") for number in range(30, 30 + len(BAD))]
    reasons: dict[str, str] = {}

    def reply(params: dict[str, Any]) -> dict[str, Any]:
        told = data_of(params)
        number = int(told["statements"][2]["output"]) - 100
        case = list(BAD)[number - 30]
        if "refused" in told:
            reasons[case] = told["refused"]["reason"]
        return {
            "text": json.dumps(numbered(GOOD if "refused" in told else GOOD | {"statements": BAD[case][0]}, number))
        }

    server.reply = reply
    made = make(*snippets, max_per_path=len(BAD))
    missing = {
        case: reasons[case] for case, (_, said) in BAD.items() if not all(words in reasons[case] for words in said)
    }
    assert missing == {}
    assert {row["tries"] for row in made.tables["drafted_rewrites"]} == {2}
    assert made.units_out == len(BAD)


def test_after_so_many_tries_it_is_refused_and_no_row_is_made(make: Make, server: ModelServer) -> None:  # noqa: F811
    server.reply = lambda _: {"text": json.dumps(GOOD | {"statements": ["", "n = 1", "summed([n, 23])"]})}
    made = make(tries=2)
    assert [reject.reason for reject in made.rejects] == [RejectReason.DRAFT_REFUSED]
    assert len(server.asked) == 2
    assert made.tables["model_migrations"] == []
    assert made.tables["drafted_rewrites"] == []


def test_where_money_ends_it_waits(make: Make, server: ModelServer) -> None:  # noqa: F811
    server.faults = [Fault(402, "no credit")]
    made = make()
    assert [reject.reason for reject in made.rejects] == [RejectReason.DRAFT_WAITING]


@pytest.mark.parametrize(
    ("snippet", "reason"),
    [(SAME, RejectReason.UNCHANGED), (WRONG, RejectReason.NOT_PROVEN)],
    ids=["still runs", "wrong"],
)
def test_nobody_is_asked_about_what_runs_on_or_never_did(
    make: Make,
    server: ModelServer,  # noqa: F811
    snippet: SnippetRow,
    reason: RejectReason,
) -> None:
    made = make(snippet)
    assert [reject.reason for reject in made.rejects] == [reason]
    assert server.asked == []


def test_a_candidate_that_raises_is_a_reject(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("pipeline.families.model_migrations.stage.Teller.of", planted)
    made = make()
    assert (made.units_in, made.units_out, made.reasons) == (1, 0, {RejectReason.INTERNAL_ERROR: 1})
