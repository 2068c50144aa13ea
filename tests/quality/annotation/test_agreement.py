"""Agreement and pace, against values worked out by hand."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.quality.annotation.agreement import agreement, kappa
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.pace import pace
from pipeline.quality.annotation.queue import open_sample
from tests.quality.annotation.rows import ONCE, START, TWICE, filled, sample, store_in

ACCEPT, REJECT = NewDecision(DecisionKind.ACCEPT), NewDecision(DecisionKind.REJECT, Objection.BAD_CODE)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # the example of Cohen's kappa in textbooks: 20 both yes, 5 and 10 apart, 15 both no
        ({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}, 0.4),
        ({("y", "y"): 45, ("y", "n"): 15, ("n", "y"): 25, ("n", "n"): 15}, 0.1304),
        ({("y", "n"): 3, ("n", "y"): 3}, -1.0),
        ({("y", "y"): 5}, None),
        ({}, None),
    ],
)
def test_kappa_of_published_tables(counts: dict[tuple[str, str], int], expected: float | None) -> None:
    result = kappa([pair for pair, number in counts.items() for _ in range(number)])
    assert result == (None if expected is None else pytest.approx(expected, abs=1e-4))


@given(st.lists(st.tuples(st.sampled_from("are"), st.sampled_from("are")), min_size=1))
def test_kappa_is_1_only_where_all_agree_and_is_symmetric(pairs: list[tuple[str, str]]) -> None:
    result = kappa(pairs)
    swapped = kappa([(other, one) for one, other in pairs])
    assert result == (None if swapped is None else pytest.approx(swapped))
    if result is not None:
        assert (result > 0.999999) == all(one == other for one, other in pairs)


def test_agreement_counts_independent_decisions(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path, TWICE)
    filled(store, (sample(n) for n in range(4)))
    for number, (one, other) in enumerate([(ACCEPT, ACCEPT), (REJECT, REJECT), (ACCEPT, REJECT)]):
        decide(store, f"id{number}", "ann", one)
        decide(store, f"id{number}", "bob", other)
    decide(store, "id2", "cy", REJECT)
    decide(store, "id3", "ann", ACCEPT)
    result = agreement(store)
    assert (result.pairs, result.agreed) == (3, 2)
    assert result.kappa == pytest.approx(0.4)
    assert result.table[DecisionKind.ACCEPT, DecisionKind.REJECT] == 1
    assert agreement(store, "other").kappa is None


def test_pace_is_the_median_of_timed_decisions(tmp_path: Path) -> None:
    store, clock = store_in(tmp_path)
    filled(store, (sample(n) for n in range(5)))
    for number, seconds in enumerate((4, 10, 6, ONCE.longest_s + ONCE.lease_s)):
        open_sample(store, f"id{number}", "ann")
        clock.turn(seconds)
        decide(store, f"id{number}", "ann", ACCEPT)
    clock.turn(86400)
    decide(store, "id4", "bob", REJECT)
    result = pace(store)
    assert (result.median_s, result.timed) == (6, 3)
    assert result.by_day == {START.date(): 4, START.date() + timedelta(days=1): 1}
    assert result.by_annotator == {"ann": 4, "bob": 1}
    assert pace(store, "bob").median_s is None
