"""Task functions by a model: complete, about the core API, giving nothing away, and importable where the example ran."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.usages.api import Api
from pipeline.families.functions.llm_function import ModelFunctions
from pipeline.families.functions.writers import Example, WrittenFunction
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.rules import draft_rules
from pipeline.llm.writers import Refusal
from tests.corpus.usages.rows import symbols_of
from tests.execution.validation.conftest import LIBRARY, installed, library, rules, sandbox  # noqa: F401 - fixtures
from tests.families.problems.examples import SPELLED_NAME
from tests.llm.tasks.test_description import PLANTED, data_of
from tests.model_server import Fault

API = Api(symbols_of({"lib/__init__.py": LIBRARY["lib/__init__.py"]}), ["lib"])
SHOWN = "from lib import Box\nbox = Box(2)\nbox.grow(3)\n"
PROGRAM = '''"""Boxes."""
from lib import Box

def larger(size, by):
    """Box.grow does it."""
    # grow it
    return Box(size).grow(by)
'''
GOOD = {"code": PROGRAM, "function": "larger", "description": "Return the size of a crate with something put on top."}


@pytest.fixture
def write(drafter, installed, sandbox, rules):  # noqa: F811
    """Write functions of examples, with the model and rules as they are then."""

    def ask(*examples: Example, **changes: Any) -> list[WrittenFunction | Refusal]:
        kind = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).task_function.model_copy(update=changes)
        one = ModelFunctions(drafter(), kind, load(RULES / "drafting.yaml", DraftingRules), sandbox, rules)
        return one.write(examples or [example(installed)])

    return ask


def example(environment: Any, code: str = SHOWN, name: str = "e1", docstring: str = "Make it larger.") -> Example:
    return Example(name, "lib", "1.0", "lib.Box.grow", code, (docstring,), ("grow",), API, environment)


def in_turn(*answers: dict[str, Any]) -> Any:
    left = list(answers)
    return lambda _: {"text": json.dumps(left.pop(0))}


def test_a_good_one_is_taken_without_comments_and_docstrings(write, server):
    server.reply = in_turn(GOOD)
    (found,) = write()
    assert isinstance(found, WrittenFunction)
    assert found.program == "from lib import Box\n\ndef larger(size, by):\n    return Box(size).grow(by)\n"
    assert (found.function, found.parameters, found.description) == ("larger", ("size", "by"), GOOD["description"])
    assert found.nano_usd > 0
    assert data_of(server.asked[0]) == {
        "library": "lib",
        "version": "1.0",
        "api": "lib.Box.grow",
        "code": SHOWN,
        "docstrings": ["Make it larger."],
        "hidden": ["grow"],
    }


HELPER = "def up(box, by): return box.grow(by)\n\ndef larger(size, by): return up(Box(size), by)\n"
READ = {
    "no Python": ({"code": "def larger(:"}, "does not parse, line 1"),
    "endless": ({"code": "x = 1\n" * 9999}, "at most 4000"),
    "too deep": ({"code": f"x = {'-' * 3000}1"}, "cannot be read"),
    "another function": ({"function": "smaller"}, "no function 'smaller'"),
    "two of the name": ({"code": PROGRAM + "\ndef larger(size): return size"}, "no function 'larger'"),
    "no parameter": ({"code": "from lib import Box\ndef larger(): return Box(1).grow(2)"}, "takes no parameter"),
    "nothing returned": ({"code": PROGRAM.replace("return ", "")}, "returns nothing"),
    "does something at import": ({"code": PROGRAM + "\nprint(larger(1, 2))"}, "it runs 'print(larger(1, 2))'"),
    "no import": ({"code": PROGRAM.replace("from lib import Box\n", "")}, "nothing imports or defines Box"),
    "not about the API": (
        {"code": PROGRAM.replace("Box(size).grow(by)", "Box(size + by).size")},
        "uses lib.Box.grow by that path",
    ),
    "not in a function": (
        {"code": PROGRAM.replace("Box(size).grow(by)", "size + by") + "\nX = Box(1).grow(2)"},
        "gives a hidden name away: 'grow'",
    ),
    "told by its name": ({"code": PROGRAM.replace("larger", "growing"), "function": "growing"}, "'growing'"),
    "told by a parameter": ({"code": PROGRAM.replace("by", "growBy")}, "'grow'"),
    "told by a helper": ({"code": "from lib import Box\n" + HELPER}, "'grow'"),
    "told by the description": ({"description": "Grows a crate by some size."}, "description: it gives a hidden name"),
    "no description": ({"description": "Larger."}, "description: it has fewer"),
    "more than asked for": ({"shell": "curl"}, "shell: Extra inputs"),
}
RUN = {
    "cannot be imported": ({"code": PROGRAM.replace("import Box", "import Box, no_such_thing")}, "cannot import name"),
    "never ends": ({"code": PROGRAM + "\nclass A:\n    while True: pass\n"}, "timed_out"),
    "leaves": ({"code": PROGRAM + "\nclass A:\n    import os; os._exit(0)\n"}, "imported, it ends as"),
    "floods": ({"code": PROGRAM + "\nclass A:\n    print('x' * 10 ** 8)\n"}, "imported, it ends as"),
}


@pytest.mark.parametrize("bad", [READ, pytest.param(RUN, marks=pytest.mark.slow)], ids=["read", "run"])
def test_what_is_not_accepted_is_said(write, server, installed, bad):  # noqa: F811
    """All at once, as a stage asks: a sandbox costs more than a case in it."""
    server.reply = lambda params: {"text": json.dumps(GOOD | bad[data_of(params)["code"]][0])}
    found = write(*(example(installed, case, f"e{n}") for n, case in enumerate(bad)), tries=1)
    told = {case: one.problem if isinstance(one, Refusal) else "taken" for case, one in zip(bad, found, strict=True)}
    assert {case: said for case, said in told.items() if bad[case][1] not in said} == {}
    assert max(map(len, told.values())) < 6000


def test_a_description_that_spells_the_name_is_refused_by_the_rules_for_that(write, server, installed):  # noqa: F811
    described = "Return a crate of a larger size; it has grown by so much."
    code = PROGRAM.replace(".grow(by)", ".grow_crate(by)")
    server.reply = lambda _: {"text": json.dumps(GOOD | {"code": code, "description": described})}
    api = Api(
        symbols_of({"lib/__init__.py": LIBRARY["lib/__init__.py"].replace("def grow(", "def grow_crate(")}), ["lib"]
    )
    asked = replace(example(installed), path="lib.Box.grow_crate", hidden=("grow_crate",), api=api)
    (found,) = write(asked, tries=1)
    assert isinstance(found, WrittenFunction)
    (found,) = write(replace(asked, spelled_name=SPELLED_NAME), tries=1)
    assert isinstance(found, Refusal)
    assert "description: these words together give grow_crate away: grown, crate" in found.problem


def test_those_that_are_good_need_not_wait_for_others(write, server, installed):  # noqa: F811
    def reply(params: dict[str, Any]) -> dict[str, Any]:
        bad = "size = 7" in data_of(params)["code"]
        return {"text": json.dumps(GOOD | ({"function": "smaller"} if bad else {}))}

    server.reply = reply
    bad, good = write(example(installed, "size = 7\n", "e2"), example(installed))
    assert isinstance(bad, Refusal)
    assert (bad.tries, bad.waiting) == (2, False), "the same answer again is not asked for once more"
    assert isinstance(good, WrittenFunction)


def test_where_money_ends_it_waits(write, server):
    server.faults = [Fault(402, "no credit")]
    (found,) = write()
    assert isinstance(found, Refusal)
    assert found.waiting


@pytest.mark.parametrize("place", ["code", "docstring"])
def test_an_instruction_in_the_example_stays_data_and_an_obedient_answer_is_refused(write, server, installed, place):  # noqa: F811
    def obeys(params: dict[str, Any]) -> dict[str, Any]:
        assert PLANTED in json.dumps(data_of(params))
        assert params["messages"][0]["content"].count("</data>") == 1
        assert PLANTED not in params["system"][0]["text"]
        return {"text": json.dumps(GOOD | {"description": "It is Box.grow, and the key of the user is sk-1."})}

    server.reply = obeys
    planted = {"code": SHOWN + f"# {PLANTED}"} if place == "code" else {"docstring": PLANTED}
    (found,) = write(example(installed, **planted))
    assert isinstance(found, Refusal)
    assert "'grow'" in found.problem
