from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.environments import Environment, Finished, Sandbox
from pipeline.terms import Outcome
from pipeline.validation import ValidationRules, probe

PATHS = {
    "lib": Outcome.PASSED,
    "lib.Box": Outcome.PASSED,
    "lib.Box.grow": Outcome.PASSED,
    "lib.Box.volume": Outcome.PASSED,
    "lib.Circle.radius": Outcome.PASSED,
    "lib.shapes": Outcome.PASSED,
    "lib.shapes.Circle": Outcome.PASSED,
    "lib.lazy": Outcome.PASSED,
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
class OnPath:
    """The sandbox, with a library where `site-packages` would be."""

    sandbox: Sandbox
    library: str
    kind: str = "test"

    def run(self, argv: Any, *, variables: Any = None, **rest: Any) -> Finished:
        return self.sandbox.run(argv, variables=variables | {"PYTHONPATH": self.library}, **rest)


@pytest.fixture
def with_library(old_and_new: Environment, library: Path, sandbox: Sandbox) -> tuple[Environment, Sandbox]:
    return old_and_new, OnPath(sandbox, str(library))


def test_every_path_gets_its_own_outcome(with_library: tuple[Environment, Sandbox], rules: ValidationRules) -> None:
    environment, sandbox = with_library
    no_lazy_modules = {"lib.lazy": Outcome.API_MISSING} if environment.python_version == "3.6" else {}  # PEP 562
    expected = PATHS | no_lazy_modules
    found = probe(environment, [*PATHS, "lib"], ["lib"], sandbox, rules)
    assert {path: result.outcome for path, result in found.items()} == expected
    assert found["lib.leaves.x"].detail == "the process ended or stood still while importing it"
    assert found["lib.Box.gone"].detail == "type object 'Box' has no attribute 'gone'"


def test_no_paths_no_process(environment: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    assert probe(environment, [], [], sandbox, rules) == {}


def test_an_interpreter_that_does_not_start(environment: Environment, sandbox: Sandbox, rules: ValidationRules) -> None:
    broken = replace(environment, python=Path("/nowhere/python"))
    found = probe(broken, ["a", "b"], [], sandbox, rules)
    assert [result.outcome for result in found.values()] == [Outcome.HARNESS_ERROR] * 2
    assert "No such file" in str(found["a"].detail)
