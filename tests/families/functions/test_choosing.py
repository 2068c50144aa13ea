"""Which tasks become functions, in which versions, and what is known of them before anything has run."""

from __future__ import annotations

from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.usages.rules import UsageRules
from pipeline.families.functions.choosing import Choice, Choices, within_quota
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.candidates import Candidates, ExampleTask, show
from pipeline.families.problems.library import Library
from pipeline.lake.rows import SnippetRow
from pipeline.lake.stage import Reject
from tests.families.completions_and_migrations.rows import TAGGING, document, life, releases, symbol
from tests.families.problems.examples import RULES_OF_PROBLEMS, example
from tests.families.problems.world import READ, READ_IT, SAME, SHOUT, TABLES, TAKE

USAGE = load(RULES / "usage.yaml", UsageRules)
LIMITS = load(RULES / "functions.yaml", FunctionRules)
STEADY: dict[str, list[Any]] = {
    "releases": releases("1.0", "1.1", "1.2", "1.3"),
    "symbols": [symbol("lib.steady", "1.0", "1.3")],
    "changes": [],
    "lifecycles": [life("lib.steady", "1.0", "1.3")],
    "documents": [document("lib.steady", "Return the number itself.", "1.0", "1.3")],
}


def chosen(snippets: list[SnippetRow], min_name_length: int = 2, **changed: list[Any]) -> list[Choice | Reject]:
    tables = {name: rows for name, rows in (TABLES | changed).items() if name not in ("snippets", "rewrites")}
    library = Library(**tables, tagging=TAGGING, usage=USAGE)
    shown = [each for each in show(snippets, library, RULES_OF_PROBLEMS) if isinstance(each, ExampleTask)]
    finder = Choices(Candidates(shown, [], library, RULES_OF_PROBLEMS), min_name_length)
    return [choice for each in shown for choice in finder.of(each)]


def choices(*given: Any, **changed: Any) -> list[Choice]:
    return [each for each in chosen(*given, **changed) if isinstance(each, Choice)]


def test_what_came_is_a_function_with_its_imports_whose_use_is_found_in_it() -> None:
    (choice,) = choices([TAKE])
    function = choice.function
    assert (
        function.program == "from lib import take\n\n\ndef solve(items, number: int):\n    return take(items, number)\n"
    )
    assert function.program[choice.use.name_start_byte : choice.use.name_end_byte] == "take"
    assert (function.version, function.path, function.hidden) == ("1.1", "lib.take", ("take",))
    assert function.docstrings == ("Return the first items.",)
    assert (choice.tags[1], choice.other_program) == (LibEvolutionEvalTag.INTRODUCED, None)


def test_what_has_the_old_name_is_the_program_of_the_other_version() -> None:
    (choice,) = choices([READ, READ_IT])
    assert choice.other_program == "import lib\n\n\ndef solve(text: str) -> list:\n    return lib.read_it(text)\n"
    assert choice.other_role is FunctionRun.OTHER_CODEMOD


def test_what_nothing_sets_apart_is_taken_in_the_first_and_the_last_version_that_can_be_compared() -> None:
    steady = example(">>> from lib import steady\n>>> steady(1)\n1\n", "lib.steady", "1.0", "1.3")
    assert [choice.function.version for choice in choices([steady], **STEADY)] == ["1.1", "1.3"]


def test_without_a_release_before_no_version_can_be_told_from_another() -> None:
    (reject,) = chosen([READ_IT])
    assert isinstance(reject, Reject)
    assert (reject.reason, reject.detail) == (
        RejectReason.NO_PREDECESSOR, "of 1.0 to 1.0 the lake holds no release before",
    )  # fmt: skip


def test_a_name_that_is_too_short_to_be_hidden_is_no_core_api() -> None:
    (reject,) = chosen([TAKE], min_name_length=5)
    assert isinstance(reject, Reject)
    assert (reject.reason, reject.detail) == (RejectReason.UNFIT_NAME, "it uses lib.take")


def test_what_sets_versions_apart_goes_first_and_every_limit_holds() -> None:
    twice = example(">>> import lib\n>>> lib.same('ab')\n['a', 'b']\n", "lib.same", "1.0", "1.1", file="b.py")
    found = choices([SAME, twice, SHOUT, READ, READ_IT])
    limits = LIMITS.model_copy(update={"max_per_library": 2, "max_per_path_and_version": 1})
    kept, rejects = within_quota(reversed(found), limits)
    assert [choice.function.path for choice in kept] == ["lib.read", "lib.shout"]
    assert {reject.reason for reject in rejects} <= {RejectReason.OVER_QUOTA, RejectReason.DUPLICATE}
    assert len(kept) + len(rejects) == len(found)
