"""The rules about names: their examples are checked as they are loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, RuleError
from pipeline.corpus.pins.read import read_pins
from pipeline.corpus.pins.rules import pin_rules
from tests.errors import raises


def test_an_example_that_does_not_hold_is_an_error_of_the_file(tmp_path: Path) -> None:
    text = (RULES / "pins.yaml").read_text()
    (tmp_path / "pins.yaml").write_text(text.replace("examples: [testenv:pinned", "examples: [testenv:newest", 1))
    with raises(RuleError, "pins.yaml", "testenv:newest", code="rule_example_wrong"):
        pin_rules(tmp_path)


def test_a_capped_library_may_be_written_as_people_write_it(tmp_path: Path) -> None:
    text = (RULES / "pins.yaml").read_text()
    (tmp_path / "pins.yaml").write_text(text.replace("capped: [numpy]", "capped: [NumPy, scikit_learn]"))
    assert pin_rules(tmp_path).capped == {"numpy", "scikit-learn"}


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("requirements.txt", None),
        ("x/requirements/base.txt", None),
        ("requires-install.txt", None),
        ("requirements-dev.txt", "dev"),
        ("test_requirements.txt", "test"),
        ("requirements/extras/redis.txt", "redis"),
        ("ci/requirements_py38.in", "py38"),
        ("constraints.txt", None),
    ],
)
def test_a_file_name_gives_the_group(path: str, group: str | None) -> None:
    (statement,) = read_pins({path: b"pandas"}).statements
    assert statement.group == group


def test_names_of_conda_are_those_of_the_index() -> None:
    pins = read_pins({"environment.yml": b"dependencies: [pytorch=1.13.1, pytables, ruamel_yaml, numpy]"})
    assert [statement.library for statement in pins.statements] == ["numpy", "ruamel-yaml", "tables", "torch"]
