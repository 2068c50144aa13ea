"""Errors that no unit of work is to blame for."""

from typing import TypeVar

T = TypeVar("T")


class FatalError(RuntimeError):
    """The machine, the settings or a service fails, not the unit at hand: it ends the stage, which can be tried again.

    Every other exception that a unit raises is the reject `internal_error` of that unit (`pipeline/lake/guard.py`).
    """


def present(value: T | None) -> T:
    """Return a value that is there, though its type allows that it is not: what was built has a lock.

    Errors: ValueError where it is not there after all.
    """
    if value is None:
        raise ValueError("a value is missing that was there when it was looked at")
    return value
