"""Scores of a list of releases."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.families import compatibility, named_releases

TASK: Any = {"library": "demo", "releases": ["1.0", "1.1", "2.0rc1"], "compatible": ["1.0", "1.1"]}


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("1.0, 1.1", True),
        ("1.1,1.0", True),
        ("1.0\n1.1\n", True),
        ('["1.0", "1.1"]', True),
        ("- 1.0\n- `1.1`.", True),
        ("1.0", False),
        ("1.0, 1.1, 2.0rc1", False),
        ("1.0, 1.1, 3.0", False),
        ("1.0 and 1.1", True),
        ("Answer: 1.0, 1.1", True),
        ("**Compatible releases:** v1.0, V1.1", True),
        ("demo 1.0, demo 1.1", True),
        ("demo==1.0\ndemo==1.1", True),
        ("Answer: 1.0", False),
        ("other==1.0, other==1.1", False),
        ("all but 1.0, 1.1", False),
        ("1.0-1.1", False),
        ("1.0 to 1.1", False),
        *(
            (f"demo{operator}1.0, demo{operator}1.1", False)
            for operator in (">=", "<=", "<", ">", "~=", "!=", "^", "=")
        ),
        ("demo === 1.0, demo == 1.1", True),
        ("demo>= `1.0`, 1.1", False),
        ("1.0 <= demo, 1.1", False),
        ("<1.0, 1.1", False),
        ("~1.0, 1.1", False),
        ("1.0, >=1.1", False),
        ("1.0 - 1.1", False),
        ("1.0 -1.1", False),
        ("`1.0` – `v1.1`", False),
        ("1.0…1.1", False),
        ("1.0 ... 1.1", False),
        ("demo - 1.0\ndemo - 1.1", True),
        ("1.0\n- 1.1", True),
        ("1.0.*, 1.1", False),
        ("**1.0**, **1.1.**", True),
        ("Releases\n========\n1.0, 1.1", False),
        ("**Answer:**\n===\n1.0, 1.1", True),
        ("DEMO==1.0\nDemo==1.1", True),
        ("", False),
        ("none", False),
    ],
)
def test_right_is_just_the_compatible_releases(answer: str, is_right: bool) -> None:
    assert compatibility(TASK, answer) == {Metric.RELEASES: is_right}


@pytest.mark.parametrize("name", ["scikit-learn", "scikit_learn", "Scikit.Learn"])
def test_a_library_has_one_canonical_name(name: str) -> None:
    assert named_releases("scikit-learn", f"{name}==1.0, {name} 1.1") == {"1.0", "1.1"}


@pytest.mark.parametrize("text", [">" * 100_000, "1 " * 50_000, "1" + " " * 100_000, "< " * 50_000, "1-" * 50_000])
def test_long_answers_are_read(text: str) -> None:
    assert len(named_releases("demo", text)) <= 1
