"""Examples that make no task, of which somebody may make a function: what passed, where it says something, how many."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.rules import UsageRules
from pipeline.families.functions.unused_examples import Untaken, untaken_examples, versions_of
from pipeline.families.problems.library import Library
from pipeline.lake.rows import SnippetRow, VerdictRow
from pipeline.lake.stage import Reject
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.rules import draft_rules
from tests.families.completions_and_migrations.rows import TAGGING, life, releases, symbol, verdict
from tests.families.problems.examples import example

KIND = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).task_function
OLD = example(">>> from lib import same\n>>> s = same('ab')\n", "lib.same", "1.0", "1.2")
NEW = example(">>> from lib import take\n>>> t = take([1], 1)\n", "lib.take", "1.1", "1.2")
OTHER = example(">>> from lib import take\n>>> t = take([1, 2, 3], 1)\n", "lib.take", "1.1", "1.2")
RENAMED = example(">>> from lib import take as t\n>>> x = t([1], 1)\n", "lib.take", "1.1", "1.2")


def library(*verdicts: VerdictRow) -> Library:
    return Library(
        releases("1.0", "1.1", "1.2"),
        [symbol("lib.take", "1.1", "1.2"), symbol("lib.same", "1.0", "1.2")],
        [],
        [life("lib.take", "1.1", "1.2", introduced=True), life("lib.same", "1.0", "1.2")],
        [],
        [],
        verdicts,
        TAGGING,
        load(RULES / "usage.yaml", UsageRules),
    )


def passed(snippet: SnippetRow, *versions: str) -> list[Any]:
    return [verdict(snippet["id"], version, Outcome.PASSED) for version in versions]


def refused(*snippets: SnippetRow, reason: RejectReason = RejectReason.NO_CHECK) -> list[Reject]:
    return [Reject(snippet["id"], reason, "nothing is stated") for snippet in snippets]


def found(
    rejects: list[Reject],
    *verdicts: VerdictRow,
    taken: tuple[Any, ...] = (),
    limits: Mapping[str, int] = MappingProxyType({}),
) -> list[Untaken]:
    rules = KIND.model_copy(update=dict(limits))
    return untaken_examples(rejects, taken, [OLD, NEW, OTHER, RENAMED], library(*verdicts), rules, 2)


def test_the_version_that_says_something_of_what_it_uses_goes_first():
    verdicts = [*passed(OLD, "1.0", "1.1", "1.2"), *passed(NEW, "1.1", "1.2")]
    new, old = found(refused(OLD, NEW), *verdicts)
    assert (new.use.path, new.version, new.hidden, new.neighbour(library())) == ("lib.take", "1.1", ("take",), "1.0")
    assert (old.use.path, old.version, old.neighbour(library())) == ("lib.same", "1.1", None), "1.0 has none before it"
    assert versions_of([new, old], library()) == {"1.0", "1.1"}


@pytest.mark.parametrize(
    ("rejects", "verdicts"),
    [
        (refused(NEW), [verdict(NEW["id"], "1.1", Outcome.WRONG_EXCEPTION)]),
        (refused(NEW), []),
        (refused(NEW, reason=RejectReason.TOO_LONG), passed(NEW, "1.1")),
        (refused(OLD), passed(OLD, "1.0")),
        (refused(RENAMED), passed(RENAMED, "1.1")),
    ],
    ids=["failed", "not run", "too much for a function", "no release before", "under another name"],
)
def test_others_are_left_alone(rejects: list[Reject], verdicts: list[VerdictRow]):
    assert found(rejects, *verdicts) == []


def test_an_example_that_makes_a_task_is_taken_already():
    rejects = [Reject(f"{NEW['id']} 2", RejectReason.NO_INPUT, "take([1], 1)")]
    assert len(found(rejects, *passed(NEW, "1.1"))) == 1
    assert found(rejects, *passed(NEW, "1.1"), taken=(NEW,)) == []


@pytest.mark.parametrize(
    ("limits", "number"),
    [({}, 3), ({"max_per_path": 1}, 2), ({"max_per_library": 2}, 2), ({"max_per_library": 0}, 0)],
)
def test_there_are_as_many_as_the_rules_take(limits: dict[str, int], number: int):
    verdicts = [*passed(OLD, "1.1"), *passed(NEW, "1.1"), *passed(OTHER, "1.1")]
    assert len(found(refused(OLD, NEW, OTHER), *verdicts, limits=limits)) == number
