"""Which snippets a model is asked about: of what changes, in which direction, and not where a pair is there already."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.model_migrations.candidates import Candidate, candidates, within_quota
from pipeline.lake.rows import ChangeRow, SnippetRow, SymbolRow
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.families.completions_and_migrations.rows import change, releases, symbol, usages
from tests.families.problems.examples import example

R = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).migrated_code
DOC = ">>> from lib import {0}\n>>> {0}([1])\n'one'\n"
REMOVED = change(ChangeKind.REMOVED, "lib.cut", "1.1", "1.2")
RETURNS = change(ChangeKind.RETURNS, "lib.cut", "1.1", "1.2", breaking=False)
STAYS = symbol("lib.cut", "1.0", "1.3")


def snippet_in(first: str, last: str, **columns: Any) -> SnippetRow:
    return example(DOC.format("cut"), "lib.cut", first, last, **columns)


def candidates_of(
    snippets: list[SnippetRow], changed: ChangeRow, state: SymbolRow = STAYS, migrations: tuple[Any, ...] = ()
) -> list[Candidate]:
    history = History(releases("1.0", "1.1", "1.2", "1.3"), [state], [changed], lambda path, version: None)
    used = [use for row in snippets for use in usages(row, {"cut": "lib.cut"})]
    return candidates(snippets, used, [changed], migrations, history, R)


@pytest.mark.parametrize(
    ("run", "changed", "ways"),
    [
        (("1.0", "1.1"), REMOVED, [("1.1", "1.2")]),
        (("1.0", "1.3"), REMOVED, [("1.1", "1.2")]),
        # documentation dropped it before
        (("1.0", "1.0"), REMOVED, [("1.0", "1.2")]),
        (("1.0", "1.1"), RETURNS, [("1.1", "1.2")]),
        # nothing breaks, and the documentation goes on to show it
        (("1.0", "1.3"), RETURNS, []),
        (("1.0", "1.0"), RETURNS, []),
        # new examples of what was there before go back
        (("1.2", "1.3"), RETURNS, [("1.2", "1.1")]),
        (("1.2", "1.2"), change(ChangeKind.INTRODUCED, "lib.cut", "1.1", "1.2"), []),
        (("1.0", "1.1"), change(ChangeKind.REMOVED, "lib", "1.1", "1.2"), [("1.1", "1.2")]),
        (("1.0", "1.1"), change(ChangeKind.ASYNC, "lib", "1.1", "1.2"), []),
        (("1.0", "1.1"), change(ChangeKind.REMOVED, "lib.other", "1.1", "1.2"), []),
    ],
)
def test_the_ways_of_an_example_by_what_changes(run, changed, ways):
    assert [(one.source, one.target) for one in candidates_of([snippet_in(*run)], changed)] == ways


def test_what_only_the_newer_release_has_does_not_go_back():
    assert candidates_of([snippet_in("1.2", "1.3")], RETURNS, symbol("lib.cut", "1.2", "1.3")) == []


def test_a_pair_that_is_an_instance_already_is_no_candidate():
    one = snippet_in("1.0", "1.1")
    pair = {"snippet_id": "x", "target_snippet_id": one["id"], "version": "1.2", "target_version": "1.1"}
    assert candidates_of([one], REMOVED, migrations=(pair,)) == []
    assert len(candidates_of([one], REMOVED, migrations=(pair | {"version": "1.3"},))) == 1


@pytest.mark.parametrize(
    "snippet",
    [
        snippet_in("1.0", "1.1") | {"checks": []},
        snippet_in("1.0", "1.1") | {"language": Language.JAVA},
        snippet_in("1.0", "1.1") | {"code": "\n" * 90},
        snippet_in("1.0", "1.1") | {"checks": [{"statement": "x", "expected": "y" * 9000, "options": []}]},
    ],
    ids=["states nothing", "another language", "too many lines", "states too much"],
)
def test_what_nobody_is_asked_about(snippet):
    assert candidates_of([snippet], REMOVED) == []


def test_of_one_api_and_pair_of_releases_a_few_are_taken_and_of_a_library_a_few():
    one = candidates_of([snippet_in("1.0", "1.1")], REMOVED)[0]
    many = [Candidate({**one.snippet, "id": str(n)}, f"lib.{n % 2}", *_rest(one)) for n in range(10)]
    kept, refused = within_quota(many, R.model_copy(update={"max_per_path": 3, "max_run": 5}))
    assert ([row.snippet["id"] for row in kept], len(refused)) == (["0", "1", "2", "3", "4"], 5)
    assert {reject.reason for reject in refused} == {RejectReason.OVER_QUOTA}


def _rest(one: Candidate) -> tuple[Any, ...]:
    return one.change, one.direction, one.source, one.target
