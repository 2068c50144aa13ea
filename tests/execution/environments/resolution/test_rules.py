from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, RuleError
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import Extras, Gap, environment_rules
from tests.errors import raises

SHIPPED = environment_rules()


@pytest.mark.parametrize(
    ("released", "python", "expected"),
    [
        ("2023-05-02", "3.11", "2023-06-01"),  # upload + 30
        ("2022-10-25", "3.11", "2023-01-22"),  # Python 3.11 (2022-10-24) + 60 + 30
        ("2015-01-01", "3.6", "2017-03-23"),
    ],
)
def test_cutoff(released: str, python: str, expected: str) -> None:
    moment = datetime.fromisoformat(released).replace(tzinfo=UTC)
    assert SHIPPED.cutoff(moment, python).date() == date.fromisoformat(expected)


@pytest.mark.parametrize(
    ("gap", "concerned"),
    [
        (Gap(pins=("x",)), True),
        (Gap(library="lib", pins=("x",)), True),
        (Gap(library="other", pins=("x",)), False),
        (Gap(specifier="<2", pins=("x",)), True),
        (Gap(specifier=">=2", pins=("x",)), False),
        (Gap(before=date(2021, 5, 2), pins=("x",)), True),
        (Gap(before=date(2021, 5, 1), pins=("x",)), False),
        (Gap(python="<3.9", pins=("x",)), False),
        (Gap(pins=("lib<2",)), False),  # what was asked for stays as it was asked
    ],
)
def test_gap(gap: Gap, concerned: bool) -> None:
    rules = SHIPPED.model_copy(update={"gaps": (gap, gap)})
    assert rules.gap_pins(EnvironmentRequest("lib", "1.5"), datetime(2021, 5, 1, 12, tzinfo=UTC), "3.9") == (
        ["x"] if concerned else []
    )


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ((), "lib==1.5"),
        ((Extras(library="lib", extras=("b", "a")), Extras(library="lib", extras=("a",))), "lib[a,b]==1.5"),
        ((Extras(library="other", extras=("a",)),), "lib==1.5"),
    ],
)
def test_extras(extras: tuple[Extras, ...], expected: str) -> None:
    rules = SHIPPED.model_copy(update={"extras": extras})
    assert rules.with_extras(EnvironmentRequest("lib", "1.5")) == expected


def test_a_typo_names_file_and_line(tmp_path: Path) -> None:
    text = (RULES / "environments.yaml").read_text().replace("slack_days", "slak_days", 2)
    (tmp_path / "environments.yaml").write_text(text)
    with raises(RuleError, "environments.yaml", "slak_days", code="rule_unknown_key"):
        environment_rules(tmp_path)


@pytest.mark.parametrize(
    ("wanted", "released", "cutoff", "expected"),
    [
        # What came out between the release and the cut-off is hidden from it, the first of several.
        (
            EnvironmentRequest("flask", "1.1.4"),
            "2021-05-14",
            "2023-01-22",
            {"markupsafe": "2022-02-18", "werkzeug": "2022-03-28"},
        ),
        (EnvironmentRequest("flask", "2.1.0"), "2022-03-29", "2023-01-22", {"markupsafe": None, "werkzeug": None}),
        (EnvironmentRequest("flask", "1.1.4"), "2021-05-14", "2021-06-13", {"markupsafe": None, "werkzeug": None}),
        # What is asked for stays as it was asked.
        (
            EnvironmentRequest("werkzeug", "2.0.3"),
            "2022-02-07",
            "2023-01-22",
            {"werkzeug": None, "jinja2": "2022-03-24"},
        ),
        (EnvironmentRequest("x", "1", pins=("Werkzeug==2.2.0",)), "2022-02-07", "2023-01-22", {"werkzeug": None}),
        # Tools are newer, with what comes with them.
        (
            EnvironmentRequest("x", "1", tools=("pytest",)),
            "2018-01-01",
            "2018-09-25",
            {"pytest": "2024-04-20", "pluggy": "2024-04-20"},
        ),
        (EnvironmentRequest("pytest", "6.2.5", tools=("pytest",)), "2021-08-30", "2021-09-29", {"pytest": None}),
        # Uploaded again, long after.
        (EnvironmentRequest("pytest", "4.6.11"), "2020-06-04", "2020-07-04", {"atomicwrites": "2022-07-09"}),
        (EnvironmentRequest("x", "1"), "2023-01-01", "2023-01-31", {"atomicwrites": None}),
    ],
)
def test_cutoffs_of_their_own(
    wanted: EnvironmentRequest, released: str, cutoff: str, expected: dict[str, str | None]
) -> None:
    found = SHIPPED.own_cutoffs(wanted, utc(released), utc(cutoff))
    told = {name: found[name].date().isoformat() if name in found else None for name in expected}
    assert told == expected


def utc(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
