"""Values that cross from the process of an answer: built-in types as they are, everything else by its type alone."""

from __future__ import annotations

import json
from collections import OrderedDict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.inside.observe import encode
from pipeline.execution.validation.observations import Opaque, decode, judge_tests
from pipeline.execution.validation.splitting import Parted, Step

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def crossed(value: object) -> Any:
    return decode(json.loads(json.dumps(encode(value, [50_000, 1 << 19]))))


@given(
    VALUES
    | st.frozensets(SCALARS)
    | st.complex_numbers(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.fractions()
)
def test_values_cross_as_they_are(value: object) -> None:
    found = crossed(value)
    assert found.value == value
    assert type(found.value) is type(value)
    assert found.type == f"{type(value).__module__}.{type(value).__qualname__}"


class Liar(str):
    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "expected"

    def __len__(self) -> int:
        return 0

    __hash__ = str.__hash__


class Nothing:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_a_subclass_has_the_content_of_its_base() -> None:
    assert crossed([Liar("own")]).value == ["own"]
    assert crossed(OrderedDict(a=1)).value == {"a": 1}
    assert crossed(OrderedDict()).type == "collections.OrderedDict"


@pytest.mark.parametrize("value", [Nothing(), object(), int, len, iter([])])
def test_another_type_equals_nothing(value: object) -> None:
    found = crossed([value]).value
    assert isinstance(found[0], Opaque)
    assert found not in ([None], [0], [found[0].type])


def test_what_is_too_large_is_known_by_its_type() -> None:
    values: list[object] = [[0] * 100_000, "x" * (1 << 20), 1 << (1 << 22), [[]] * 60_000]
    for value in values:
        assert isinstance(crossed(value).value, Opaque)


def test_a_cycle_ends() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    assert isinstance(crossed(cycle).value, Opaque)
    assert crossed(Fraction(1, 3)).value == Fraction(1, 3)


class OfAll(KeyError, TypeError, ValueError):
    """What an answer raises that does not know which exception is expected."""


Forged = type("ValueError", (KeyError,), {"__module__": "__main__"})
Refused = type("ConnectionError", (OSError,), {"__module__": "requests.exceptions"})
Own = type("ParserError", (ValueError,), {"__module__": "library.errors"})


@pytest.mark.parametrize(
    ("kind", "named", "is_one"),
    [
        (ValueError, "ValueError", True),
        (json.JSONDecodeError, "ValueError", True),
        (json.JSONDecodeError, "json.JSONDecodeError", True),
        (KeyError, "LookupError", True),
        (Own, "ParserError", True),
        (Own, "ValueError", True),
        (Own, "TypeError", False),
        (OfAll, "KeyError", True),
        (OfAll, "ValueError", False),
        (OfAll, "TypeError", False),
        (Forged, "ValueError", False),
        (Forged, "KeyError", True),
        (Refused, "requests.ConnectionError", True),
        (Refused, "OSError", True),
        (Refused, "ConnectionError", False),
        (TimeoutError, "asyncio.TimeoutError", True),
        (TimeoutError, "library.TimeoutError", False),
        (OSError, "IOError", True),
        (TimeoutError, "socket.timeout", True),
    ],
)
def test_of_the_built_in_bases_of_an_exception_only_the_first_counts(kind: type, named: str, is_one: bool) -> None:
    observed = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__]
    step = Step("value", "solve()", "raises", repr((named,)))
    told = json.dumps([[{"raised": observed, "outcome": "wrong_exception", "message": ""}]])
    outcome, _ = judge_tests(Parted("", (("test", (step,)),)), told)
    assert (outcome is Outcome.PASSED) is is_one
    warned = Step("warned", "solve()", "warns", repr((named,)))
    outcome, _ = judge_tests(Parted("", (("test", (warned,)),)), json.dumps([[{"warned": [observed]}]]))
    assert (outcome is Outcome.PASSED) is is_one
