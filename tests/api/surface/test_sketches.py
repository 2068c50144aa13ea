"""Sketches of bodies: equal for equal bodies, and close to the true share of common lines."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.sketches import SIZE, line_hashes, similarity, sketch
from pipeline.api.surface.visit import visit_file
from tests.api.surface.trees import SURFACE_RULES

LINES = st.lists(st.text("abc", max_size=3), max_size=SIZE // 2)


def sketched(lines: list[str]) -> list[int]:
    return sketch(line_hashes("\n".join(lines).encode()))


def jaccard(one: list[str], other: list[str]) -> float:
    left, right = {line for line in one if line}, {line for line in other if line}
    return len(left & right) / len(left | right) if left | right else 1.0


@given(LINES, LINES)
def test_few_lines_are_compared_exactly(one, other):
    assert similarity(sketched(one), sketched(other)) == pytest.approx(jaccard(one, other))


@pytest.mark.parametrize("shared", [0, 50, 100, 200])
def test_many_lines_are_estimated(shared):
    rng = random.Random(7)
    errors = []
    for _ in range(200):
        lines = [str(rng.random()) for _ in range(400 - shared)]
        one, other = lines[:200], lines[200 - shared :]
        errors.append(similarity(sketched(one), sketched(other)) - jaccard(one, other))
    # the estimate is unbiased, with a standard deviation of at most 1 / (2 * sqrt(SIZE)) for each
    assert abs(sum(errors) / len(errors)) < 0.03
    assert max(map(abs, errors)) < 0.5


def definition(source: str, name: str = "f"):
    return visit_file("pkg", "pkg/__init__.py", source.encode(), SURFACE_RULES).definitions[name]


def test_the_sketch_is_of_the_body_alone():
    plain = definition("def f(a):\n    b = a\n\n    return b\n").sketch
    assert (
        definition("@deco\ndef f(a, b=1):\n    '''Doc.\n\n    more\n    '''\n    b = a\n    return b\n").sketch == plain
    )
    indented = definition("class f:\n    def m(self):\n        b = a\n        return b\n")
    assert indented.members["m"].sketch == plain
    assert indented.sketch == []
    assert len(plain) == 2
    assert definition("def f(): return 1\n").sketch == definition("def f():\n    return 1\n").sketch != []
    assert definition("def f():\n    'Doc.'\n").sketch == []
