"""The form of a refresh: what Airflow's own check takes, and what is told of a form that cannot be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import FormatChecker, ValidationError, validate  # type: ignore[import-untyped]

from pipeline.core.rules.load import RULES
from pipeline.core.rules.profiles import profile_names
from pipeline.core.vocabularies.families import Family
from pipeline.orchestration.run_parameters import BadForm, check_form, fields, filled_in, own_period
from tests.errors import raises

FIELDS = fields("starter", RULES)
EMPTY: dict[str, Any] = {name: field["default"] for name, field in FIELDS.items()}


def schema(name: str) -> dict[str, Any]:
    return {key: value for key, value in FIELDS[name].items() if key not in ("default", "description", "title")}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("profile", ["starter"], ["nonesuch", None]),
        (
            "libraries",
            [None, [], ["flask", "more-itertools"], ["flask ", ""]],
            ["flask", ["flask, click"], ["a b"], [7]],
        ),
        ("since", [None, "2026-11-16"], ["last week", "2026-13-01", 7]),
        ("until", [None, "2026-11-16"], ["16.11.2026"]),
        ("families", [None, ["problems", "scenes"]], [["changes"], "problems"]),
        ("sources", [None, ["github"]], [["docstring"], ["gitlab"]]),
    ],
)
def test_airflow_checks_each_field_before_a_run_begins(name: str, good: list[Any], bad: list[Any]) -> None:
    for value in [FIELDS[name]["default"], *good]:
        validate(value, schema(name), format_checker=FormatChecker())
    for value in bad:
        with pytest.raises(ValidationError):
            validate(value, schema(name), format_checker=FormatChecker())


def test_every_field_says_what_it_is_for_and_what_can_be_picked() -> None:
    assert set(FIELDS["profile"]["enum"]) == set(profile_names())
    assert all(field["title"] and field["description"].endswith(".") for field in FIELDS.values())
    assert FIELDS["families"]["examples"] == [family.table for family in Family]
    assert FIELDS["sources"]["values_display"]["github"].startswith("github: ")


@pytest.mark.parametrize(
    ("filled", "told"),
    [
        ({"profile": "startr"}, "curation_rules/profiles/ (did you mean starter?); there are starter"),
        ({"profile": "nonesuch"}, "no profile 'nonesuch' in curation_rules/profiles/; there are starter"),
        ({"libraries": ["flask", "a b"]}, "libraries: 'a b' is not a name that a package index can have"),
        ({"since": "soon"}, "since: 'soon' is not a day; write it as 2026-11-16"),
        ({"since": "2026-02-01", "until": "2026-02-01"}, "until: 2026-02-01 is not after since"),
        ({"families": ["changes"]}, "families: there is no 'changes'; there are completions, "),
        ({"sources": ["docstring"]}, "sources: there is no 'docstring'; there are downstream, "),
        ({"sources": ["github"]}, "sources: profile starter takes no code from github; it takes downstream"),
    ],
)
def test_what_is_wrong_is_told_by_field(filled: dict[str, Any], told: str) -> None:
    with raises(BadForm, code="run_parameter_invalid") as caught:
        check_form(EMPTY | filled, ["starter"], ["downstream"])
    assert told in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BadForm) as caught:
        check_form(EMPTY | {"since": "soon", "libraries": ["a b"], "families": ["x"]}, ["starter"], [])
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize(
    "filled",
    [
        {},
        {"libraries": ["Flask", "more-itertools"], "since": "2026-11-09", "until": "2026-11-16"},
        {"since": "2026-11-09T03:00:00+00:00", "until": "2026-11-16"},
        {"families": ["problems"], "sources": ["downstream"]},
    ],
)
def test_a_form_that_can_be(filled: dict[str, Any]) -> None:
    check_form(EMPTY | filled, ["starter"], ["downstream"])


def test_blanks_and_empty_lines_in_the_box_are_no_libraries() -> None:
    assert filled_in(EMPTY | {"libraries": [" flask", "", "click "]})["libraries"] == ["flask", "click"]
    assert filled_in(EMPTY | {"libraries": ["", " "]}) == EMPTY
    assert filled_in(EMPTY) == EMPTY


WEEK = (datetime(2026, 11, 9, 3, tzinfo=UTC), datetime(2026, 11, 16, 3, tzinfo=UTC))


@pytest.mark.parametrize(
    ("days", "interval", "covered"),
    [
        ({}, WEEK, ("2026-11-09T03:00:00+00:00", "2026-11-16T03:00:00+00:00")),
        # A past day alone would lie before the beginning of the run's own week: a run over nothing, which went well.
        ({"until": "2021-02-08"}, WEEK, (None, None)),
        ({"since": "2026-11-20"}, WEEK, (None, None)),
        # Without a schedule a run that is triggered on the page has an interval that ends where it begins.
        ({}, (WEEK[0], WEEK[0]), (None, None)),
        ({}, (None, None), (None, None)),
    ],
)
def test_what_a_run_covers_whose_form_names_no_day(
    days: dict[str, str], interval: tuple[datetime | None, datetime | None], covered: tuple[str | None, str | None]
) -> None:
    assert own_period(EMPTY | days, *interval, backfill=False) == covered


def test_a_backfill_takes_its_weeks_from_its_date_range_alone() -> None:
    assert own_period(EMPTY, *WEEK, backfill=True) == tuple(end.isoformat() for end in WEEK)
    with raises(BadForm, code="backfill_with_dates"):
        own_period(EMPTY | {"since": "2026-11-09"}, *WEEK, backfill=True)
