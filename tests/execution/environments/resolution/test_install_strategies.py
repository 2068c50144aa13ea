from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome, Rung
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.index_facts import ReleaseFacts
from pipeline.execution.environments.resolution.install_strategies import attempts, farthest, later_wheels
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.index.index import IndexFile, Project
from tests.errors import raises

RULES = environment_rules()
INSTALLED = tuple(
    Interpreter(full, Path("/py", full), Path("/py")) for full in ("3.7.16", "3.8.18", "3.9.18", "3.10.13")
)
DAY = datetime(2021, 5, 1, tzinfo=UTC)


def file(name: str, uploaded: datetime = DAY) -> IndexFile:
    kind = ArtifactKind.WHEEL if name.endswith(".whl") else ArtifactKind.SDIST
    return IndexFile(name, "", kind, "0" * 64, 1, None, False, uploaded)


def facts(*names: str, requires_python: str | None = None, newest: datetime = DAY) -> ReleaseFacts:
    return ReleaseFacts(DAY, requires_python, newest, tuple(file(name) for name in names))


def tried(wanted: EnvironmentRequest, known: ReleaseFacts) -> list[tuple[str, Rung, date]]:
    found = attempts(wanted, known, INSTALLED, RULES, lambda *_: iter(()))
    return [(attempt.interpreter.python, attempt.rung, attempt.cutoff.date()) for attempt in found]


def test_the_rungs_of_a_release_and_then_the_next_interpreter() -> None:
    order = tried(EnvironmentRequest("lib", "1.0"), facts("lib-1.0-py3-none-any.whl"))
    soon, later = date(2021, 5, 31), date(2021, 11, 27)
    rungs = [(Rung.WHEELS, soon), (Rung.BUILDS, soon), (Rung.WHEELS_LATER, later), (Rung.BUILDS_LATER, later)]
    assert order == [(python, *rung) for python in ("3.9", "3.8") for rung in rungs]


def test_the_python_that_is_asked_for_is_taken_and_no_other() -> None:
    order = tried(
        EnvironmentRequest("lib", "1.0", python="3.10"), facts("lib-1.0-py3-none-any.whl", requires_python="<3.10")
    )
    assert {python for python, _, _ in order} == {"3.10"}
    # Python 3.10 came out on 2021-10-04: 60 days until its wheels are there, and 30 of slack.
    assert order[0] == ("3.10", Rung.WHEELS, date(2022, 1, 2))


@pytest.mark.parametrize(
    ("wanted", "known", "name"),
    [
        (
            EnvironmentRequest("lib", "1.0", python="3.6"),
            facts(),
            "Python 3.6",
        ),
        (
            EnvironmentRequest("lib", "1.0"),
            facts(requires_python=">=3.13"),
            "Python >=3.13",
        ),
    ],
)
def test_no_interpreter(wanted: EnvironmentRequest, known: ReleaseFacts, name: str) -> None:
    with raises(StepFailed, name) as failed:
        tried(wanted, known)
    assert failed.value.outcome == EnvironmentOutcome.NO_INTERPRETER


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("lib-1.0-cp38-cp38-manylinux2010_x86_64.whl", "lib-1.0.tar.gz"), "3.8"),
        (("lib-1.0-cp37-cp37m-manylinux1_x86_64.whl", "lib-1.0.tar.gz"), "3.7"),
        (("lib-1.0-cp37-abi3-manylinux1_x86_64.whl", "lib-1.0.tar.gz"), "3.9"),
        (("lib-1.0-cp38-cp38-win_amd64.whl", "lib-1.0.tar.gz"), "3.9"),
        (("lib-1.0-py2-none-any.whl", "lib-1.0.tar.gz"), "3.9"),
        (("lib-1.0.tar.gz",), "3.9"),
        (("lib-1.0-cp310-cp310-manylinux2014_x86_64.whl",), "3.10"),
        (("nonsense.whl",), "3.9"),
    ],
)
def test_an_interpreter_with_a_wheel_goes_first(names: tuple[str, ...], expected: str) -> None:
    assert tried(EnvironmentRequest("lib", "1.0"), facts(*names))[0][0] == expected


def test_a_wheel_that_came_years_later_decides_nothing() -> None:
    late = file("lib-1.0-cp310-cp310-manylinux2014_x86_64.whl", datetime(2023, 5, 1, tzinfo=UTC))
    assert tried(EnvironmentRequest("lib", "1.0"), ReleaseFacts(DAY, None, DAY, (late,)))[0][0] == "3.9"


@pytest.mark.parametrize(("seconds", "expected"), [(0, "3.10"), (1, "3.9")])
def test_a_wheel_counts_until_the_slack_after_the_newest_upload_is_over(seconds: int, expected: str) -> None:
    uploaded = DAY + timedelta(days=RULES.slack_days, seconds=seconds)
    late = file("lib-1.0-cp310-cp310-manylinux2014_x86_64.whl", uploaded)
    assert tried(EnvironmentRequest("lib", "1.0"), ReleaseFacts(DAY, None, DAY, (late,)))[0][0] == expected


@pytest.mark.parametrize(("seconds", "moves"), [(0, []), (1, ["2.0"])])
def test_later_wheels_are_uploaded_before_the_end(seconds: int, moves: list[str]) -> None:
    wheel = file("dep-2.0-py3-none-any.whl", DAY + timedelta(days=1))
    until = DAY + timedelta(days=1, seconds=seconds)
    found = later_wheels(Project("dep", {"2.0": (wheel,)}), "1.0", "3.9", DAY, until)
    assert [move.after for move in found] == moves


def test_what_is_pinned_beside_moves_the_cutoff() -> None:
    newest = datetime(2022, 3, 1, tzinfo=UTC)
    assert tried(EnvironmentRequest("lib", "1.0", pins=("dep==2",)), facts(newest=newest))[0][2] == date(2022, 3, 31)


def test_the_attempt_that_came_farthest_is_told() -> None:
    ends = ["no_files", "build_failed", "no_files", "build_failed"]
    rows: list[Any] = [{"outcome": EnvironmentOutcome(end), "n": n} for n, end in enumerate(ends)]
    assert farthest(rows)["n"] == 1
    assert {*map(str, EnvironmentOutcome)} - {"no_interpreter"} == {
        str(farthest([{"outcome": end}])["outcome"]) for end in EnvironmentOutcome if end != "no_interpreter"
    }
