"""APIs that are right in the place of the one that a problem is about, run in the real sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SymbolKind
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.apis.siblings import SiblingProgram, Siblings, find_siblings
from pipeline.families.problems.candidates import WitnessedChange
from pipeline.families.problems.drafts import Draft
from pipeline.families.problems.proving import Trial, try_siblings
from pipeline.families.problems.running import OpenEnvironment
from pipeline.lake.rows import ChangeRow, SnippetRow
from pipeline.lake.stage import Reject
from tests.families.completions_and_migrations.rows import change, document, life, symbol
from tests.families.problems.examples import MUTATION, RULES_OF_PROBLEMS, example
from tests.families.problems.stores import Store, environment_row, store_of
from tests.families.problems.test_candidates import candidates_of, drafted, library_of

OLD = """
def drop(items, value): return list(items)
def older_lstrip(items, value):
    items = list(items)
    while items and items[0] == value: items = items[1:]
    return items
def padded(items, size): return list(items) + [None] * (size - len(items))
def padded_with(items, size, by=0): return list(items) + [by] * (size - len(items))
"""
NEW = (
    OLD
    + """
def lstrip(items, value): return list(lstrip_iter(items, value))
def lstrip_iter(items, value): yield from older_lstrip(items, value)
def lstrip_last(items, value): return lstrip(items[::-1], value)
def lstrip_of(items): return list(items)
def rstrip(items, value): return older_lstrip(items[::-1], value)[::-1]
def cut(items, value): return older_lstrip(items[::-1], value)[::-1]
def padded(items, size, by=0): return list(items) + [by] * (size - len(items))
def lstrip_all(items, value): return [each for each in items if each != value]
import sys, types
sys.modules["lib.extra"] = extra = types.ModuleType("lib.extra")
extra.lstrip_all = lambda items, value: lstrip_all(items, value)
extra.rstrip = lambda items, value: items
"""
)


def parameters(*names: str) -> list[Any]:
    kind, source = ParameterKind.POSITIONAL_OR_KEYWORD, ParameterSource.SIGNATURE
    common = {"annotation": None, "known_from": source, "deprecation": None}
    return [{"name": name, "kind": kind, "default": "0" if name == "by" else None, **common} for name in names]


TWO = parameters("items", "value")
NEW_NAMES = ("lstrip", "lstrip_iter", "lstrip_last", "rstrip", "cut", "lstrip_all", "extra.lstrip_all", "extra.rstrip")
TABLES: Any = {
    "symbols": [
        *(symbol(path, "1.0", "1.1", kind=SymbolKind.MODULE) for path in ("lib", "lib.extra")),
        *(symbol(f"lib.{name}", "1.1", parameters=TWO) for name in NEW_NAMES),
        symbol("lib.lstrip_of", "1.1", parameters=parameters("items")),
        symbol("lib.drop", "1.0", "1.1", parameters=TWO),
        symbol("lib.older_lstrip", "1.0", "1.1", parameters=TWO),
        symbol("lib.padded", "1.0", parameters=parameters("items", "size")),
        symbol("lib.padded", "1.1", parameters=parameters("items", "size", "by")),
    ],
    "lifecycles": [
        *(life(f"lib.{name}", "1.1", "1.1", introduced=True) for name in NEW_NAMES),
        life("lib.padded", "1.0", "1.1", modified=["1.1"]),
    ],
    "changes": [change(ChangeKind.INTRODUCED, f"lib.{name}", "1.0", "1.1") for name in NEW_NAMES],
    "documents": [
        *(document(f"lib.{name}", "Strip values from the beginning.", "1.1") for name in ("lstrip", "lstrip_iter")),
        document("lib.lstrip_all", "Strip values everywhere.", "1.1"),
        document("lib.rstrip", "Strip values from the end.", "1.1"),
        document("lib.padded", "Bring the items to a fixed length.", "1.0", "1.1"),
    ],
    "verdicts": [],
}
VALIDATION = load(RULES / "validation.yaml", ValidationRules)


def stated(path: str, *lines: str) -> SnippetRow:
    return example("\n".join([">>> import lib", *lines, ""]), path)


LEFT = stated("lib.lstrip", ">>> lib.lstrip([0, 1, 0, 2, 0], 0)", "[1, 0, 2, 0]", ">>> lib.lstrip([3, 3, 4], 3)", "[4]")
YIELDED = stated(
    "lib.lstrip_iter",
    *(
        ">>> list(lib.lstrip_iter([0, 1, 0, 2, 0], 0))",
        "[1, 0, 2, 0]",
        ">>> list(lib.lstrip_iter([3, 3, 4], 3))",
        "[4]",
    ),
)
EVERYWHERE = stated(
    "lib.lstrip_all", ">>> lib.lstrip_all([0, 1, 0], 0)", "[1]", ">>> lib.lstrip_all([3, 4, 3, 5], 3)", "[4, 5]"
)
RIGHT = stated("lib.rstrip", ">>> lib.rstrip([0, 1, 0], 0)", "[0, 1]", ">>> lib.rstrip([4, 3, 3], 3)", "[4]")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store_of({"1.0": OLD, "1.1": NEW}, tmp_path_factory.mktemp)


def tried(store: Store, snippet: SnippetRow, shown: ChangeRow | None = None, **changed: Any) -> Trial | Reject:
    """The trial of an example, or of one that shows a change; all stated cases but the first are hidden tests."""
    tables = TABLES | changed
    (candidate,) = candidates_of([snippet], **tables)
    made = drafted(candidate, **tables)
    assert isinstance(made, Draft)
    if shown is not None:
        witness = replace(candidate.example, witnessed=WitnessedChange(shown, candidate.path))
        made = replace(made, candidate=replace(candidate, example=witness))
    first, *others = made.documented
    trial = Trial(made, frozenset({"lib"}), first, tuple(others), made.documented)
    (result,) = try_siblings([trial], library_of(**tables), opened(store), runner_of(store), MUTATION)
    return result


def opened(store: Store) -> dict[str, OpenEnvironment]:
    return {
        version: OpenEnvironment(environment_row(version, environment), environment)
        for version, environment in store.environments.items()
    }


def runner_of(store: Store) -> Runner:
    return Runner(cast(EnvironmentStore, store), find_sandbox(), VALIDATION, workers=1)


SIBLINGS = {
    "one that yields the same": (LEFT, ["lib.lstrip_iter"]),
    "one that returns what the other yields": (YIELDED, ["lib.lstrip"]),
    "one of the same name in another module": (EVERYWHERE, ["lib.extra.lstrip_all"]),
}


@pytest.mark.parametrize("case", SIBLINGS)
def test_siblings_that_give_the_same_are_right_too(case: str, store: Store) -> None:
    """Not those that give something else or take other arguments, nor an older one, which the statement excludes."""
    snippet, siblings = SIBLINGS[case]
    trial = tried(store, snippet)
    assert isinstance(trial, Trial)
    assert trial.required == (snippet["path"], *siblings)
    assert trial.draft.source.required == RULES_OF_PROBLEMS.statement.introduced.format(library="lib", version="1.1")


def test_another_api_that_gives_the_same_makes_two_answers(store: Store) -> None:
    reject = tried(store, RIGHT)
    assert isinstance(reject, Reject)
    assert reject.reason == RejectReason.SEVERAL_ANSWERS
    assert reject.detail == "1.1: lib.cut in the place of lib.rstrip passes the tests of values"


IMPORTS = {
    "a name": ("from lib import lstrip_all", "lstrip_all(items, 0)"),
    "a name beside others": ("from lib import drop, lstrip_all", "drop(lstrip_all(items, 0), 1)"),
    "another name": ("from lib import lstrip_all as strip", "strip(items, 0)"),
    "the module": ("import lib", "lib.lstrip_all(items, 0)"),
    "a name, after an import that has to be the first": (
        "from __future__ import annotations\nfrom lib import lstrip_all",
        "lstrip_all(items, 0)",
    ),
    "the module by another name": ("import lib as l", "l.drop(l.lstrip_all(items, 0), 'lib')"),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_siblings_are_tried_however_the_api_is_imported(case: str, store: Store) -> None:
    """`lib.extra.lstrip_all` gives the same; the import stands before the function, as in the family functions."""
    importing, returned = IMPORTS[case]
    program = f"{importing}\n\ndef solve(items):\n    return {returned}\n"
    tests = "from solution import solve\ndef test_a():\n    assert solve([0, 1, 0]) == [1]\n"
    visible = "assert solve([0, 2, 0]) == [2]"
    asked = SiblingProgram("a", "1.1", "1.0", "lib.lstrip_all", program, "[2]", visible, tests, "solution")
    (found,) = find_siblings([asked], library_of(**TABLES), opened(store), runner_of(store), MUTATION).values()
    assert isinstance(found, Siblings)
    assert (found.paths, found.older) == (frozenset({"lib.extra.lstrip_all"}), frozenset())
    assert found.answers(without_older=False) == ("lib.extra.lstrip_all",)


PADDED = stated(
    "lib.padded", ">>> lib.padded([1], 3, by=7)", "[1, 7, 7]", ">>> lib.padded([1, 2], 3, by=5)", "[1, 2, 5]"
)
BY = change(
    ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.padded", "1.0", "1.1", parameter="by",
    gitchameleon_category="argument_or_attribute",
)  # fmt: skip


def test_what_is_right_in_both_versions_is_a_second_answer_unless_a_new_api_is_required(store: Store) -> None:
    """The name does not matter then: `padded_with` does in the release before what the parameter that came does."""
    like = symbol("lib.padded_with", "1.0", "1.1", parameters=parameters("items", "size", "by"))
    result = tried(store, PADDED, BY, symbols=[*TABLES["symbols"], like])
    assert isinstance(result, Reject)
    assert result.detail == "1.1: lib.padded_with in the place of lib.padded passes the tests of values"


ANSWERS = {
    "the API": ("from lib import lstrip\n    return lstrip(items, number)", True),
    "a sibling": ("from lib import lstrip_iter as strip\n    return [*strip(items, number)]", True),
    "an older API": ("from lib import older_lstrip\n    return older_lstrip(items, number)", False),
    "a sibling whose value is thrown away": (
        "import lib\n    lib.lstrip_iter([], 1)\n    return lib.older_lstrip(items, number)", False,
    ),
    "plain Python": ("while items and items[0] == number:\n        items = items[1:]\n    return items", False),
}  # fmt: skip


def test_the_hidden_tests_want_the_api_or_a_sibling(store: Store) -> None:
    trial = tried(store, LEFT)
    assert isinstance(trial, Trial)
    given = trial.draft.written.starting_code
    cases = [
        Case(name, "", f"{given}    {body}\n", test_file=trial.hidden, module=trial.module)
        for name, (body, _) in ANSWERS.items()
    ]
    results = run_cases(store.environments["1.1"], cases, find_sandbox(), VALIDATION)
    passed = {result.id: result.outcome == Outcome.PASSED for result in results}
    assert passed == {name: passes for name, (_, passes) in ANSWERS.items()}
