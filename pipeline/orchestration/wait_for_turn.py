"""Turns: one refresh at a time works on the lake, whatever started it, and past weeks are done before later ones.

Airflow limits how many runs of a DAG go on at once, but those of a backfill have a limit of their own, and a scheduled
run would come between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_WAITS, _ENDS = TASKS = "wait_for_turn", "pin_lake"
"""The task that waits for the turn of a run, and the one with which the turn ends."""

_OF_BACKFILL = "backfill__"
_OVER = frozenset({"success", "failed", "skipped", "upstream_failed", "removed"})


def waits_for(run: str, states: Mapping[str, Mapping[str, str | None]], state_of: Callable[[str], str]) -> str | None:
    """Return the run that a run has to wait for, None where it is its turn.

    `states` are those of TASKS by run, `state_of` gives that of a run. One that is at work goes first, then the
    earliest of those that wait. Asked by one run at a time, this lets one run work at a time.
    """
    others = {other: tasks for other, tasks in states.items() if other != run}
    at_work = [
        o
        for o, tasks in others.items()
        if tasks.get("wait_for_turn") == "success" and tasks.get("pin_lake") not in _OVER
    ]
    waiting = [
        o
        for o, tasks in others.items()
        if "wait_for_turn" in tasks and tasks["wait_for_turn"] not in _OVER and _time(o) < _time(run)
    ]
    candidates = [*sorted(at_work), *sorted(waiting, key=_time)]
    return next((other for other in candidates if _goes_on(other, state_of(other))), None)


def _goes_on(run: str, state: str) -> bool:
    """Say whether a run goes on by itself, so that it can be waited for.

    One that is queued may only begin when the one that asks has ended (a run of which tasks were cleared, say): the
    two would wait for each other. Those of a backfill begin by themselves. Tasks of a cancelled run have no state.
    """
    return state == "running" or (state == "queued" and run.startswith(_OF_BACKFILL))


def _time(run: str) -> str:
    """Return the time in the name of a run: that after which it may begin, or that at which it was asked for."""
    return run.partition("__")[2]
