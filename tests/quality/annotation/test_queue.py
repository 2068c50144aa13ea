"""The queue as several annotators walk it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.decisions import NewDecision, decide
from pipeline.quality.annotation.queue import (
    Filter,
    UnknownSample,
    choices,
    like,
    look,
    next_sample,
    open_sample,
    page,
    progress,
    release,
    renew,
)
from pipeline.quality.annotation.store import Store
from tests.errors import raises
from tests.quality.annotation.rows import ANNOTATION, START, TWICE, Clock, filled, sample, store_in

ACCEPT, SKIP = NewDecision(DecisionKind.ACCEPT), NewDecision(DecisionKind.SKIP)


@pytest.fixture
def queue(tmp_path: Path) -> tuple[Store, Clock]:
    store, clock = store_in(tmp_path)
    filled(store, (sample(n, *((FlagKind.AUDIT, FlagKind.TOO_LONG) if n % 2 else ())) for n in range(7)))
    clock.turn(3600)
    filled(store, [sample(n, library="other", family=Family.SCENE, source=SnippetSource.DOWNSTREAM) for n in (7, 8)])
    return store, clock


def ids(store: Store, wanted: Filter) -> list[str]:
    """The samples that a filter takes, read in pages of two."""
    found, after = [], 0
    while True:
        shown = page(store, wanted, after, limit=2)
        found += [entry.id for entry in shown.entries]
        if shown.after is None:
            return found
        after = shown.after


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Filter(), range(9)),
        (Filter(flag=FlagKind.TOO_LONG), (1, 3, 5)),
        (Filter(library="other"), (7, 8)),
        (Filter(family=Family.COMPLETION, flag=FlagKind.AUDIT), range(7)),
        (Filter(source=SnippetSource.DOWNSTREAM), (7, 8)),
        (Filter(raised_after=START + timedelta(minutes=1)), (7, 8)),
        (Filter(raised_before=START + timedelta(minutes=1), flag=FlagKind.TOO_LONG), (1, 3, 5)),
        (Filter(status=QueueStatus.SUBMITTED), ()),
        (Filter(library="other", flag=FlagKind.TOO_LONG), ()),
    ],
)
def test_filters_select_and_count_the_named_samples(queue: tuple[Store, Clock], wanted: Filter, numbers) -> None:
    store, _ = queue
    assert ids(store, wanted) == [f"id{n}" for n in numbers]
    if wanted.status is None:
        assert progress(store, wanted)[QueueStatus.PENDING] == len(numbers)


def test_choices_are_counted(queue: tuple[Store, Clock]) -> None:
    result = choices(queue[0])
    assert result.flags == {FlagKind.TOO_LONG: 3, FlagKind.AUDIT: 9}
    assert (result.libraries, result.families) == ({"lib": 7, "other": 2}, {Family.COMPLETION: 7, Family.SCENE: 2})


def test_a_leased_sample_is_not_leased_to_another(queue: tuple[Store, Clock]) -> None:
    store, clock = queue
    ann, bob = next_sample(store, "ann"), next_sample(store, "bob")
    assert ann is not None
    assert bob is not None
    assert (ann.entry.id, bob.entry.id, ann.entry.open_by) == ("id0", "id1", "ann")
    assert open_sample(store, "id0", "bob").entry.open_by == "ann"
    assert not renew(store, "id0", "bob")
    # bob opened another one, so his first is free again
    cy = next_sample(store, "cy")
    assert cy is not None
    assert cy.entry.id == "id1"
    clock.turn(ANNOTATION.lease_s + 1)
    assert open_sample(store, "id0", "bob").entry.open_by == "bob"
    release(store, "bob")
    assert look(store, "id0").entry.open_by is None


def test_a_sample_stays_open_as_long_as_it_is_renewed(queue: tuple[Store, Clock]) -> None:
    store, clock = queue
    open_sample(store, "id3", "ann")
    for _ in range(3):
        clock.turn(ANNOTATION.lease_s - 1)
        assert renew(store, "id3", "ann")
    assert look(store, "id3").entry.open_by == "ann"


def test_the_walk_goes_on_from_a_place_and_begins_again(queue: tuple[Store, Clock]) -> None:
    store, _ = queue
    places = {entry.id: entry.seq for entry in page(store, Filter()).entries}
    result = next_sample(store, "ann", Filter(library="lib"), after=places["id5"])
    assert result is not None
    assert result.entry.id == "id6"
    decide(store, "id6", "ann", ACCEPT)
    again = next_sample(store, "ann", Filter(library="lib"), after=places["id6"])
    assert again is not None
    assert again.entry.id == "id0"


def test_a_skipped_sample_is_last_and_first_for_others(queue: tuple[Store, Clock]) -> None:
    store, _ = queue
    expected = Filter(library="other")
    decide(store, "id7", "ann", SKIP)
    order = []
    for _ in range(2):
        result = next_sample(store, "ann", expected)
        assert result is not None
        order.append(result.entry.id)
        decide(store, result.entry.id, "ann", ACCEPT)
    assert order == ["id8", "id7"]
    assert next_sample(store, "ann", expected) is None


def test_two_judge_without_seeing_each_other(tmp_path: Path) -> None:
    store, _ = store_in(tmp_path, TWICE)
    filled(store, [sample(0)])
    decide(store, "id0", "ann", ACCEPT)
    assert next_sample(store, "ann") is None
    seen = next_sample(store, "bob")
    assert seen is not None
    assert (seen.history, seen.hidden) == ((), 1)
    decide(store, "id0", "bob", ACCEPT)
    assert len(look(store, "id0", "bob").history) == 2


def test_like_samples_are_of_the_same_api_with_the_same_flags(queue: tuple[Store, Clock]) -> None:
    store, _ = queue
    assert [entry.id for entry in like(store, "id0")] == ["id6"]
    decide(store, "id6", "ann", ACCEPT)
    assert like(store, "id0") == ()


def test_an_unknown_sample_is_named(queue: tuple[Store, Clock]) -> None:
    with raises(UnknownSample, code="sample_not_in_queue"):
        open_sample(queue[0], "nobody", "ann")
