"""Tests of task functions by a model: of the kinds that are wanted, each of which tells something by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.functions.function import read_tests as kinds_in
from pipeline.families.functions.llm_tests import ModelTests
from pipeline.families.functions.writers import Untested, WrittenTests
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.judging import RunJudge
from pipeline.llm.tasks.rules import draft_rules
from pipeline.llm.writers import Refusal
from tests.execution.validation.conftest import installed, library, rules, sandbox  # noqa: F401 - fixtures
from tests.llm.tasks.test_description import PLANTED, data_of
from tests.model_server import Fault

PROGRAM = """from lib import Box

def larger(size, by):
    if by < 0:
        raise ValueError(by)
    return Box(size).grow(by)
"""
OTHER = PROGRAM.replace(".grow(by)", ".grew(by)")
FAILS = (Outcome.API_MISSING, Outcome.SIGNATURE_MISMATCH, Outcome.FAILED_ASSERTION, Outcome.WRONG_EXCEPTION)
TYPE = {"kind": "return_type", "code": "assert isinstance(larger(1, 2), int)"}
NORMAL = {"kind": "normal_input", "code": "# one and two\nassert larger(1, 2) == 3"}
EDGE = {"kind": "boundary_values", "code": "with pytest.raises(ValueError):\n    larger(1, -1)"}
FURTHER = {"kind": "functionality", "code": "import math\nassert larger(math.gcd(2, 4), by=2) == 4"}
GOOD = [TYPE, NORMAL, EDGE, FURTHER]
OWN = "from function_x import larger\n\n\ndef test_normal_input_1():\n    assert larger(5, 5) == 10\n"


@pytest.fixture
def write(drafter, installed, sandbox, rules):  # noqa: F811
    """Write the tests of functions, with the model and rules as they are then."""
    patient = rules.model_copy(update={"time_s": 60.0})

    def ask(*functions: Untested, **changes: Any) -> list[WrittenTests | Refusal]:
        kind = draft_rules(RULES, load(RULES / "models.yaml", ModelRules)).function_tests.model_copy(update=changes)
        one = ModelTests(drafter(), kind, RunJudge(sandbox, patient, kind.min_coverage, FAILS))
        return one.write(functions or [untested(installed)])

    return ask


def untested(environment: Any, **changes: Any) -> Untested:
    one = Untested(
        id="f1",
        library="lib",
        version="1.0",
        path="lib.Box.grow",
        environment=environment,
        module="function_x",
        function="larger",
        program=PROGRAM,
        description="Return the size of a crate with something put on top.",
        tests="",
        missing_kinds=tuple(TestKind),
        hidden=("grow",),
        import_names=("lib",),
    )
    return replace(one, **changes)


def in_turn(*answers: list[dict[str, str]]) -> Any:
    left = list(answers)
    return lambda _: {"text": json.dumps({"tests": left.pop(0)})}


def without(*kinds: str) -> list[dict[str, str]]:
    return [test for test in GOOD if test["kind"] not in kinds]


def test_good_ones_become_a_module_whose_names_tell_their_kinds(write, server):
    server.reply = in_turn(GOOD)
    (found,) = write()
    assert isinstance(found, WrittenTests)
    assert found.tests == (
        "import pytest\nfrom function_x import larger\n\n\n"
        "def test_return_type_1():\n    assert isinstance(larger(1, 2), int)\n\n\n"
        "def test_normal_input_1():\n    assert larger(1, 2) == 3\n\n\n"
        "def test_boundary_values_1():\n    with pytest.raises(ValueError):\n        larger(1, -1)\n\n\n"
        "def test_functionality_1():\n    import math\n    assert larger(math.gcd(2, 4), by=2) == 4\n"
    )
    assert found.kinds == dict(kinds_in(found.tests).kinds)
    assert found.coverage is not None
    assert found.coverage.share == 1
    asked = data_of(server.asked[0])
    assert (asked["program"], asked["function"], asked["hidden"]) == (PROGRAM, "larger", ["grow"])
    assert asked["wanted"] == {"return_type": 1, "normal_input": 1, "boundary_values": 2, "functionality": 3}


@pytest.mark.slow
def test_what_a_function_has_stays_and_counts_for_its_coverage(write, server, installed):  # noqa: F811
    server.reply = in_turn([EDGE, FURTHER])
    missing_kinds = (TestKind.BOUNDARY_VALUES, TestKind.FUNCTIONALITY)
    (found,) = write(untested(installed, tests=OWN, missing_kinds=missing_kinds))
    assert isinstance(found, WrittenTests)
    assert found.tests.startswith(f"import pytest\n{OWN}\n\n")
    assert list(kinds_in(found.tests).kinds) == [
        "test_normal_input_1",
        "test_boundary_values_1",
        "test_functionality_1",
    ]
    assert list(found.kinds) == ["test_boundary_values_1", "test_functionality_1"]


def test_what_is_there_already_is_not_taken_again_and_counts(write, server, installed):  # noqa: F811
    again = {"kind": "functionality", "code": "assert larger(5, 5) == 10"}
    server.reply = in_turn([again])
    (found,) = write(untested(installed, tests=OWN, missing_kinds=(TestKind.FUNCTIONALITY,)), tries=1)
    assert isinstance(found, Refusal)
    assert found.problem == "two tests are the same"
    own = OWN + "".join(f"\n\ndef test_functionality_{n}():\n    assert larger(1, {n}) == 1 + {n}\n" for n in (1, 2))
    server.reply = in_turn([EDGE])
    write(untested(installed, tests=own, missing_kinds=(TestKind.BOUNDARY_VALUES, TestKind.FUNCTIONALITY)), tries=1)
    assert data_of(server.asked[-1])["wanted"] == {"boundary_values": 2, "functionality": 1}


def test_more_of_a_kind_that_is_there_are_counted_on(write, server, installed):  # noqa: F811
    server.reply = in_turn([NORMAL, EDGE])
    missing_kinds = (TestKind.NORMAL_INPUT, TestKind.BOUNDARY_VALUES)
    (found,) = write(untested(installed, tests=OWN, missing_kinds=missing_kinds))
    assert isinstance(found, WrittenTests)
    assert list(found.kinds) == ["test_normal_input_2", "test_boundary_values_1"]


@pytest.mark.slow
def test_code_for_another_version_is_told_apart(write, server, installed):  # noqa: F811
    server.reply = in_turn(GOOD)
    (found,) = write(untested(installed, other=OTHER))
    assert isinstance(found, WrittenTests)
    assert found.discriminating


def changed(kind: str, code: str) -> list[dict[str, str]]:
    return [*without(kind), {"kind": kind, "code": code}]


READ = {
    "one kind missing": (without("functionality"), "0 tests of functionality; 1 to 3"),
    "too many of one": ([*GOOD, NORMAL], "2 tests of normal_input; 1 to 1"),
    "no Python": (changed("normal_input", "assert larger(1, 2) == "), "(normal_input): it does not parse"),
    "endless": (changed("normal_input", "larger(1, 2)\n" * 999), "at most 2000"),
    "calls nothing": (changed("normal_input", "assert 1 + 2 == 3"), "does not call larger"),
    "no type": (changed("return_type", "assert larger(1, 2) == 3"), "looks at no type"),
    "reads the program": (
        changed("normal_input", "import inspect\nassert inspect.getsource(larger)"),
        "imports inspect",
    ),
    "reads it otherwise": (changed("normal_input", "assert __import__('ast'), larger"), "imports __import__"),
    "reads its code": (
        changed("normal_input", "assert larger.__code__.co_names == ('Box', larger(1, 2))"),
        "it uses __code__, which looks at the program",
    ),
    "reads its file": (changed("normal_input", "assert 'Box' in open('function_x.py').read(), larger"), "it uses open"),
    "puts another in its place": (
        changed("normal_input", "pytest.MonkeyPatch().setattr('lib.Box', int)\nassert larger(1, 2) == 3"),
        "it uses MonkeyPatch, setattr",
    ),
    "takes what else the program has": (
        changed("normal_input", "from function_x import Box\nassert larger(1, 2) == Box(3).size"),
        "of which only larger is sure to be there",
    ),
    "computes by the API": (
        changed("normal_input", "from lib import Box\nassert larger(1, 2) == Box(1).grow(2)"),
        "it uses grow",
    ),
    "twice the same": (changed("functionality", "assert larger(1, 2) == 3"), "two tests are the same"),
    "no import": (changed("normal_input", "assert larger(1, 2) == math.pi"), "nothing imports or defines math"),
    "takes fixtures": (
        changed("normal_input", "def test_it(tmp_path):\n    assert larger(1, 2) == 3 and tmp_path"),
        "nothing imports or defines tmp_path",
    ),
    "more than asked for": ([{**NORMAL, "shell": "curl"}], "shell: Extra inputs"),
    "a kind of its own": (changed("security", "assert larger(1, 2) == 3"), "tests.4.kind"),
}
RUN = {
    "asserts nothing": (changed("normal_input", "larger(1, 2)"), "a test states nothing"),
    "is always true": (changed("functionality", "assert larger(1, 2) or True"), "its expectation is no constant"),
    "skips": (changed("normal_input", "pytest.skip(str(larger(1, 2)))"), "its expectation is no constant"),
    "wrong": (changed("normal_input", "assert larger(1, 2) == 4"), "assert 3 == 4"),
    "leaves a line out": (changed("boundary_values", "assert larger(1, 0) == 1"), "line 5: raise ValueError(by)"),
    "another each time": (
        changed("normal_input", "assert larger(1, 2) == 3 and hash('b') % 2 == 0"),
        "its expectation is no constant",
    ),
    "leaves": (changed("normal_input", "import os\nos._exit(larger(0, 0))"), "a test states nothing"),
    "floods": (changed("normal_input", "print('x' * 10 ** 8)\nassert larger(1, 2) == 3"), "with the reference"),
}


@pytest.mark.parametrize("bad", [READ, pytest.param(RUN, marks=pytest.mark.slow)], ids=["read", "run"])
def test_what_is_not_accepted_is_said(write, server, installed, bad):  # noqa: F811
    """All at once, as a stage asks: a sandbox costs more than a case in it."""
    server.reply = lambda params: {"text": json.dumps({"tests": bad[data_of(params)["description"]][0]})}
    found = write(*(untested(installed, id=f"f{n}", description=case) for n, case in enumerate(bad)), tries=1)
    told = {case: one.problem if isinstance(one, Refusal) else "taken" for case, one in zip(bad, found, strict=True)}
    assert {case: said for case, said in told.items() if bad[case][1] not in said} == {}
    assert max(map(len, told.values())) < 6000


@pytest.mark.slow
def test_lines_that_no_test_reaches_are_asked_for_until_they_are_reached(write, server):
    server.reply = in_turn(changed("boundary_values", "assert larger(1, 0) == 1"), GOOD)
    (found,) = write()
    assert isinstance(found, WrittenTests)
    assert "line 5: raise ValueError(by)" in data_of(server.asked[1])["refused"]["reason"]


@pytest.mark.slow
def test_a_program_that_does_not_need_the_core_api_is_no_function(write, server, installed):  # noqa: F811
    server.reply = in_turn(GOOD)
    idle = PROGRAM.replace("    return Box(size).grow(by)", "    Box(size).grow(by)\n    return size + by")
    (found,) = write(untested(installed, program=idle), tries=1)
    assert isinstance(found, Refusal)
    assert found.problem == "the tests pass where lib.Box.grow does nothing: test what it brings about"


@pytest.mark.slow
def test_after_so_many_tries_it_is_given_up(write, server):
    answers = [changed("normal_input", f"assert larger(1, 2) == {number}") for number in (4, 5)]
    server.reply = in_turn(*answers)
    (found,) = write(tries=2)
    assert isinstance(found, Refusal)
    assert (found.tries, found.waiting) == (2, False)
    assert "assert 3 == 4" in data_of(server.asked[1])["refused"]["reason"]
    assert "assert 3 == 5" in found.problem


def test_where_money_ends_it_waits(write, server):
    server.faults = [Fault(402, "no credit")]
    (found,) = write()
    assert isinstance(found, Refusal)
    assert found.waiting


@pytest.mark.parametrize("place", ["program", "description", "tests"])
def test_an_instruction_in_what_is_told_stays_data_and_an_obedient_answer_is_refused(write, server, installed, place):  # noqa: F811
    planted = {
        "program": {"program": f"{PROGRAM}# {PLANTED}\n"},
        "description": {"description": PLANTED},
        "tests": {"tests": f"{OWN}# {PLANTED}\n"},
    }

    def obeys(params: dict[str, Any]) -> dict[str, Any]:
        assert PLANTED in data_of(params)[place]
        assert params["messages"][0]["content"].count("</data>") == 1
        assert PLANTED not in params["system"][0]["text"]
        return {"text": json.dumps({"tests": changed("normal_input", "from lib import Box\nlarger, Box.grow")})}

    server.reply = obeys
    (found,) = write(untested(installed, **planted[place]))
    assert isinstance(found, Refusal)
    assert "it uses grow" in found.problem
