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
from pipeline.evaluation.scores.similarity import (
    _lines,
    identifier_f1,
    identifier_sequence_match,
    prefix_match,
    published_prefix_match,
    published_sequence_match,
)

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


@pytest.mark.parametrize(
    ("prediction", "reference", "ism", "pm"),
    [
        (REFERENCE, REFERENCE, 1.0, 1.0),
        # one name in common is enough; the line begins with 4 of the 7 names, True among them
        ("frame = pd.concat([frame, other])", REFERENCE, 1.0, 4 / 7),
        ("frames = 1", "frame = 2", 5 / 6, 0.0),
        ("x = 1\npd.read_csv(path)", "y = 2\npd.read_csv(name, sep)", 1.0, 2 / 4),
        ("for a in b: pass", "for c in d: pass", 1.0, 1 / 5),  # keywords count
        ("'frame'", REFERENCE, 0.0, 0.0),
        ("", REFERENCE, 0.0, 0.0),
        ("x", "", 0.0, 0.0),
    ],
)
def test_the_published_code_takes_the_best_pair(prediction: str, reference: str, ism: float, pm: float) -> None:
    assert published_sequence_match(prediction, reference) == pytest.approx(ism)
    assert published_prefix_match(prediction, reference) == pytest.approx(pm)


@given(st.text("ab_ \n", max_size=40), st.text("ab_ \n", max_size=40))
def test_the_best_pair_is_that_of_a_plain_search(prediction: str, reference: str) -> None:
    """The definition word by word: the first longest pair in the order of the reference, then of the prediction."""

    def plain(ours, theirs) -> float:
        best: tuple[int, float] = (0, 0.0)
        for one in theirs:
            for other in ours:
                same = 0
                while same < min(len(one), len(other)) and one[same] == other[same]:
                    same += 1
                if same > best[0]:
                    best = same, same / max(len(one), len(other))
        return best[1]

    def lines(code: str) -> list[list[str]]:
        return [line.split() for line in code.split("\n")]

    assert published_sequence_match(prediction, reference) == plain(prediction.split(), reference.split())
    assert published_prefix_match(prediction, reference) == plain(lines(prediction), lines(reference))


@pytest.mark.parametrize(
    ("prediction", "f1"),
    [
        ("zeros(shape, dtype=float)", 1.0),
        ("zeros(shape)", 2 * 2 / 6),
        ("shape(zeros, zeros, shape)", 2 * 2 / 6),
        ("", 0.0),
    ],
)
def test_identifiers_are_sets_with_arguments(prediction: str, f1: float) -> None:
    assert identifier_f1(prediction, "zeros(shape, dtype=float)") == pytest.approx(f1)
    assert identifier_f1("x", "1 + 2") is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_whatever_the_text_it_is_a_share(prediction: str, reference: str) -> None:
    for score in (identifier_sequence_match, prefix_match, published_sequence_match, published_prefix_match):
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
