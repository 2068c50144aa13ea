"""Views of a snapshot: which rows of a family are tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.evaluation import View
from pipeline.families.family import DISCRIMINATING, InstanceFamily
from pipeline.lake.rows import AnyRow


@dataclass(frozen=True, slots=True)
class TaskView:
    """A view; `cutoff` is the last day of a model's training data, and None but for `post_cutoff`."""

    view: View
    cutoff: date | None = None

    def __str__(self) -> str:
        """Return the view with its date, as reports name it."""
        return f"{self.view} {self.cutoff}" if self.cutoff else str(self.view)

    def has(self, family: InstanceFamily, row: AnyRow) -> bool:
        """Return whether a row belongs to the view; a row without one of its dates is not after any."""
        if self.cutoff is not None:
            day = family.day_of(row)
            return day is not None and day > self.cutoff
        return self.view is View.ALL or not family.has_discriminating or row.get(DISCRIMINATING) is True


ALL_ROWS = TaskView(View.ALL)


def task_view(view: View, cutoff: str | None) -> TaskView:
    """Return a view with its date, YYYY-MM-DD.

    Errors: InputError where the date is missing, is none, or is for a view without one.
    """
    if view is not View.POST_CUTOFF:
        if cutoff is not None:
            raise InputError(
                f"cutoff {cutoff} is for the view {View.POST_CUTOFF}, and the view is {view}; leave out the cutoff, or"
                f" choose {View.POST_CUTOFF}",
                code="cutoff_without_view",
            )
        return TaskView(view)
    if cutoff is None:
        raise InputError(
            f"the view {View.POST_CUTOFF} needs a cutoff: the last day of the training data, such as 2024-06-30",
            code="cutoff_missing",
        )
    try:
        day = date.fromisoformat(cutoff)
    except ValueError:
        day = None
    # `fromisoformat` reads weeks and days without hyphens too
    if day is None or day.isoformat() != cutoff:
        raise InputError(
            f"cutoff {cutoff!r} is no date of the form YYYY-MM-DD, such as 2024-06-30", code="cutoff_invalid"
        )
    return TaskView(view, day)


def no_row_after(view: TaskView, rows: str, days: Iterable[date]) -> InputError:
    """Return the error of a cutoff that leaves none of some rows, of which these are the days."""
    newest = max(days, default=None)
    there = f"the newest is of {newest}" if newest else "there is none with a date"
    return InputError(
        f"no row of {rows} is after the cutoff {view.cutoff}: {there}. Choose an earlier cutoff, or another view",
        code="cutoff_after_rows",
    )
