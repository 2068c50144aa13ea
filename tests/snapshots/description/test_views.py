"""Rows by view, and each reason why a row tells no releases apart."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.snapshots import NotDiscriminating
from pipeline.families.all_families import BY_NAME
from pipeline.snapshots.description.views import FamilyCounts, family_counts
from tests.snapshots.lakes import SAME_CODE_FAILS

CHANGED = {"discriminating": False, "libevolutioneval_tag": "modified", "change_id": "change"}
COMPLETION = CHANGED | {"granularity": "token", "neighbour_outcome": "api_missing", "evidence": "executed"}
CONTROLLED = CHANGED | {"neighbour_outcome": "api_missing", "evidence": "executed"}
FUNCTION = CHANGED | {"granularity": "line", "other_outcome": "failed_assertion", "evidence": "executed"}
PROBLEM = CHANGED | {"other_outcome": "api_missing", "evidence": "executed"}
UNCHANGED = {"libevolutioneval_tag": "unchanged", "change_id": None}


def counts(rows: list[dict[str, Any]]) -> FamilyCounts:
    return family_counts(BY_NAME[Family.COMPLETION], rows, SAME_CODE_FAILS)


def first_day(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def test_which_failures_count_is_what_the_rules_say() -> None:
    row = COMPLETION | {"neighbour_outcome": "failed_assertion"}
    reasons = [
        [*family_counts(BY_NAME[Family.COMPLETION], [row], rule).reasons]
        for rule in (SAME_CODE_FAILS, {Outcome.FAILED_ASSERTION})
    ]
    assert reasons == [[NotDiscriminating.OTHER_FAILURE], [NotDiscriminating.NAME_KNOWN]]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (COMPLETION | UNCHANGED, NotDiscriminating.API_UNCHANGED),
        (COMPLETION | UNCHANGED | {"change_id": "next", "neighbour_outcome": "passed"}, NotDiscriminating.PASSES),
        (FUNCTION | UNCHANGED | {"other_outcome": None}, NotDiscriminating.API_UNCHANGED),
        (FUNCTION | {"other_outcome": None, "evidence": "static"}, NotDiscriminating.NOT_RUN),
        (COMPLETION | {"neighbour_outcome": None}, NotDiscriminating.NOT_RUN),
        (CONTROLLED | {"neighbour_outcome": "passed"}, NotDiscriminating.PASSES),
        (FUNCTION | {"other_outcome": "passed", "evidence": "static"}, NotDiscriminating.PASSES),
        (COMPLETION | {"neighbour_outcome": "failed_assertion"}, NotDiscriminating.OTHER_FAILURE),
        (FUNCTION | {"evidence": "static"}, NotDiscriminating.OTHER_FAILURE),
        (COMPLETION, NotDiscriminating.NAME_KNOWN),
        (COMPLETION | {"neighbour_outcome": "signature_mismatch"}, NotDiscriminating.NAME_KNOWN),
        (CONTROLLED, NotDiscriminating.NAME_KNOWN),
        (FUNCTION, NotDiscriminating.NAME_KNOWN),
        (PROBLEM, NotDiscriminating.NAME_KNOWN),
        (COMPLETION | {"granularity": "line"}, NotDiscriminating.NOT_MASKED),
        (COMPLETION | {"granularity": "block"}, NotDiscriminating.NOT_MASKED),
    ],
)
def test_each_reason(row: dict[str, Any], reason: NotDiscriminating) -> None:
    assert counts([row, row | {"discriminating": True}]).reasons == {reason: 1}


def test_reasons_are_in_the_order_of_the_vocabulary() -> None:
    rows = [COMPLETION, COMPLETION | UNCHANGED, COMPLETION | {"neighbour_outcome": "passed"}, COMPLETION]
    expected = (NotDiscriminating.API_UNCHANGED, NotDiscriminating.PASSES, NotDiscriminating.NAME_KNOWN)
    assert [*counts(rows).reasons.items()] == [*zip(expected, (1, 1, 2), strict=True)]


def test_half_of_the_rows_lie_after_the_middle() -> None:
    rows = [
        COMPLETION
        | {"discriminating": year > 2021, "release_time": first_day(year), "created_time": first_day(created)}
        for year, created in ((2024, 2020), (2023, 2023), (2022, 2022), (2021, 2021))
    ]
    found = counts(rows)
    assert (found.every, found.discriminating, found.changes, found.share(found.discriminating)) == (4, 3, 1, "75%")
    assert (found.oldest, found.middle, found.newest) == (date(2020, 1, 1), date(2021, 1, 1), date(2023, 1, 1))


def test_without_the_column_every_row_is_in_the_discriminating_view() -> None:
    found = family_counts(BY_NAME[Family.SCENE], [{"created_time": None}], SAME_CODE_FAILS)
    assert (found.every, found.discriminating, found.oldest, found.newest) == (1, 1, None, None)
