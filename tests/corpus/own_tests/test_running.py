"""Which programs are run where, and what their exceptions are called."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome, VerdictRole
from pipeline.corpus.own_tests.running import exception_of, not_proven, own_test_runs_stage, plan
from tests.corpus.own_tests.suites import RULE as SHIPPED

RULE = SHIPPED.model_copy(update={"run_all": True})

RELEASES: Any = [
    {"version": "1.0", "predecessor": None},
    {"version": "2.0", "predecessor": "1.0"},
    {"version": "3.0", "predecessor": "2.0"},
]


def program(name: str, first: str, last: str) -> Any:
    row = {"id": name, "test_id": name, "version": first, "last_version": last, "test": name, "case": ""}
    return row | {"apis": []}


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("1.0", "3.0", set()),
        ("1.0", "1.0", {("1.0", VerdictRole.REFERENCE), ("2.0", VerdictRole.OTHER_VERSION)}),
        (
            "2.0",
            "2.0",
            {("1.0", VerdictRole.OTHER_VERSION), ("2.0", VerdictRole.REFERENCE), ("3.0", VerdictRole.OTHER_VERSION)},
        ),
        (
            "2.0",
            "3.0",
            {("1.0", VerdictRole.OTHER_VERSION), ("2.0", VerdictRole.REFERENCE), ("3.0", VerdictRole.REFERENCE)},
        ),
    ],
)
def test_a_program_runs_at_home_and_beside(first: str, last: str, expected: set[tuple[str, VerdictRole]]) -> None:
    runs, rejects = plan(RELEASES, [program("a", first, last)], [], 10)
    assert {(run.version, run.role) for run in runs} == expected
    assert rejects == []


def test_over_the_quota_are_programs_that_neither_changed_nor_use_what_changed() -> None:
    gone, uses, changed = (program(name, "1.0", "1.0") for name in ("gone", "uses", "changed"))
    after = program("changed", "2.0", "3.0") | {"id": "after"}
    uses["apis"] = ["demo.total"]
    runs, rejects = plan(RELEASES, [gone, uses, changed, after], [{"path": "demo.total", "new": None}], 3)
    assert {run.own_test_id for run in runs} == {"uses", "changed", "after"}
    assert [(reject.key, reject.reason) for reject in rejects] == [("gone[] 1.0", RejectReason.OVER_QUOTA)]
    assert all(len([run for run in runs if run.version == each["version"]]) <= 3 for each in RELEASES)


def test_a_release_that_raises_is_a_note() -> None:
    programs = [program("a", "1.0", "1.0") | {"preamble": "", "code": "def test_a(): pass\n"}]
    without_builds: Any = SimpleNamespace(store=SimpleNamespace(workers=1))
    tables: Any = {"releases": RELEASES, "own_tests": programs, "changes": []}
    output = own_test_runs_stage(tables, without_builds, RULE, cast(Any, None))
    assert [(note.key, note.reason) for note in output.notes] == [
        (version, RejectReason.INTERNAL_ERROR) for version in ("1.0", "2.0")
    ]
    assert [reject.reason for reject in output.rejects] == [RejectReason.NO_ENVIRONMENT]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("test_it: TypeError: unexpected keyword", "TypeError"),
        ("test_it[a: b]: click.exceptions.UsageError: no", "UsageError"),
        ("test_it: socket.gaierror: [Errno -2]", "gaierror"),
        ("test_it: 1 != 2", None),
    ],
)
def test_exception(detail: str, expected: str | None) -> None:
    assert exception_of(Outcome.WRONG_EXCEPTION, detail) == expected
    assert exception_of(Outcome.PASSED, detail) is None


@pytest.mark.parametrize(
    ("outcome", "exception", "reason"),
    [
        (Outcome.WRONG_EXCEPTION, "FileNotFoundError", RejectReason.NEEDS_FILES),
        (Outcome.WRONG_EXCEPTION, "gaierror", RejectReason.NEEDS_NETWORK),
        (Outcome.WRONG_EXCEPTION, "PermissionError", RejectReason.NEEDS_ROOT),
        (Outcome.WRONG_EXCEPTION, "TclError", RejectReason.NEEDS_DISPLAY),
        (Outcome.WRONG_EXCEPTION, "TypeError", RejectReason.NOT_PROVEN),
        (Outcome.TIMED_OUT, None, RejectReason.TOO_SLOW),
        (Outcome.FLAKY, None, RejectReason.FLICKERS),
    ],
)
def test_what_does_not_pass_at_home_is_a_reject(outcome: Outcome, exception: str | None, reason: RejectReason) -> None:
    run: Any = {"own_test_id": "a", "version": "1.0", "role": VerdictRole.REFERENCE, "detail": "why"}
    rows = [run | {"outcome": outcome, "exception": exception}]
    programs = {"a": program("a", "1.0", "1.0"), "b": program("b", "1.0", "1.0")}
    rejects = list(not_proven(programs.keys(), programs, rows, RULE))
    assert [reject.reason for reject in rejects] == [reason, RejectReason.NO_ENVIRONMENT]
