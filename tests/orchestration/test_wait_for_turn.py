"""One refresh at a time works on the lake, and past weeks go before later ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.orchestration.wait_for_turn import waits_for

ONE, TWO = "backfill__2026-01-12T03:00:00+00:00", "backfill__2026-01-19T03:00:00+00:00"
SCHEDULED = "scheduled__2026-11-16T03:00:00+00:00"
MANUAL = "manual__2026-11-18T10:00:00+00:00"


@pytest.mark.parametrize(
    ("run", "states", "other"),
    [
        (ONE, {ONE: {"turn": "running"}}, None),
        (ONE, {ONE: {"turn": "running"}, TWO: {"turn": "scheduled"}}, None),
        (TWO, {ONE: {"turn": "up_for_reschedule"}, TWO: {"turn": "running"}}, ONE),
        (MANUAL, {SCHEDULED: {"turn": None, "refreshed": None}, MANUAL: {"turn": "running"}}, SCHEDULED),
        # Who is at work goes on, however late its week is.
        (ONE, {SCHEDULED: {"turn": "success", "refreshed": None}}, SCHEDULED),
        (ONE, {MANUAL: {"turn": "success", "refreshed": "up_for_retry"}}, MANUAL),
        *((ONE, {MANUAL: {"turn": "success", "refreshed": end}}, None) for end in ("success", "failed", "skipped")),
        # Of two with the same time neither waits: each would wait for the other.
        (f"scheduled__{ONE[10:]}", {ONE: {"turn": "running"}}, None),
        # A run that failed before its turn, or from before there were turns.
        (TWO, {ONE: {"turn": "upstream_failed", "refreshed": "upstream_failed"}}, None),
        (TWO, {ONE: {"refreshed": "success"}}, None),
    ],
)
def test_whom_a_run_waits_for(run: str, states: dict[str, dict[str, str | None]], other: str | None) -> None:
    assert waits_for(run, states, lambda _: "running") == other


@pytest.mark.parametrize("tasks", [{"turn": None, "refreshed": None}, {"turn": "success", "refreshed": None}])
@pytest.mark.parametrize(
    ("other", "state", "waits"),
    [
        # Airflow begins it only when MANUAL has ended: each would wait for the other.
        (SCHEDULED, "queued", False),
        (SCHEDULED, "running", True),
        (ONE, "queued", True),
        # Cancelled: its tasks have no state, and never will.
        (ONE, "failed", False),
    ],
)
def test_a_run_that_cannot_go_on_is_not_waited_for(
    tasks: dict[str, str | None], other: str, state: str, waits: bool
) -> None:
    states: dict[str, dict[str, str | None]] = {MANUAL: {"turn": "running"}, other: tasks}
    assert waits_for(MANUAL, states, lambda _: state) == (other if waits else None)


@given(st.permutations(range(6)), st.lists(st.integers(0, 5), min_size=40, max_size=80))
def test_runs_that_ask_one_at_a_time_work_one_at_a_time_and_all_in_the_end(order: list[int], asked: list[int]) -> None:
    runs = [f"backfill__2026-0{number + 1}-05T03:00:00+00:00" for number in order]
    states: dict[str, dict[str, str | None]] = {run: {"turn": "up_for_reschedule", "refreshed": None} for run in runs}
    done = []
    for number in [*asked, *(list(range(6)) * 13)]:
        run = runs[number]
        if states[run]["turn"] == "success":
            states[run]["refreshed"] = "success"
        elif waits_for(run, states, lambda _: "running") is None:
            states[run]["turn"] = "success"
            done.append(run)
        assert sum(one["turn"] == "success" and one["refreshed"] is None for one in states.values()) <= 1
    assert done == sorted(runs)
