"""Signatures as pages show them: (signature, names with defaults, None where a parameter must be given)."""

from __future__ import annotations

import inspect

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.corpus.documentation.signatures import read_parameters

SIGNATURES = [
    ("(a, b=1)", [("a", None), ("b", "1")]),
    ("(self, a)", [("a", None)]),
    ("(a[, b])", [("a", None), ("b", "...")]),
    ("(a[, b=[1, 2][, c]])", [("a", None), ("b", "[1, 2]"), ("c", "...")]),
    ("(a[, b[, c=(1, 2)]]) -> int", [("a", None), ("b", "..."), ("c", "(1, 2)")]),
    ("([a=False])", [("a", "False")]),
    ("([a[, b]])", [("a", "..."), ("b", "...")]),
    ("(x, omega[, swap, over])", [("x", None), ("omega", None), ("swap", "..."), ("over", "...")]),
    ("(a, b=<object object at 0x7f>)", [("a", None), ("b", "...")]),
    ("(a: dict[str, int] = {}, *, b)", [("a", "{}"), ("b", None)]),
    ("(...)", []),
    ("(", []),
    ("", []),
    (None, []),
]


@pytest.mark.parametrize(("signature", "expected"), SIGNATURES)
def test_signatures(signature: str | None, expected: list[tuple[str, str | None]]) -> None:
    assert [(parameter["name"], parameter["default"]) for parameter in read_parameters(signature)] == expected


NAMES = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5)
DEFAULTS = st.sampled_from([1, "x", None, (1, 2), [1, [2]], {"k": "[,"}])


@given(NAMES, NAMES, st.data())
def test_optional_brackets_equal_defaults(required: list[str], names: list[str], data: st.DataObject) -> None:
    optional = [name.upper() for name in names]
    defaults = [repr(data.draw(DEFAULTS)) for _ in optional]
    inner = "".join(f"[, {name}={default}" for name, default in zip(optional, defaults, strict=True)) + "]" * len(
        optional
    )
    if not required:
        inner = inner.replace("[, ", "[", 1)
    parameters = read_parameters(f"({', '.join(required)}{inner})")
    expected = [(name, None) for name in required] + list(zip(optional, defaults, strict=True))
    assert [(parameter["name"], parameter["default"]) for parameter in parameters] == expected


@given(st.text("()[]{},=ab*: '", max_size=30))
def test_any_text_is_read(text: str) -> None:
    assert all(parameter["name"].isidentifier() for parameter in read_parameters(f"({text}"))


def test_signatures_of_inspect_are_read_as_they_are() -> None:
    signature = inspect.signature(inspect.getsourcelines)
    assert [parameter["name"] for parameter in read_parameters(str(signature))] == list(signature.parameters)
