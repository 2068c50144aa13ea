"""Where the same code works: in every release of a range, or the place in it where that changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.execution.validation.samples.planning import Release, need_of
from pipeline.execution.validation.samples.samples import Sample, SampleError
from pipeline.execution.validation.samples.versions import Bisection, Span, bisect, bisection, in_release, matrix, spans
from tests.errors import raises
from tests.execution.validation.demo import VERSIONS, catalogue_of, engine_at, publish, sample
from tests.index_server import Index

_OF = {
    "p": Outcome.PASSED,
    "f": Outcome.FAILED_ASSERTION,
    "a": Outcome.API_MISSING,
    "n": Outcome.NO_ENVIRONMENT,
    "k": Outcome.FLAKY,
}


def play(pattern: str, own: str | None = None) -> tuple[Bisection, int]:
    """Bisect releases 0, 1, 2 … that come out as a pattern says; return what was found, and how many were run."""
    versions = [str(number) for number in range(len(pattern))]
    asking = bisection(versions, own)
    run: set[str] = set()
    asked: Sequence[str] = ()
    try:
        asked = next(asking)
        while True:
            assert asked, "nothing was asked for"
            assert not run & set(asked), "asked for twice"
            run |= set(asked)
            asked = asking.send({version: _OF[pattern[int(version)]] for version in asked})
    except StopIteration as end:
        found: Bisection = end.value
        assert set(found.outcomes) == run
        return found, len(run)


@pytest.mark.parametrize(
    ("pattern", "last", "first", "starts", "monotone", "unknown"),
    [
        ("", None, None, False, True, ()),
        ("p", None, None, False, True, ()),
        ("pf", "0", "1", False, True, ()),
        ("aap", "1", "2", True, True, ()),
        ("ppppppppaa", "7", "8", False, True, ()),
        ("pffffffffffffff", "0", "1", False, True, ()),
        ("ffffffffffffffp", "13", "14", True, True, ()),
        ("pppppfafaf", "4", "5", False, True, ()),
        ("pppppppppppppp", None, None, False, True, ()),
        ("ffffffff", None, None, False, True, ()),
        ("ppnnnnff", "1", "6", False, True, ("2", "3", "4", "5")),
        ("npppkfffn", "3", "5", False, True, ("4",)),
        ("nnnnpppfff", "6", "7", False, True, ()),
        ("nnnnnnnnpf", "8", "9", False, True, ()),
        ("fpnnnnnnn", "0", "1", True, True, ()),
        ("nnnn", None, None, False, True, ("0", "1", "2", "3")),
        ("pppfpppp", "2", "3", False, False, ()),
        ("pppfpfff", "2", "3", False, False, ()),
        ("pkkaaapaaaaap", "0", "3", False, False, ("1", "2")),
    ],
)
def test_patterns(
    pattern: str, last: str | None, first: str | None, starts: bool, monotone: bool, unknown: tuple[str, ...]
) -> None:
    found, _ = play(pattern)
    assert (found.last, found.first, found.starts, found.monotone, found.unknown) == (
        last,
        first,
        starts,
        monotone,
        unknown,
    )


@pytest.mark.parametrize(
    ("pattern", "own", "last", "first", "monotone"),
    [
        ("ppppfffppff", "8", "8", "9", True),  # as a sample of flask 2.3.2 came out, which fails in 2.2
        ("ffffffpffffffffff", "6.0", "5", "6", False),
        ("pppppfff", "2", "4", "5", True),
        ("pppppfff", "17", "4", "5", True),  # not in the range
    ],
)
def test_the_release_of_the_sample_is_among_those_run(
    pattern: str, own: str, last: str, first: str, monotone: bool
) -> None:
    found, _ = play(pattern, own)
    assert (found.last, found.first, found.monotone) == (last, first, monotone)


@given(st.integers(1, 300), st.integers(1, 300), st.booleans())
def test_a_clean_break_is_found_with_few_runs(before: int, after: int, starts: bool) -> None:
    marks = "fp" if starts else "pf"
    found, runs = play(marks[0] * before + marks[1] * after)
    assert (found.last, found.first) == (str(before - 1), str(before))
    assert (found.starts, found.monotone) == (starts, True)
    assert runs <= (before + after).bit_length() + 4


@given(st.text("pfank", max_size=40))
def test_whatever_the_pattern_neighbours_that_were_run_differ(pattern: str) -> None:
    found, _ = play(pattern)
    if found.last is None or found.first is None:
        assert (found.last, found.first, found.starts) == (None, None, False)
        return
    assert (found.outcomes[found.first] is Outcome.PASSED) is found.starts
    assert (found.outcomes[found.last] is Outcome.PASSED) is not found.starts
    between = [str(number) for number in range(int(found.last) + 1, int(found.first))]
    assert list(found.unknown) == between


def test_spans_are_what_comes_out_alike() -> None:
    outcomes = {"1": _OF["p"], "2": _OF["p"], "3": _OF["n"], "4": _OF["p"]}
    assert spans(outcomes) == [Span("1", "2", 2, _OF["p"]), Span("3", "3", 1, _OF["n"]), Span("4", "4", 1, _OF["p"])]
    assert spans({}) == []


@pytest.fixture
def engine(index: Index, tmp_path: Path, sandbox: Sandbox, rules: ValidationRules) -> Engine:
    publish(index)
    return engine_at(index, tmp_path, sandbox, rules.model_copy(update={"repeats": 1}))


GOES = Sample.model_validate(sample("goes", code="import shape\nresult = shape.perimeter(2) + 1"))


def test_the_matrix_of_a_sample(engine: Engine) -> None:
    verdicts = matrix(GOES, ("3.0", "1.0.0", "2.0"), engine, catalogue_of(engine))
    assert [(one.version, one.outcome) for one in verdicts] == [
        ("3.0", "api_missing"),
        ("1.0", "passed"),
        ("2.0", "api_missing"),
    ]
    with raises(SampleError, "shape", code="sample_release_unknown"):
        matrix(GOES, ("8",), engine, catalogue_of(engine))


def test_the_release_where_a_sample_breaks(engine: Engine) -> None:
    found = bisect(GOES, VERSIONS, engine, catalogue_of(engine))
    assert (found.last, found.first, found.starts, found.monotone) == ("1.2", "2.0", False, True)


@pytest.mark.parametrize(
    ("version", "requires_python", "python", "pins"),
    [
        ("1.0", ">=3.99", "3.11", ("beside==1.0", "other<2")),  # its own release: as it stands
        ("2.0", None, "3.11", ("beside", "other<2")),
        ("2.0", ">=3.8", "3.11", ("beside", "other<2")),
        ("2.0", "<3.11", None, ("beside", "other<2")),
    ],
)
def test_what_is_needed_in_another_release(
    engine: Engine, version: str, requires_python: str | None, python: str | None, pins: tuple[str, ...]
) -> None:
    need = need_of(1, Sample.model_validate(sample("a", python="3.11", extra_dependencies="beside==1.0 other<2")))
    found = in_release(need, Release(version, requires_python, False), engine.store)
    assert (found.python, found.pins) == (python, pins)
