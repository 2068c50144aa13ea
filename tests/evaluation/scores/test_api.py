"""API hit rate, F1 of API expressions, and the retrieval metrics, by worked examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation.scores.api import api_f1, api_hit, calls_of, expressions_of
from pipeline.evaluation.scores.retrieval import recall, reciprocal_rank

CODE = """\
import numpy as np
from scipy import stats as st, linalg
import os.path
x = np.zeros(3).sum()
st.norm(x)
linalg.inv(x)(2)
os.path.join('a')

@functools.cache
def f():
    return g(h())
"""


def test_calls_are_spelled_out_as_imports_bind_them() -> None:
    calls = [".sum", "numpy.zeros", "scipy.stats.norm", "scipy.linalg.inv", "os.path.join", "functools.cache", "g", "h"]
    assert calls_of(CODE) == calls


@pytest.mark.parametrize(
    ("answer", "calls", "hit"),
    [
        ("import numpy\nnumpy.zeros(1)", ["numpy.zeros"], True),
        ("from numpy import zeros\nzeros(1)", ["numpy.zeros"], True),
        ("def zeros(): pass\nx.ones()", ["numpy.zeros"], False),
        ("frame.groupby('a').mean()", [".mean", "df.groupby"], True),
        ("frame.groupby('a')", [".mean", "df.groupby"], False),
        ("numpy.zeros(", ["numpy.zeros"], False),
        ("", ["print"], False),
        ("print(1)", [], None),
    ],
)
def test_api_hit(answer: str, calls: list[str], hit: bool | None) -> None:
    assert api_hit(answer, calls) is hit


@pytest.mark.parametrize(
    ("prediction", "reference", "f1"),
    [
        ("torch.nn.ReLU()", "torch.nn.ReLU()", 1.0),
        ("torch.relu(x)", "torch.nn.ReLU()", 0.0),
        ("torch.cat([torch.ones(2), b])", "torch.cat([a, b])", 2 / 3),
        ("x = a", "y = b", None),
        ("x = a.b", "y = b", None),
        ("", "torch.cat()", 0.0),
        ("torch.pi", "torch.pi", 1.0),
        ("f(1); f(2)", "f(1)", 2 / 3),
    ],
)
def test_api_f1(prediction: str, reference: str, f1: float | None) -> None:
    assert api_f1(prediction, reference) == (f1 if f1 is None else pytest.approx(f1))


@pytest.mark.parametrize(
    ("given", "prediction", "f1"),
    [
        ("torch.", "nn.ReLU()", 1.0),
        ("torch.", "", 0.0),
        ("torch.", "relu(x)", 0.0),
        ("make(1).", "nn.ReLU()", 1.0),
        ("make(1).", "", 0.0),
    ],
)
def test_what_is_given_is_no_merit(given: str, prediction: str, f1: float) -> None:
    assert api_f1(prediction, "nn.ReLU()", given) == f1


@given(st.text(max_size=200), st.text(max_size=200))
def test_f1_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    found, turned = api_f1(one, other), api_f1(other, one)
    assert found is None or 0 <= found <= 1
    assert None in (found, turned) or found == turned
    assert api_f1(one, one) in (1, None)


def test_nothing_is_too_deep() -> None:
    assert expressions_of("f(" * 5000 + ")" * 5000).count("f") == 5000


def test_retrieval() -> None:
    assert reciprocal_rank(["a", "b", "c"], {"b", "c"}) == 0.5
    assert reciprocal_rank(["a"], {"b"}) == 0
    assert recall(["a", "b", "b"], ["a", "c", "b", "d"]) == 0.5
    assert recall(["a"], []) is None
