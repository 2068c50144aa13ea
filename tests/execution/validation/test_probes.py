from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.processes import Launch
from pipeline.execution.sandbox.sandbox import Program, Sandbox
from pipeline.execution.validation.probes import probe
from pipeline.execution.validation.rules import ValidationRules

PATHS = {
    "lib": Outcome.PASSED,
    "lib.Box": Outcome.PASSED,
    "lib.Box.grow": Outcome.PASSED,
    "lib.Box.volume": Outcome.PASSED,
    "lib.Circle.radius": Outcome.PASSED,
    "lib.shapes": Outcome.PASSED,
    "lib.shapes.Circle": Outcome.PASSED,
    "lib.lazy": Outcome.PASSED,
    "lib.moving.Old": Outcome.API_MISSING,
    "lib.moving.Old.deeper": Outcome.API_MISSING,
    "lib.moving.Extra": Outcome.IMPORT_ERROR,
    "lib.moving.Optional": Outcome.IMPORT_ERROR,
    "lib.gone": Outcome.API_MISSING,
    "lib.Box.gone": Outcome.API_MISSING,
    "lib.gone.deeper": Outcome.API_MISSING,
    "lib.shapes.Square": Outcome.API_MISSING,
    "gone": Outcome.API_MISSING,
    "lib.broken": Outcome.IMPORT_ERROR,
    "lib.broken.x": Outcome.IMPORT_ERROR,
    "lib.wrong.x": Outcome.IMPORT_ERROR,
    "lib.leaves.x": Outcome.IMPORT_ERROR,
    "lib.waits": Outcome.IMPORT_ERROR,
    "lib.needs_extra": Outcome.PASSED,
}


@dataclass(frozen=True)
class OnPath(Sandbox):
    """The sandbox, with a library where `site-packages` would be."""

    sandbox: Sandbox
    library: str
    kind: str = "test"

    def launch(self, program: Program) -> AbstractContextManager[Launch]:
        variables = dict(program.variables) | {"PYTHONPATH": self.library}
        return self.sandbox.launch(replace(program, variables=variables))


@pytest.fixture
def with_library(old_and_new: Environment, library: Path, sandbox: Sandbox) -> tuple[Environment, Sandbox]:
    return old_and_new, OnPath(sandbox, str(library))


def test_every_path_gets_its_own_outcome(with_library: tuple[Environment, Sandbox], rules: ValidationRules) -> None:
    environment, sandbox = with_library
    no_lookups = dict.fromkeys(["lib.lazy", "lib.moving.Extra", "lib.moving.Optional"], Outcome.API_MISSING)  # PEP 562
    expected = PATHS | (no_lookups if environment.python_version == "3.6" else {})
    found = probe(environment, [*PATHS, "lib"], sandbox, rules)
    assert {path: result.outcome for path, result in found.items()} == expected
    assert found["lib.leaves.x"].detail == "the process ended or stood still while importing it"
    assert found["lib.Box.gone"].detail == "type object 'Box' has no attribute 'gone'"


SEEN: dict[str, Any] = {
    "lib.described": {"kind": "module", "name": "lib.described"},
    "lib.described.sys": {"kind": "module", "name": "sys"},
    "lib.described.LIMIT": {"kind": "attribute", "type": "builtins.int", "value": "3"},
    "lib.described.PAIR": {"kind": "attribute", "type": "builtins.tuple", "value": "(1, 'a')"},
    "lib.described.NAMES": {"kind": "attribute", "type": "builtins.list"},
    "lib.described.LONG": {"kind": "attribute", "type": "builtins.str"},
    "lib.described.WHERE": {"kind": "attribute", "type": "builtins.str"},
    "lib.described.partial": {
        "kind": "attribute",
        "type": "functools.partial",
        "signature": [["b", "positional_or_keyword", True, "2"]],
    },
    "lib.described.plain": {
        "kind": "function",
        "signature": [
            ["a", "positional_or_keyword", False, None],
            ["b", "positional_or_keyword", True, "2"],
            ["args", "var_positional", False, None],
            ["c", "keyword_only", True, None],
            ["kwargs", "var_keyword", False, None],
        ],
    },
    "lib.described.later": {"kind": "function", "signature": [], "async": True},
    "lib.described.cached": {
        "kind": "function",
        "signature": [["x", "positional_or_keyword", False, None]],
        "accepts": [["x", "positional_or_keyword", False, None]],
        "wrappers": ["functools"],
    },
    "lib.described.counted": {"kind": "function", "signature": [], "accepts": [], "wrappers": ["lib.described"]},
    "lib.described.marked": {"kind": "function", "signature": [], "deprecated": True},
    "lib.described.Base": {
        "kind": "class",
        "bases": [],
        "mro": [],
        "signature": [["size", "positional_or_keyword", True, "1.5"]],
    },
    "lib.described.Base.method": {"kind": "method", "signature": [["x", "positional_or_keyword", False, None]]},
    "lib.described.Base.made": {"kind": "method", "signature": [["x", "positional_or_keyword", False, None]]},
    "lib.described.Base.fixed": {"kind": "method", "signature": [["x", "positional_or_keyword", False, None]]},
    "lib.described.Base.remembered": {
        "kind": "method",
        "signature": [["x", "positional_or_keyword", False, None]],
        "accepts": [["x", "positional_or_keyword", False, None]],
        "wrappers": ["functools"],
    },
    "lib.described.Base.area": {"kind": "property"},
    "lib.described.Base.slot": {"kind": "attribute", "type": "builtins.member_descriptor"},
    "lib.described.Derived": {
        "kind": "class",
        "bases": ["lib.described.Base"],
        "mro": ["lib.described.Base"],
        "signature": [["size", "positional_or_keyword", True, "1.5"]],
        "deprecated": True,
    },
    "lib.described.Below": {
        "kind": "class",
        "bases": ["lib.described.Derived"],
        "mro": ["lib.described.Derived", "lib.described.Base"],
        "signature": [["size", "positional_or_keyword", True, "1.5"]],
    },
    "lib.described.Color.RED": {"kind": "attribute", "type": "lib.described.Color"},
    "lib.described.one.area": {"kind": "property"},
    "lib.described.one.method": {"kind": "function", "signature": [["x", "positional_or_keyword", False, None]]},
    "lib.described.pretender": {"kind": "attribute", "type": "lib.described.Pretender"},
    "lib.old": {"kind": "module", "name": "lib.old", "deprecated": True},
}


def test_what_stands_at_a_path_is_described(with_library: tuple[Environment, Sandbox], rules: ValidationRules) -> None:
    environment, sandbox = with_library
    found = probe(environment, list(SEEN), sandbox, rules)
    assert {path: msgspec.json.decode(result.observation or "null") for path, result in found.items()} == SEEN


def test_a_name_that_warns_is_seen_as_deprecated(
    with_library: tuple[Environment, Sandbox], rules: ValidationRules
) -> None:
    environment, sandbox = with_library
    if environment.python_version == "3.6":
        pytest.skip("modules have a __getattr__ from Python 3.7 on (PEP 562)")
    seen = [result.observation for result in probe(environment, ["lib.lazy", "lib.leaving"], sandbox, rules).values()]
    assert seen == [
        '{"kind": "attribute", "type": "builtins.int", "value": "1"}',
        '{"deprecated": true, "kind": "attribute", "type": "builtins.int", "value": "2"}',
    ]


def test_no_paths_no_process(environment: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    assert probe(environment, [], sandbox, rules) == {}


def test_an_interpreter_that_does_not_start(environment: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    broken = replace(environment, python=Path("/nowhere/python"))
    found = probe(broken, ["a", "b"], sandbox, rules)
    assert [result.outcome for result in found.values()] == [Outcome.HARNESS_ERROR] * 2
    assert "No such file" in str(found["a"].detail)
