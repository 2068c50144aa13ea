from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.core.vocabularies.survival import Loss
from pipeline.snapshots.format.survival_figures import (
    SurvivalFigure,
    latest_figure,
    rows_until,
    survival_figures,
)


def row(name: str, reason: Loss | None = None, **changed: Any) -> dict[str, Any]:
    head = {
        "snapshot": "m-2021",
        "manifest_sha256": "a",
        "period": "2026-11",
        "day": "2026-11-02",
        "family": "completion",
    }
    rest = {"instance_id": name, "library": "lib", "version": "1.0", "survives": reason is None, "reason": reason}
    seen = {"outcome": None, "detail": None, "probed": False, "lock_ids": ["l"], "yanked": [], "drawn_share": 1.0}
    return head | rest | seen | changed


ROWS: list[Any] = [
    row("a"),
    row("b", Loss.YANKED),
    row("c", Loss.FILE_GONE),
    row("d", Loss.FILE_GONE),
    row("a", snapshot="m-2022", manifest_sha256="b"),
    row("a", period="2026-10", day="2026-10-30"),
    row("b", Loss.FLAKY, period="2026-10", day="2026-10-31"),
]


def test_each_snapshot_stands_for_itself_in_each_period() -> None:
    assert survival_figures(ROWS) == [
        SurvivalFigure("m-2022", "2026-11", 1, 1, {}),
        SurvivalFigure("m-2021", "2026-11", 4, 1, {Loss.FILE_GONE: 2, Loss.YANKED: 1}),
        SurvivalFigure("m-2021", "2026-10", 2, 1, {Loss.FLAKY: 1}),
    ]
    assert survival_figures([]) == []


def test_the_last_look_is_that_of_the_last_period() -> None:
    assert latest_figure(ROWS) == SurvivalFigure("all", "2026-11", 5, 2, {Loss.FILE_GONE: 2, Loss.YANKED: 1})
    assert latest_figure([]) is None


@pytest.mark.parametrize(
    ("until", "days"),
    [
        (None, 7),
        (datetime(2026, 11, 1, tzinfo=UTC), 2),
        (datetime(2026, 10, 31, 23, 59, tzinfo=UTC), 1),
        (datetime(2026, 11, 2, 3, tzinfo=UTC), 2),
        (datetime(2026, 11, 3, tzinfo=UTC), 7),
    ],
    ids=str,
)
def test_a_snapshot_of_a_period_knows_what_was_run_before_its_last_day(until: datetime | None, days: int) -> None:
    assert len(rows_until(ROWS, until)) == days


def test_it_is_told_in_a_sentence() -> None:
    told = [str(figure) for figure in survival_figures(ROWS)]
    assert told[0] == "2026-11: 1 of 1 rows of m-2022 (100.0%) still pass"
    assert told[1] == "2026-11: 1 of 4 rows of m-2021 (25.0%) still pass; of the others: file gone 2, yanked 1"


def test_what_is_not_all_is_never_told_as_all() -> None:
    assert "(99.995%)" in str(SurvivalFigure("m", "2026-11", 20_000, 19_999, {Loss.FLAKY: 1}))
