"""What was made for one release holds in the next if the facts behind it do."""

from __future__ import annotations

import weakref

import pytest

from pipeline.api.surface.resolve.trace import FORGETTING, Memory, Trace


class Made:
    """A value that can be seen to go."""


class Maker:
    """Makes values of a fact, and counts them."""

    def __init__(self, trace: Trace, fact: str = "fact") -> None:
        self.trace = trace
        self.fact = fact
        self.times = 0

    def __call__(self) -> Made:
        self.trace.ask(self.fact)
        self.times += 1
        return Made()


@pytest.fixture
def trace() -> Trace:
    return Trace()


def test_a_value_is_made_once_while_its_facts_hold(trace: Trace) -> None:
    memory, make = Memory[Made](), Maker(trace)
    first = memory.get("key", trace, make)
    for _ in range(3 * FORGETTING):
        assert memory.get("key", trace, make) is first
        memory.turn()
        trace.changed = {"another fact"}
        assert memory.get("key", trace, make) is first
    assert make.times == 1


def test_a_value_is_made_anew_where_a_fact_has_changed(trace: Trace) -> None:
    memory, make = Memory[Made](), Maker(trace)
    first = memory.get("key", trace, make)
    memory.turn()
    trace.changed = {"fact"}
    assert memory.get("key", trace, make) is not first


def test_what_the_last_release_did_not_ask_for_is_made_anew(trace: Trace) -> None:
    memory, make = Memory[Made](), Maker(trace)
    for _ in range(FORGETTING):
        first = memory.get("key", trace, make)
        memory.turn()
        memory.turn()
        assert memory.get("key", trace, make) is not first


def test_what_is_made_of_a_value_depends_on_its_facts_too(trace: Trace) -> None:
    memory, inner = Memory[Made](), Maker(trace)
    asked, first = trace.noting(lambda: memory.get("inner", trace, inner))
    memory.turn()
    again, second = trace.noting(lambda: memory.get("inner", trace, inner))
    assert (asked, again) == ({"fact"}, {"fact"})
    assert first is second


def test_what_still_holds_can_be_renewed_once_a_release(trace: Trace) -> None:
    memory = Memory[int]()
    assert memory.get("key", trace, lambda: 1, lambda old: old + 1) == 1
    memory.turn()
    assert memory.get("key", trace, lambda: 1, lambda old: old + 1) == 2
    assert memory.get("key", trace, lambda: 1, lambda old: old + 1) == 2


def test_what_is_dropped_is_made_again(trace: Trace) -> None:
    memory, make = Memory[Made](), Maker(trace)
    first = memory.get("key", trace, make)
    memory.drop("key")
    assert memory.get("key", trace, make) is not first


def test_what_nobody_asks_for_goes(trace: Trace) -> None:
    memory = Memory[Made]()
    seen = weakref.ref(memory.get("key", trace, Maker(trace)))
    for _ in range(FORGETTING + 1):
        memory.turn()
    assert seen() is None
