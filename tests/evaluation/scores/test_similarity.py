"""Identifier sequence match and prefix match: worked examples, and texts that are no Python."""

from __future__ import annotations

import difflib
import inspect
import io
import textwrap
import tokenize
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.corpus.usages.text import parse_program
from pipeline.evaluation.scores.similarity import _lines, identifier_sequence_match, prefix_match

REFERENCE = "frame = pd.concat([frame, row], ignore_index=True)"


@pytest.mark.parametrize(
    ("prediction", "reference", "ism", "pm"),
    [
        (REFERENCE, REFERENCE, 1.0, 1.0),
        # identifiers: frame pd concat frame row ignore_index; tokens: frame = pd . concat ( [ frame , row ] , …, 16 in all
        ("frame = pd.concat([row, frame])", REFERENCE, 3 / 6, 7 / 16),
        ("frame = frame.append(row)", REFERENCE, 1 / 6, 2 / 16),
        ("", REFERENCE, 0.0, 0.0),
        ("x = 'a b' + 1", "x = 'a b' + 2", 1.0, 4 / 5),
        ("a = b\nc = e", "a = b\nc = d", (1 + 0.5) / 2, (1 + 2 / 3) / 2),
        ("a = b", "a = b\nc = d", 0.5, 0.5),
        ("a = b\nc = d\nmore = 1", "a = b\nc = d", 1.0, 1.0),
        ("", "", 1.0, 1.0),
        ("x", "", 0.0, 0.0),
        ("3", "4", 0.0, 0.0),
        ("3", "3", 1.0, 1.0),
        ("f(b'a b')", "f(rb'a b', c)", 1 / 2, 2 / 6),  # what stands before a quote is no identifier
        ("x == y ** 2", "x != y ** 2", 1.0, 1 / 5),
        ("a  # why\n# so\nb", "a\nb  # that is why", 1.0, 1.0),
        ("if x in y:", "for x in y:", 1.0, 0.0),
    ],
)
def test_worked_examples(prediction: str, reference: str, ism: float, pm: float) -> None:
    assert identifier_sequence_match(prediction, reference) == pytest.approx(ism)
    assert prefix_match(prediction, reference) == pytest.approx(pm)


@given(st.text(max_size=200), st.text(max_size=200))
def test_whatever_the_text_it_is_a_share(prediction: str, reference: str) -> None:
    for score in (identifier_sequence_match, prefix_match):
        assert 0 <= score(prediction, reference) <= 1
    assert prefix_match(reference, reference) == 1


@pytest.mark.parametrize("module", [textwrap, difflib, inspect])
def test_tokens_of_a_line_are_those_of_python(module: ModuleType) -> None:
    source = [line.strip() for line in inspect.getsource(module).splitlines()]
    whole = [line for line in source if line and line[0] != "#" and '"""' not in line and parse_program(line)]
    for line in whole:
        read = tokenize.generate_tokens(io.StringIO(line).readline)
        wanted = [token.string for token in read if token.string.strip() and token.type != tokenize.COMMENT]
        assert list(_lines(line)[0][0]) == wanted
    assert len(whole) > 100
