"""In which versions a task says something, and what is known to be right for the other version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind, GitChameleonCategory, LibEvolutionEvalTag
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.families.problems.candidates import Candidate, Candidates, ExampleTask, WitnessedChange, show
from pipeline.families.problems.drafts import Draft, additional_dependencies, draft
from pipeline.families.problems.library import Library
from pipeline.lake.rows import RewriteRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.rules import DraftingRules
from tests.families.completions_and_migrations.rows import LIBRARY, TAGGING, change, document, life, releases, symbol
from tests.families.problems.examples import RULES_OF_PROBLEMS, example
from tests.families.problems.world import INTRODUCED, READ, READ_IT, RENAMED, SHOUT, TABLES, TAKE

USAGE = load(RULES / "usage.yaml", UsageRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)


def library_of(**changed: list[Any]) -> Library:
    tables = {name: rows for name, rows in (TABLES | changed).items() if name not in ("snippets", "rewrites")}
    return Library(**tables, tagging=TAGGING, usage=USAGE)


def candidates_of(
    snippets: list[SnippetRow], rewrites: list[RewriteRow] | None = None, **changed: list[Any]
) -> list[Candidate]:
    library = library_of(**changed)
    shown = [each for each in show(snippets, library, RULES_OF_PROBLEMS) if isinstance(each, ExampleTask)]
    finder = Candidates(shown, rewrites or [], library, RULES_OF_PROBLEMS)
    return [candidate for each in shown for candidate in finder.of(each)]


def other_of(candidate: Candidate) -> tuple[ProblemRun, str]:
    assert candidate.other is not None
    return candidate.other.role, candidate.other.task.returned


LISTED = example(">>> import lib\n>>> list(lib.read('1,2'))\n['1', '2']\n", "lib.read")


def test_what_came_is_set_apart_from_the_release_before() -> None:
    (candidate,) = candidates_of([TAKE])
    assert (candidate.version, candidate.path, candidate.other_version) == ("1.1", "lib.take", "1.0")
    assert candidate.tags[1] == LibEvolutionEvalTag.INTRODUCED
    assert (candidate.change, candidate.category) == (INTRODUCED, GitChameleonCategory.NEW_FEATURE)


@pytest.mark.parametrize("snippets", [[READ], [READ, READ_IT]])
def test_a_listed_rename_gives_the_code_for_the_release_before(snippets: list[SnippetRow]) -> None:
    (candidate,) = candidates_of(snippets)
    assert (candidate.change, candidate.category) == (RENAMED, GitChameleonCategory.NAME)
    assert other_of(candidate) == (ProblemRun.OTHER_CODEMOD, "lib.read_it(parameter_0)")


def test_where_no_change_tells_an_example_of_the_release_before_does() -> None:
    (candidate,) = candidates_of([READ, READ_IT | {"path": "lib.read"}], changes=[])
    assert other_of(candidate) == (ProblemRun.OTHER_EXAMPLE, "lib.read_it(parameter_0)")


@pytest.mark.parametrize(
    ("snippets", "expected"),
    [
        ([READ_IT], (ProblemRun.OTHER_CODEMOD, "lib.read(parameter_0)")),
        ([READ_IT, LISTED], (ProblemRun.OTHER_EXAMPLE, "list(lib.read(parameter_0))")),
    ],
)
def test_what_is_only_stated_as_a_replacement_gives_way_to_an_example(
    snippets: list[SnippetRow], expected: tuple[ProblemRun, str]
) -> None:
    gone = change(ChangeKind.REMOVED, "lib.read_it", "1.0", "1.1", replacement="lib.read")
    lives = [life("lib.read_it", "1.0", "1.0", removed_in="1.1")]
    known = releases("0.9", "1.0", "1.1")
    (candidate,) = candidates_of(snippets, changes=[gone], lifecycles=lives, releases=known)
    assert other_of(candidate) == expected


def test_an_example_that_stands_in_both_versions_is_not_the_other_versions() -> None:
    both = READ_IT | {"last_version": "1.1"}
    (candidate,) = candidates_of([READ, both], changes=[])
    assert candidate.other is None


def test_another_function_of_the_same_input_is_not_the_same_task() -> None:
    other = example(">>> import lib\n>>> lib.read_it('1,2')\n[1, 2]\n", "lib.read_it", "1.0")
    (candidate,) = candidates_of([READ, other], changes=[])
    assert candidate.other is None


def test_an_example_that_the_release_before_does_not_fulfil_shows_other_behaviour() -> None:
    (candidate,) = candidates_of([SHOUT])
    assert (candidate.category, candidate.tags[1]) == (GitChameleonCategory.SEMANTICS, LibEvolutionEvalTag.UNCHANGED)
    assert candidates_of([SHOUT], verdicts=[]) == []


def rewritten(snippet: SnippetRow, code: str, version: str) -> Any:
    (check,) = snippet["checks"][1:]
    return {
        "id": "r", "library": LIBRARY, "version": version, "snippet_id": snippet["id"], "preamble": "",
        "snippet_version": "1.1", "changes": [RENAMED["id"]], "code": code,
        "checks": [snippet["checks"][0], check | {"statement": code}],
        "edits": [{"codemod": "name", "line": 1, "path": "lib.read", "parameter": None, "old": "read", "new": "read_it"}],
    }  # fmt: skip


def test_a_codemod_writes_what_no_example_shows() -> None:
    (candidate,) = candidates_of([READ], [rewritten(READ, "lib.read_it('1,2')\n", "1.0")], changes=[])
    assert other_of(candidate) == (ProblemRun.OTHER_CODEMOD, "lib.read_it(parameter_0)")


def test_what_has_a_new_name_and_keeps_the_old_one_is_no_new_feature() -> None:
    """As `semver.Version` of 3.0.0, which `semver.VersionInfo` still names: the old code does the same there."""
    snippet = example(">>> from lib import New\n>>> New.make('1')\n[1]\n", "lib.New.make")
    changed: dict[str, list[Any]] = {
        "symbols": [
            symbol("lib.Old", "1.0", "1.0", kind="class"),
            symbol("lib.Old.make", "1.0", "1.0", kind="method"),
            symbol("lib.New", "1.1", kind="class"),
            symbol("lib.New.make", "1.1", kind="method"),
            symbol("lib.Old", "1.1", canonical="lib.New", kind="alias"),
        ],
        "lifecycles": [life(path, "1.1", "1.1", introduced=True) for path in ("lib.New", "lib.New.make")],
        "changes": [
            change(
                ChangeKind.INTRODUCED, "lib.New", "1.0", "1.1", gitchameleon_category=GitChameleonCategory.NEW_FEATURE
            )
        ],
    }
    (candidate,) = candidates_of([snippet], **changed)
    assert (candidate.version, candidate.category) == ("1.1", GitChameleonCategory.NAME)
    assert candidate.other is not None
    assert (candidate.other.role, candidate.other.task.imports, candidate.other.task.returned) == (
        ProblemRun.OTHER_CODEMOD,
        ("from lib import Old",),
        "Old.make(parameter_0)",
    )
    without = [row for row in changed["symbols"] if row["kind"] != "alias"]
    (new,) = candidates_of([snippet], **changed | {"symbols": without})
    assert (new.category, new.other) == (GitChameleonCategory.NEW_FEATURE, None)


@pytest.mark.parametrize(
    ("category", "introduced"),
    [(None, False), (None, True), (GitChameleonCategory.NAME, False)],
    ids=["nothing replaces it", "it was there in one version only", "something replaces it"],
)
def test_what_went_has_the_category_of_its_change(category: GitChameleonCategory | None, introduced: bool) -> None:
    gone = change(ChangeKind.REMOVED, "lib.read_it", "1.0", "1.1", gitchameleon_category=category)
    lives = [life("lib.read_it", "1.0", "1.0", introduced=introduced, removed_in="1.1")]
    library = library_of(changes=[gone], lifecycles=lives, releases=releases("0.9", "1.0", "1.1"))
    (shown,) = show([READ_IT], library, RULES_OF_PROBLEMS)
    assert isinstance(shown, ExampleTask)
    witness = replace(shown, witnessed=WitnessedChange(gone, "lib.read_it"))
    (candidate,) = Candidates([witness], [], library, RULES_OF_PROBLEMS).of(witness)
    assert (candidate.other_version, candidate.category) == ("1.1", category)


def drafted(candidate: Candidate, **changed: list[Any]) -> Draft | Reject:
    return draft(candidate, library_of(**changed), RULES_OF_PROBLEMS, DRAFTING)


def test_what_is_given_names_neither_the_api_nor_a_parameter_that_changed() -> None:
    """As in more-itertools 8.13, where `grouper` got `incomplete` and `fillvalue`."""
    snippet = example(
        ">>> from lib import grouper\n>>> fill, incomplete = 'x', 'f'\n>>> incomplete = 'f'\n>>> grouper('ab', 3, incomplete=incomplete)\n['abf']\n",
        "lib.grouper",
    )
    changed: dict[str, list[Any]] = {
        "symbols": [symbol("lib.grouper", "1.0", "1.1")],
        "lifecycles": [life("lib.grouper", "1.0", "1.1", modified=["1.1"])],
        "changes": [change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.grouper", "1.0", "1.1", parameter="incomplete")],
        "documents": [document("lib.grouper", "Collect data into blocks of a fixed length.", "1.1")],
    }
    (candidate,) = candidates_of([snippet], **changed)
    made = drafted(candidate, **changed)
    assert isinstance(made, Draft)
    assert made.source.hidden == ("grouper", "incomplete")
    assert "incomplete" not in made.written.starting_code
    assert "incomplete=" in made.written.solution


REFUSED: dict[str, tuple[dict[str, Any], RejectReason]] = {
    "no sentence": ({"documents": []}, RejectReason.NO_TEXT),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_drafted(case: str) -> None:
    changed, reason = REFUSED[case]
    (candidate,) = candidates_of([TAKE])
    made = drafted(candidate, **changed)
    assert isinstance(made, Reject)
    assert made.reason == reason


UNFIT = {
    "nothing stated": (">>> import lib\n>>> x = lib.take([1], 1)\n", RejectReason.NO_CHECK),
    "only an exception": (
        ">>> import lib\n>>> lib.take(1, 1)\nTraceback (most recent call last):\n  ...\nTypeError: no\n", RejectReason.NO_CHECK,
    ),
    "nothing to give": (">>> import lib\n>>> lib.take()\n1\n", RejectReason.NO_INPUT),
    "too much to give": (">>> import lib\n>>> lib.take(1, 2, 3, 4, 5, 6)\n1\n", RejectReason.TOO_LONG),
}  # fmt: skip


@pytest.mark.parametrize("case", UNFIT)
def test_examples_that_make_no_problem(case: str) -> None:
    docstring, reason = UNFIT[case]
    (reject,) = show([example(docstring)], library_of(), RULES_OF_PROBLEMS)
    assert isinstance(reject, Reject)
    assert reject.reason == reason


INSTALLED = {"numpy-1.21.6": "numpy", "python_dateutil-2.8.2": "dateutil", "six-1.16": "six", "lib-1.1": "lib"}


@pytest.mark.parametrize(
    ("texts", "pins"),
    [
        (["import numpy as np\nimport lib, os\n"], ["numpy==1.21.6"]),
        (["def f():\n    from dateutil.tz import x\n    import pytest\n"], ["python-dateutil==2.8.2"]),
        (["import os, six, numpy\n", "from sample_1 import solve\n"], ["numpy==1.21.6", "six==1.16"]),
        (["import lib\nfrom . import numpy\nx = 'import six'\n"], []),
    ],
)
def test_additional_dependencies_are_pinned_as_the_lock_has_them(
    texts: list[str], pins: list[str], tmp_path: Path
) -> None:
    """By what is installed: a distribution need not be called as what it brings."""
    for folder, module in INSTALLED.items():
        of_distribution = tmp_path / f"{folder}.dist-info"
        of_distribution.mkdir()
        name = folder.rpartition("-")[0].replace("_", "-")
        (of_distribution / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (of_distribution / "RECORD").write_text(f"{module}/__init__.py,,\n")
    environment = replace(bare_environment(), site_packages=tmp_path)
    lock = (
        "lib==1.1 \\\n    --hash=sha256:0\nnumpy==1.21.6 ; python_version >= '3.7'\npython-dateutil==2.8.2\nsix==1.16\n"
    )
    assert additional_dependencies(texts, {"lib"}, lock, environment) == pins
