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
        (ONE, {ONE: {"wait_for_turn": "running"}}, None),
        (ONE, {ONE: {"wait_for_turn": "running"}, TWO: {"wait_for_turn": "scheduled"}}, None),
        (TWO, {ONE: {"wait_for_turn": "up_for_reschedule"}, TWO: {"wait_for_turn": "running"}}, ONE),
        (
            MANUAL,
            {SCHEDULED: {"wait_for_turn": None, "pin_lake": None}, MANUAL: {"wait_for_turn": "running"}},
            SCHEDULED,
        ),
        # Who is at work goes on, however late its week is.
        (ONE, {SCHEDULED: {"wait_for_turn": "success", "pin_lake": None}}, SCHEDULED),
        (ONE, {MANUAL: {"wait_for_turn": "success", "pin_lake": "up_for_retry"}}, MANUAL),
        *(
            (ONE, {MANUAL: {"wait_for_turn": "success", "pin_lake": end}}, None)
            for end in ("success", "failed", "skipped")
        ),
        # Of two with the same time neither waits: each would wait for the other.
        (f"scheduled__{ONE[10:]}", {ONE: {"wait_for_turn": "running"}}, None),
        # A run that failed before its turn, or from before there were turns.
        (TWO, {ONE: {"wait_for_turn": "upstream_failed", "pin_lake": "upstream_failed"}}, None),
        (TWO, {ONE: {"pin_lake": "success"}}, None),
    ],
)
def test_whom_a_run_waits_for(run: str, states: dict[str, dict[str, str | None]], other: str | None) -> None:
    assert waits_for(run, states, lambda _: "running") == other


@pytest.mark.parametrize(
    "tasks", [{"wait_for_turn": None, "pin_lake": None}, {"wait_for_turn": "success", "pin_lake": None}]
)
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
    states: dict[str, dict[str, str | None]] = {MANUAL: {"wait_for_turn": "running"}, other: tasks}
    assert waits_for(MANUAL, states, lambda _: state) == (other if waits else None)


@given(st.permutations(range(6)), st.lists(st.integers(0, 5), min_size=40, max_size=80))
def test_runs_that_ask_one_at_a_time_work_one_at_a_time_and_all_in_the_end(order: list[int], asked: list[int]) -> None:
    runs = [f"backfill__2026-0{number + 1}-05T03:00:00+00:00" for number in order]
    states: dict[str, dict[str, str | None]] = {
        run: {"wait_for_turn": "up_for_reschedule", "pin_lake": None} for run in runs
    }
    done = []
    for number in [*asked, *(list(range(6)) * 13)]:
        run = runs[number]
        if states[run]["wait_for_turn"] == "success":
            states[run]["pin_lake"] = "success"
        elif waits_for(run, states, lambda _: "running") is None:
            states[run]["wait_for_turn"] = "success"
            done.append(run)
        assert sum(one["wait_for_turn"] == "success" and one["pin_lake"] is None for one in states.values()) <= 1
    assert done == sorted(runs)
