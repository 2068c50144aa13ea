"""Identifier sequence match and prefix match: worked examples, and texts that are no Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.scores import identifier_sequence_match, prefix_match

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
