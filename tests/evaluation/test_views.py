"""Which rows are tasks: views of each family, and cutoffs that cannot be used."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.views import ALL_ROWS, TaskView, task_view
from pipeline.families.all_families import BY_NAME, FAMILIES
from pipeline.families.family import InstanceFamily
from tests.errors import raises

CUTOFF = "2024-06-30"
BEFORE, AFTER = datetime(2024, 6, 30, 23, 59, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC)
EVERY_TIME = ("release_time", "target_release_time", "created_time")

of_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.table)


def row(**times: datetime | None) -> dict[str, Any]:
    return dict.fromkeys(EVERY_TIME, AFTER) | times


@pytest.mark.parametrize(
    ("view", "cutoff", "code"),
    [
        (View.POST_CUTOFF, None, "cutoff_missing"),
        (View.ALL, CUTOFF, "cutoff_without_view"),
        (View.DISCRIMINATING, CUTOFF, "cutoff_without_view"),
        *((View.POST_CUTOFF, text, "cutoff_invalid") for text in ("", "2024", "2024-6-30", "20240630", "2024-W26-7")),
        *((View.POST_CUTOFF, text, "cutoff_invalid") for text in ("2024-02-30", "30.06.2024", f"{CUTOFF}T00:00", "٢")),
    ],
)
def test_a_cutoff_that_cannot_be_used(view: View, cutoff: str | None, code: str) -> None:
    with raises(InputError, code=code):
        task_view(view, cutoff)


def test_a_view_has_its_date_in_its_name() -> None:
    assert [str(task_view(view, None)) for view in (View.ALL, View.DISCRIMINATING)] == ["all", "discriminating"]
    chosen = task_view(View.POST_CUTOFF, CUTOFF)
    assert (chosen.cutoff, str(chosen)) == (date(2024, 6, 30), f"post_cutoff {CUTOFF}")


@of_family
def test_the_day_of_the_cutoff_is_not_after_it(family: InstanceFamily) -> None:
    view = task_view(View.POST_CUTOFF, CUTOFF)
    assert view.has(family, row())
    assert not view.has(family, dict.fromkeys(EVERY_TIME, BEFORE))
    assert ALL_ROWS.has(family, dict.fromkeys(EVERY_TIME, BEFORE))


@pytest.mark.parametrize(
    ("family", "earlier"),
    [
        (Family.COMPLETION, {"release_time", "created_time"}),
        (Family.CONTEXT, {"release_time", "created_time"}),
        (Family.PROBLEM, {"release_time", "created_time"}),
        (Family.FUNCTION, {"release_time", "created_time"}),
        (Family.REPOSITORY_TASK, {"release_time", "created_time"}),
        (Family.MIGRATION, {"target_release_time"}),
        (Family.CONTROLLED, {"release_time"}),
        (Family.COMPATIBILITY, {"release_time"}),
        (Family.SCENE, {"created_time"}),
        (Family.BLOCK_COMPLETION, {"created_time"}),
    ],
)
def test_each_family_has_its_own_dates(family: Family, earlier: set[str]) -> None:
    """One of them before the cutoff is enough to leave a row out, and so is one that an older snapshot lacks."""
    view = task_view(View.POST_CUTOFF, CUTOFF)
    for missing in (BEFORE, None):
        out = {name for name in EVERY_TIME if not view.has(BY_NAME[family], row(**{name: missing}))}
        assert out == earlier


def test_a_context_discriminates_as_its_completion() -> None:
    view = TaskView(View.DISCRIMINATING)
    for family in (Family.COMPLETION, Family.CONTEXT):
        found = [view.has(BY_NAME[family], {"discriminating": value}) for value in (True, False, None)]
        assert found == [True, False, False]
    assert view.has(BY_NAME[Family.SCENE], {})
