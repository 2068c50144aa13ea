"""Errors that no unit of work is to blame for."""


class FatalError(RuntimeError):
    """The machine, the settings or a service fails, not the unit at hand: it ends the stage, which can be tried again.

    Every other exception that a unit raises is the reject `internal_error` of that unit (`pipeline/lake/guard.py`).
    """
