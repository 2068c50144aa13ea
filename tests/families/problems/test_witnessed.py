"""Witnesses of changes become tasks: which API is asked for, in which release, and what of a witness makes none."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.usages.rules import UsageRules
from pipeline.families.problems.candidates import Candidate, Candidates, ExampleTask
from pipeline.families.problems.drafts import Draft, draft
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import hidden_tests
from pipeline.families.problems.witnessed import witnessed_tasks
from pipeline.lake.rows import ChangeRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.rules import DraftingRules
from tests.families.completions_and_migrations.rows import TAGGING, change, document, life, releases, snippet, symbol
from tests.families.problems.examples import RULES_OF_PROBLEMS

USAGE = load(RULES / "usage.yaml", UsageRules)
DRAFTING = load(RULES / "drafting.yaml", DraftingRules)

CAME = change(
    ChangeKind.INTRODUCED, "lib.windowed", "1.0", "1.1", gitchameleon_category="new_feature", replacement=None
)
WENT = change(ChangeKind.REMOVED, "lib.join", "1.1", "2.0", replacement=None)
FILL = change(ChangeKind.PARAMETER_ADDED_OPTIONAL, "lib.pad", "1.0", "1.1", parameter="fill", replacement=None)
RENAMED = change(ChangeKind.PARAMETER_RENAMED, "lib.pad", "1.0", "1.1", parameter="n", new="size", replacement=None)
BASES = change(ChangeKind.BASES, "lib.pad", "1.0", "1.1", replacement=None)
FIRST = change(ChangeKind.REMOVED, "lib.pad", "1.0", "1.1", replacement=None)

TABLES: Any = {
    "releases": releases("1.0", "1.1", "2.0"),
    "symbols": [
        symbol("lib.windowed", "1.1", "2.0"), symbol("lib.join", "1.0", "1.1"), symbol("lib.pad", "1.0", "2.0"),
        symbol("lib.mark", "1.1", "2.0"),
    ],
    "changes": [CAME, WENT, FILL, RENAMED, BASES, FIRST],
    "lifecycles": [
        life("lib.windowed", "1.1", "2.0", introduced=True), life("lib.join", "1.0", "1.1", removed_in="2.0"),
        life("lib.pad", "1.0", "2.0", modified=["1.1"]),
    ],
    "documents": [
        document("lib.windowed", "Return windows over the items.", "1.1", "2.0"),
        document("lib.join", "Join two addresses to a whole one.", "1.0", "1.1"),
        document("lib.pad", "Bring the items to a fixed length.", "1.0", "2.0"),
    ],
    "api_documents": [],
    "verdicts": [],
}  # fmt: skip


def witness(shown: ChangeRow, version: str, path: str, *checks: tuple[str, str | None]) -> tuple[SnippetRow, Any]:
    """A form of a witness as a snippet, and its row."""
    lines: list[Any] = [
        {"statement": f"{statement}\n", "expected": expected, "options": []} for statement, expected in checks
    ]
    code = "".join(line["statement"] for line in lines)
    row = snippet(code, path, version, source=SnippetSource.OWN_TEST, checks=lines)
    forms = {f"{side}_{name}": None for side in ("old", "new") for name in ("snippet_id", "path", "fails_at")}
    side = "old" if version == shown["old_version"] else "new"
    return row, {
        "id": row["id"],
        "change_id": shown["id"],
        "distinctive": True,
        **forms,
        f"{side}_snippet_id": row["id"],
        f"{side}_path": path,
    }


def library_of(**changed: Any) -> Library:
    return Library(**(TABLES | changed), tagging=TAGGING, usage=USAGE)


def tasks_of_witnesses(*pairs: tuple[SnippetRow, Any], with_program: bool = False, **changed: Any) -> list[Any]:
    snippets, rows = zip(*pairs, strict=True)
    return list(witnessed_tasks(snippets, rows, library_of(**changed), RULES_OF_PROBLEMS, with_program=with_program))


def candidate_of(*pairs: tuple[SnippetRow, Any], **changed: Any) -> Candidate:
    tasks = [each for each in tasks_of_witnesses(*pairs, **changed) if isinstance(each, ExampleTask)]
    (candidate,) = (
        c for each in tasks for c in Candidates(tasks, [], library_of(**changed), RULES_OF_PROBLEMS).of(each)
    )
    return candidate


def test_programs_that_are_not_distinctive_make_no_task() -> None:
    row, of_witness = NEW
    assert len(tasks_of_witnesses(NEW)) == 1
    assert tasks_of_witnesses((row, of_witness | {"distinctive": False})) == []


NEW = witness(CAME, "1.1", "lib.windowed", ("import lib", None), ("print(lib.windowed([1, 2], 2))", "[(1, 2)]\n"))
OTHER = witness(
    CAME, "1.1", "lib.windowed", ("import lib", None), ("print(lib.windowed('ab', 1))", "[('a',), ('b',)]\n")
)
OLD = witness(
    WENT, "1.1", "lib.join", ("from lib import join", None), ("x = join('a', 'b')", None), ("print(x)", "a/b\n")
)
PADDED = witness(
    FILL, "1.1", "lib.pad", ("from lib import pad", None), ("print(list(pad([1], 2, fill=None)))", "[1, None]\n")
)


def test_programs_that_differ_in_values_are_cases_of_one_task_which_gives_the_value_that_was_printed() -> None:
    task, *_ = sorted(tasks_of_witnesses(NEW, OTHER), key=lambda each: isinstance(each, Reject))
    assert task.task.returned == "lib.windowed(parameter_0, parameter_1)"
    assert {case.outcome.value for case in task.task.cases} == {"[(1, 2)]", "[('a',), ('b',)]"}
    (reject,) = (each for each in tasks_of_witnesses(NEW, OTHER) if isinstance(each, Reject))
    assert reject.reason == RejectReason.DUPLICATE


def test_a_change_to_the_next_release_needs_no_release_before() -> None:
    candidate = candidate_of(witness(FIRST, "1.0", "lib.pad", ("import lib", None), ("print(lib.pad([1]))", "[1]\n")))
    assert (candidate.version, candidate.other_version, candidate.change) == ("1.0", "1.1", FIRST)


def test_an_introduced_api_is_required_in_its_first_release() -> None:
    candidate = candidate_of(NEW)
    assert (candidate.version, candidate.other_version, candidate.path) == ("1.1", "1.0", "lib.windowed")
    assert (candidate.change, candidate.required) == (CAME, "lib.windowed")


def test_a_removed_api_is_required_in_its_last_release() -> None:
    candidate = candidate_of(OLD)
    assert (candidate.version, candidate.other_version, candidate.change) == ("1.1", "2.0", WENT)
    assert (candidate.task.body, candidate.task.returned) == (("x = join(parameter_0, parameter_1)",), "str(x)")


def test_a_parameter_that_came_is_hidden_and_none_is_no_input() -> None:
    made = draft(candidate_of(PADDED), library_of(), RULES_OF_PROBLEMS, DRAFTING)
    assert isinstance(made, Draft)
    assert made.source.hidden == ("pad", "fill")
    assert made.written.program == (
        "def solve(items: list, number: int) -> list:\n    from lib import pad\n"
        "    return list(pad(items, number, fill=None))\n"
    )
    assert made.source.required == RULES_OF_PROBLEMS.statement.new_parameter.format(library="lib", version="1.1")


def test_arguments_without_a_meaning_are_values_of_written_programs() -> None:
    written = load(RULES / "own_tests.yaml", OwnTestRules).written
    values = {value for of_type in written.values.values() for value in of_type}
    assert RULES_OF_PROBLEMS.meaningless <= values


REFUSED: dict[str, tuple[ChangeRow, str, str, list[tuple[str, str | None]], RejectReason]] = {
    "no input": (CAME, "1.1", "lib.windowed", [("print(lib.windowed())", "[]\n")], RejectReason.NO_INPUT),
    "nothing printed": (CAME, "1.1", "lib.windowed", [("lib.windowed([1])", None)], RejectReason.NO_CHECK),
    "not called": (CAME, "1.1", "lib.windowed", [("print(len(lib.windowed.names, 1))", "1\n")], RejectReason.UNFIT_NAME),
    "by its place in either": (RENAMED, "1.1", "lib.pad", [("print(lib.pad([1], size=1))", "[1]\n")], RejectReason.UNCHANGED),
    "no statement": (BASES, "1.1", "lib.pad", [("print(lib.pad([1]))", "[1]\n")], RejectReason.NO_TEXT),
    "any text": (CAME, "1.1", "lib.windowed", [("print(lib.windowed('some text'))", "[]\n")], RejectReason.NO_CHECK),
    "several arguments": (
        CAME, "1.1", "lib.windowed", [("x = ['a', 2]", None), ("print(lib.windowed(*x))", "[1]\n")], RejectReason.NO_TEXT,
    ),
    "another name": (
        CAME, "1.1", "lib.windowed", [("f = lib.windowed", None), ("print(f('ab'))", "[1]\n")], RejectReason.UNFIT_NAME,
    ),
    "not its value": (CAME, "1.1", "lib.windowed", [("print(not lib.windowed([1]))", "False\n")], RejectReason.NO_TEXT),
    "a definition of the test": (
        CAME, "1.1", "lib.windowed",
        [("def first(items):\n    return lib.windowed(items)[0]", None), ("print(first([1]))", "1\n")],
        RejectReason.NO_TEXT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_task(case: str) -> None:
    shown, version, path, checks, reason = REFUSED[case]
    (reject,) = tasks_of_witnesses(witness(shown, version, path, ("import lib", None), *checks))
    assert isinstance(reject, Reject)
    assert reject.reason == reason


def test_a_program_that_is_shown_needs_no_statement() -> None:
    shown, version, path, checks, _ = REFUSED["a definition of the test"]
    made = tasks_of_witnesses(witness(shown, version, path, ("import lib", None), *checks), with_program=True)
    assert [type(each) for each in made] == [ExampleTask]


def test_a_program_that_is_shown_names_a_parameter_that_came() -> None:
    """What would be masked is the name of the API, which both releases have."""
    (made,) = tasks_of_witnesses(PADDED, with_program=True)
    assert isinstance(made, Reject)
    assert made.reason == RejectReason.UNCHANGED


def test_a_decorator_is_called_where_its_definition_runs() -> None:
    """As `jinja2.pass_context`."""
    came = change(ChangeKind.INTRODUCED, "lib.mark", "1.0", "1.1", replacement=None)
    checks = [("from lib import mark", None), ("@mark\ndef f(x):\n    return x", None), ("print(f(1))", "1\n")]
    pair = witness(came, "1.1", "lib.mark", *checks)
    (task,) = tasks_of_witnesses(pair, with_program=True, changes=[came])
    assert isinstance(task, ExampleTask)
    assert task.witnessed is not None
    assert task.witnessed.path == "lib.mark"


@pytest.mark.parametrize(("replacement", "refused"), [("lib.pad", True), ("other.join", False)])
def test_what_the_release_has_a_replacement_for_has_two_answers(replacement: str, refused: bool) -> None:
    """As `jinja2.contextfunction` in 3.0.3, which has `pass_context`."""
    went = WENT | {"replacement": replacement}
    pair = witness(went, "1.1", "lib.join", ("from lib import join", None), ("print(join('a', 'b'))", "a/b\n"))
    (made,) = tasks_of_witnesses(pair, changes=[went])
    assert isinstance(made, Reject) is refused
    assert not refused or made.reason == RejectReason.SEVERAL_ANSWERS


def test_hidden_tests_need_the_new_parameter() -> None:
    candidate = candidate_of(PADDED)
    assert (candidate.required, candidate.new_parameter) == ("lib.pad", "fill")
    draft_of = draft(candidate, library_of(), RULES_OF_PROBLEMS, DRAFTING)
    assert isinstance(draft_of, Draft)
    task, written = candidate.task, draft_of.written
    tests = hidden_tests(task, written, task.cases, (), "sample", ["lib"], ["lib.pad"], candidate.new_parameter)
    assert "'fill' not in [*named, *bound]" in tests
    assert "lacks_parameter" not in hidden_tests(task, written, task.cases, (), "sample", ["lib"], ["lib.pad"])


@pytest.mark.parametrize("witnessed", [NEW, OLD])
def test_an_api_that_came_or_went_has_no_new_parameter(witnessed: tuple[SnippetRow, Any]) -> None:
    assert candidate_of(witnessed).new_parameter is None


MARKS: dict[str, tuple[dict[str, str | None], str | None]] = {
    "a private replacement": (
        {"message": "It is still available as the private member `_join`.", "replacement": None},
        "1.1 deprecates lib.join for _join",
    ),
    "a replacement that the release has": ({"message": "", "replacement": "lib.pad"}, "for lib.pad"),
    "one of another library": ({"message": "Use other.html_dumps.", "replacement": "other.html_dumps"}, None),
    "none": ({"message": "It will be removed.", "replacement": None}, None),
}


@pytest.mark.parametrize("case", MARKS)
def test_what_a_release_says_to_use_instead_is_another_answer(case: str) -> None:
    mark, detail = MARKS[case]
    deprecation = {"channel": "warning", "since": None, "removal": None, **mark}
    marked = [row | {"deprecation": deprecation} if row["path"] == "lib.join" else row for row in TABLES["symbols"]]
    texts = [document("lib.join", "Make a whole address of two.", "1.0", "1.1")]
    library = library_of(symbols=marked, documents=texts)
    drafted = draft(candidate_of(OLD, symbols=marked), library, RULES_OF_PROBLEMS, DRAFTING)
    if detail is None:
        assert isinstance(drafted, Draft)
    else:
        assert isinstance(drafted, Reject)
        assert drafted.reason == RejectReason.SEVERAL_ANSWERS
        assert detail in drafted.detail


@pytest.mark.parametrize(
    ("text", "is_taken"), [("Equivalent to adding ns.pad, see ns for documentation.", False), ("Fill up to pad.", True)]
)
def test_a_parameter_whose_text_only_refers_to_a_hidden_name_is_not_explained(text: str, is_taken: bool) -> None:
    parameters = [
        {"name": name, "type": None, "mandatory": True, "default": None, "description": text} for name in ("items", "n")
    ]
    columns: dict[str, Any] = {
        "path": "lib.pad",
        "first_version": "1.0",
        "last_version": None,
        "url": None,
        "directives": [],
    }
    document: Any = columns | {"parameters": parameters, "returns": [], "description": "Bring them to a length."}
    library = library_of(api_documents=[document])
    drafted = draft(candidate_of(PADDED, api_documents=[document]), library, RULES_OF_PROBLEMS, DRAFTING)
    assert isinstance(drafted, Draft) == is_taken
    if isinstance(drafted, Reject):
        assert drafted.reason == RejectReason.NO_TEXT
        assert drafted.detail == "items, number: the documentation only refers to a name that is hidden"
