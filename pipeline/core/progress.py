"""Progress of a long operation, as functions below the command line report it."""

from collections.abc import Callable

ReportProgress = Callable[[str, int, int], None]
"""Takes the current step, the number of finished items, and the number of all items."""


def no_progress(step: str, done: int, total: int) -> None:
    """Report nothing."""


def labelled(label: str, report: ReportProgress) -> ReportProgress:
    """Return a function that reports each step with a label before it."""
    return lambda step, done, total: report(f"{label}: {step}", done, total)
