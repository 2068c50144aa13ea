"""Scores of a list of releases."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.families import compatibility

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
        ("", False),
        ("none", False),
    ],
)
def test_right_is_just_the_compatible_releases(answer: str, is_right: bool) -> None:
    assert compatibility(TASK, answer) == {Metric.RELEASES: is_right}
