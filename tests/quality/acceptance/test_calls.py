"""Which calls about a parameter fit both signatures; properties over made-up signatures, and cases by hand."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.quality.acceptance.calls import NAMED, POSITIONAL, Call, breaks, takes_call


def signature(text: str) -> inspect.Signature:
    namespace: dict[str, Any] = {}
    exec(f"def f({text}): pass", namespace)
    return inspect.signature(namespace["f"])


CASES = [
    # old, new, name before and after, breaks
    ("a", "a, b", "b", "b", True),
    ("a", "a, b=1", "b", "b", False),
    ("a", "a, *, b", "b", "b", True),
    ("a", "a, *args", "args", "args", False),
    ("a, b", "a", "b", "b", True),
    ("a, b=1", "a", "b", "b", True),
    ("a, b, /", "a, *args", "b", "b", False),
    ("a, *, b=1", "a, **kwargs", "b", "b", False),
    ("a, b=1", "a, **kwargs", "b", "b", True),
    ("a, b=1", "a, *args, **kwargs", "b", "b", False),
    ("a, b=1, c=2", "a, c=2, **kwargs", "b", "b", True),
    ("a, *args", "a", "args", "args", True),
    ("a, **kwargs", "a", "kwargs", "kwargs", True),
    ("a, b", "a, c", "b", "c", True),
    ("a, b, /", "a, c, /", "b", "c", False),
    ("a, b", "a, *, b", "b", "b", True),
    ("a, b", "a, b, /", "b", "b", True),
    ("a, *, b", "a, b", "b", "b", False),
    ("a, b=1", "a, b", "b", "b", True),
    ("a, b", "a, b=1", "b", "b", False),
    # pandas 2.0: all of them became keyword-only, and only of the first a call by position is its own fault
    ("a=1, b=2", "*, a=1, b=2", "a", "a", True),
    ("a=1, b=2", "*, a=1, b=2", "b", "b", None),
    # another change is in the way of one call, not of the other
    ("a, b=1", "b=1, /, a=2", "b", "b", True),
    # ... and of all: whatever is called, `c` is missing
    ("a", "a, c, b=1", "b", "b", None),
    ("a, b=1", "c, b=1", "b", "b", None),
]


@pytest.mark.parametrize(("old", "new", "before", "after", "expected"), CASES)
def test_breaks(old: str, new: str, before: str, after: str, expected: bool | None) -> None:
    assert breaks(signature(old), signature(new), before, after) is expected


def test_a_value_lands_in_a_parameter() -> None:
    assert Call(2, frozenset(), 1).lands(signature("a, b")) == "b"
    assert Call(2, frozenset(), 1).lands(signature("a, *rest")) == "rest"
    assert Call(1, frozenset({"b"})).lands(signature("a, b")) == ""
    assert Call(2, frozenset(), 1).lands(signature("a")) is None


@st.composite
def signatures(draw: st.DrawFn) -> inspect.Signature:
    names = draw(st.lists(st.sampled_from("abcdefg"), unique=True, max_size=6))
    kinds = sorted(draw(st.sampled_from((*POSITIONAL, inspect.Parameter.KEYWORD_ONLY))) for _ in names)
    made, optional = [], False
    for name, kind in zip(names, kinds, strict=True):
        optional = draw(st.booleans()) or (optional and kind in POSITIONAL)
        made.append(inspect.Parameter(name, kind, default=1 if optional else inspect.Parameter.empty))
    return inspect.Signature(made)


@given(signatures())
def test_equal_signatures_break_nothing(item: inspect.Signature) -> None:
    for name in item.parameters:
        assert breaks(item, item, name, name) is False


@given(signatures(), st.data())
def test_a_removed_parameter_breaks_and_an_added_one_with_a_default_does_not(
    item: inspect.Signature, data: st.DataObject
) -> None:
    assume(item.parameters)
    gone = data.draw(st.sampled_from(list(item.parameters.values())))
    other = item.replace(parameters=[p for p in item.parameters.values() if p is not gone])
    assert breaks(item, other, gone.name, gone.name) is True
    assert breaks(other, item, gone.name, gone.name) is (gone.default is gone.empty)


@given(signatures(), st.data())
def test_a_parameter_with_fewer_ways_of_passing_breaks(item: inspect.Signature, data: st.DataObject) -> None:
    free = [p for p in item.parameters.values() if p.kind in POSITIONAL and p.kind in NAMED]
    assume(free)
    last = free[-1]
    kinds = [p.replace(kind=p.KEYWORD_ONLY) if p is last else p for p in item.parameters.values()]
    assert breaks(item, item.replace(parameters=kinds), last.name, last.name) is True


@pytest.mark.parametrize(
    ("text", "call", "taken"),
    [
        ("a", "f(a)", True),
        ("a, b", "f(a)", False),
        ("a", "f(a, b)", False),
        ("a, *, b", "f(a, b=b)", True),
        ("a", "f(a, b=b)", False),
        ("", "f(*a, **b)", True),
    ],
)
def test_a_written_call_binds_by_its_arguments(text: str, call: str, taken: bool) -> None:
    written = ast.parse(call, mode="eval").body
    assert isinstance(written, ast.Call)
    assert takes_call(signature(text), written) is taken
