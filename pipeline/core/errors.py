"""Errors with codes, and those that no unit of work is to blame for."""

from typing import TypeVar

T = TypeVar("T")


class CodedError(Exception):
    """An error with a stable code, under which `error_codes.yaml` has its cause; `str(error)` is the message.

    A class with one cause sets `code`; others are given it with each message.
    """

    code: str = ""

    def __init__(self, *message: object, code: str = "") -> None:
        super().__init__(*message)
        if code:
            self.code = code


class FatalError(CodedError, RuntimeError):
    """The machine, the settings or a service fails, not the unit at hand: it ends the stage, which can be tried again.

    Every other exception that a unit raises is the reject `internal_error` of that unit (`pipeline/lake/guard.py`).
    """


class InputError(CodedError, ValueError):
    """What a caller or a file gave cannot be used."""


def present(value: T | None) -> T:
    """Return a value that is there, though its type allows that it is not: what was built has a lock.

    Errors: ValueError where it is not there after all.
    """
    if value is None:
        raise ValueError("a value is missing that was there when it was looked at")
    return value
