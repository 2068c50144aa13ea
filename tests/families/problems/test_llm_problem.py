"""Problems by a model about changes: what it is told, what is wrong with drafts, and that crawled text cannot command."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.problems.llm_reading import Reader, text_of
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import ProblemText
from tests.families.problems.changed_world import GOOD, KIND, unwritten
from tests.families.problems.examples import SPELLED_NAME

READER = Reader(KIND, load(RULES / "drafting.yaml", DraftingRules), "solve")
CHOP, FUSE = GOOD["lib.chop"], GOOD["lib.fuse"]
TEST = "def test_{}():\n    assert solve([1], 1) == [[1]]\n"
DEEP = "    return " + "-" * 3000 + "1\n"


def test_a_statement_that_spells_the_name_is_refused_by_the_rules_for_that() -> None:
    wanted = unwritten("lib.chop")
    renamed = replace(wanted.changed, path="lib.chop_items")
    statement = {"statement": "With lib, chop all of the items into lists of a given length."}
    text = text_of(ProblemText(**CHOP | statement))
    asked = replace(wanted, changed=renamed, spelled_name=SPELLED_NAME)
    assert asked.spelling(text.statement) == ["chop", "items"]
    assert replace(asked, spelled_name=None).spelling(text.statement) == []
    asked = replace(asked, changed=replace(renamed, hidden=()))
    assert READER.problem(asked, text) == "statement: these words together give chop_items away: chop, items"


def problem(path: str = "lib.chop", **changed: Any) -> str | None:
    return READER.problem(unwritten(path), text_of(ProblemText(**GOOD[path] | changed)))


@pytest.mark.parametrize("path", GOOD)
def test_good_drafts_read_well(path: str) -> None:
    assert problem(path) is None


def test_what_is_told_has_both_releases_by_signature_document_and_example() -> None:
    told = unwritten("lib.fuse").facts
    assert (told["version"], told["other_version"], told["hidden"]) == ("1.1", "1.0", ["fuse", "glue_up"])
    assert (told["here"]["path"], told["there"]["path"]) == ("lib.fuse", "lib.glue_up")
    assert told["here"]["documentation"] == ["Put texts together."]
    assert (told["change"]["kind"], told["change"]["new"]) == ("renamed", "lib.fuse")
    chop = unwritten("lib.chop").facts
    assert chop["there"] is None
    assert "take([1, 2, 3], 2)" in chop["here"]["examples"][0]


def test_what_went_is_asked_for_in_the_last_version_that_has_it() -> None:
    narrowed = unwritten("lib.narrow").changed
    assert (narrowed.version, narrowed.other_version, narrowed.hidden) == ("1.0", "1.1", ("narrow", "fill"))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too few words": ({"statement": "Do it."}, "statement: it has 2 words"),
    "an endless word": ({"statement": "a b c d e f g h " + "x" * 7000}, "statement: it has 7016 characters"),
    "the name in the statement": ({"statement": f"{CHOP['statement']} Chopped."}, "hidden name away: 'Chopped'"),
    "the name in what is given": (
        {"starting_code": "from lib import chop\n\ndef solve(items, length):\n", "solution": "    return chop(items, 1)\n"},
        "starting_code: it gives a hidden name away: 'chop'",
    ),
    "the name in the visible test": ({"visible_test": "assert solve([1], 1)  # chop"}, "visible_test: it gives"),
    "no function's head": ({"starting_code": "import lib\n"}, "starting_code: it does not parse"),
    "another function": ({"starting_code": "def other(items, length):\n"}, "must be the head of solve"),
    "a body already": ({"starting_code": "def solve(items, length):\n    x = 1\n"}, "nothing of its body"),
    "no indentation": ({"solution": "return 1"}, "solution: it does not parse, line"),
    "no solution": ({"solution": "  \n"}, "solution: it does not parse"),
    "more than the body": ({"solution": "    return 1\n\nimport os\n"}, "solution: it must be the body of solve alone"),
    "another head": ({"solution": "    return 1\ndef solve(items):\n    return 2\n"}, "must be the body of solve alone"),
    "too long a body": ({"solution": "    x = 1\n" * 20}, "it has 20 statements, at most 12"),
    "too much code": ({"solution": "    x = 1\n" * 1000}, "solution: it has 10000 characters, at most 6000"),
    "nested too deeply": ({"solution": DEEP}, "solution: it cannot be read"),
    "an other solution that is none": ({"other_solution": "    return (\n"}, "other_solution: it does not parse"),
    "not the API": ({"solution": "    return [items]\n"}, "solution: it does not use lib.chop"),
    "the release's number": (
        {"solution": "    import lib\n    return lib.chop(items, lib.__version__)\n"}, "solution: it uses __version__",
    ),
    "a visible test of nothing": ({"visible_test": "assert 1 == 1"}, "visible_test: it must assert what solve gives"),
    "a visible test in a function": ({"visible_test": "def test():\n    assert solve([], 1)"}, "at the top"),
    "an empty visible test": ({"visible_test": ""}, "visible_test: there is no code in it"),
    "tests that import nothing": ({"hidden_tests": "def test_a(): pass\n"}, "from solution import solve"),
    "too few tests": ({"hidden_tests": "from solution import solve\n" + TEST.format("a")}, "1 test functions; 3 to 12"),
    "tests of one result": (
        {"hidden_tests": "from solution import solve\n" + "".join(TEST.format(name) for name in "abc")},
        "hidden_tests: 'return [[1]]' passes them all",
    ),
    "tests that ask the library": (
        {"hidden_tests": f"import lib\n{CHOP['hidden_tests']}\ndef test_b():\n    assert solve(lib.chop([], 1), 1) == []\n"},
        "the tests use lib.chop themselves",
    ),
    "tests that ask for the release": (
        {"hidden_tests": f"from importlib.metadata import version\n{CHOP['hidden_tests']}"}, "hidden_tests: it uses importlib",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_draft_is_said(case: str) -> None:
    changed, reason = WRONG[case]
    assert reason in (problem(**changed) or "")


NARROW = GOOD["lib.narrow"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"solution": "    return lib.narrow(lib.glue_up([text], ''), width, fill='*')\n"}, "lib.glue_up: changed in 1.1"),
        ({"hidden_tests": f"import lib\n{NARROW['hidden_tests']}def test_l():\n    assert solve(lib.glue_up([], ''), 1) == '*'\n"}, "lib.glue_up"),
        ({"starting_code": f"from lib import glue_up\n{NARROW['starting_code']}"}, "lib.glue_up"),
    ],
    ids=["solution", "tests", "what is given"],
)  # fmt: skip
def test_nothing_but_the_core_api_may_tell_the_releases_apart(changed: dict[str, str], said: str) -> None:
    assert said in (problem("lib.narrow", **changed) or "")


def test_where_the_other_version_lacks_the_core_api_what_else_is_used_tells_nothing() -> None:
    solution = "    from lib import fuse, chop\n    return fuse(chop(texts, 1)[0], mark)"
    assert problem("lib.fuse", solution=solution) is None


def test_an_api_may_be_used_that_bears_a_forbidden_name() -> None:
    forbidding = Reader(KIND.model_copy(update={"not_used": frozenset({"chop", "sys"})}), READER.drafting, "solve")
    wanted = unwritten("lib.chop")
    assert forbidding.problem(wanted, text_of(ProblemText(**CHOP))) is None
    other = text_of(ProblemText(**CHOP | {"solution": f"    import sys\n{CHOP['solution']}"}))
    assert "it uses sys," in (forbidding.problem(wanted, other) or "")


def test_the_old_name_is_hidden_too() -> None:
    assert "'glue up'" in (problem("lib.fuse", statement=f"{FUSE['statement']} Like glue up.") or "")


def test_the_form_takes_nothing_else() -> None:
    with pytest.raises(ValueError, match="extra"):
        ProblemText.model_validate_json(json.dumps(CHOP | {"shell": "rm"}))
