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


def present(value: T | None, name: str) -> T:
    """Return a value that is never None here, though its type allows it: a built environment has a lock.

    `name` says which value of which row it is, such as "the lock of requests 2.31.0".

    Errors: ValueError with the name if it is None.
    """
    if value is None:
        raise ValueError(f"{name} is missing")
    return value
