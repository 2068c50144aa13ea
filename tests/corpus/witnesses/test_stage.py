"""Which forms of a test become witnesses, by how their programs come out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind, Reach
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.snippets.stage import of_witnesses
from pipeline.corpus.witnesses import script_runs, two_forms
from pipeline.corpus.witnesses import stage as witnesses
from pipeline.corpus.witnesses.script_runs import ScriptRuns
from pipeline.corpus.witnesses.stage import witnesses_stage
from pipeline.corpus.witnesses.two_forms import changed_forms
from pipeline.execution.validation.cases import Result
from tests.corpus.own_tests.suites import RULE
from tests.corpus.own_tests.test_stage import USAGE

VERSIONS = ("1.0", "2.0")
RELEASES: list[Any] = [
    {
        "library": "demo",
        "version": version,
        "predecessor": before,
        "import_names": ["demo"],
        "release_time": datetime(2020, 1, 1, tzinfo=UTC),
        "purl": f"pkg:pypi/demo@{version}",
        "licence": "MIT",
        "attribution": "Ada Example",
    }
    for version, before in zip(VERSIONS, (None, "1.0"), strict=True)
]


def own_test(version: str, name: str) -> Any:
    row = {"id": version, "library": "demo", "version": version, "last_version": version, "test_id": "t", "case": ""}
    code = f"def test_it():\n    assert demo.{name}() == 2\n"
    row |= {"test": "tests/test_a.py::test_it", "preamble": "import demo\n", "code": code}
    return row | {"apis": [f"demo.{name}"], "file": "tests/test_a.py", "line": 3}


def symbol(path: str, kind: str, first: str, last: str | None) -> Any:
    row: Any = {"path": path, "canonical_path": path, "kind": kind, "labels": [], "bases": [], "returns": None}
    return row | {"file": "demo/__init__.py", "first_version": first, "last_version": last, "parameters": []}


SYMBOLS = [
    symbol("demo", "module", "1.0", None),
    symbol("demo.old", "function", "1.0", "1.0"),
    symbol("demo.new", "function", "2.0", None),
]
CHANGE: Any = {"id": "c", "path": "demo.old", "canonical_path": "demo.old", "kind": ChangeKind.RENAMED}
CHANGE |= {"new": "demo.new", "new_version": "2.0", "old_version": "1.0", "breaking": True}
CHANGE |= {"old": "demo.old", "reach": Reach.LISTED, "parameter": None, "library": "demo"}
NO = Result("", Outcome.API_MISSING, "module 'demo' has no attribute 'old'", 0.1, None, output=f"{script_runs.MARK}\n")

LACKING = replace(NO, outcome=Outcome.WRONG_EXCEPTION, detail="FileNotFoundError: [Errno 2] No such file: 'a.txt'")

OTHER = Result("", Outcome.WRONG_EXCEPTION, "ZeroDivisionError", 0.1, None, output=f"{script_runs.MARK}\n")


def printing(text: str) -> Result:
    mark = script_runs.MARK
    return Result("", Outcome.PASSED, None, 0.1, None, output=f"{mark}\n{text}\n{mark}\n")


def stage(runs: dict[tuple[str, str], Result], changes: list[Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the stage where the old and the new form come out so in the old and the new release."""

    def run(self: ScriptRuns, *_: Any) -> None:
        text = "import demo\n\nprint(demo.{}())\n"
        self.results |= {(text.format(name), version): result for (name, version), result in runs.items()}

    monkeypatch.setattr(ScriptRuns, "run", run)
    tables: Any = {"releases": RELEASES, "symbols": SYMBOLS, "changes": changes}
    tables["own_tests"] = [own_test("1.0", "old"), own_test("2.0", "new")]
    runner: Any = SimpleNamespace()
    return witnesses_stage(tables, runner, RULE, USAGE)


@pytest.mark.parametrize(
    ("new_in_old", "outcome"), [(NO, Outcome.API_MISSING), (printing("2"), Outcome.PASSED), (printing("3"), Outcome.FAILED_ASSERTION)]
)  # fmt: skip
def test_the_old_form_fails_and_the_new_one_prints_the_same(
    new_in_old: Result, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {
        ("old", "1.0"): printing("2"),
        ("old", "2.0"): NO,
        ("new", "2.0"): printing("2"),
        ("new", "1.0"): new_in_old,
    }
    output = stage(runs, [CHANGE], monkeypatch)
    (row,) = (row for row in output.tables["witnesses"] if row["old_code"] and row["new_code"])
    assert (row["old_path"], row["new_path"], row["change_id"]) == ("demo.old", "demo.new", "c")
    assert row["new_in_old"] == outcome
    assert [check["expected"] for check in row["new_checks"]] == [None, "2\n"]
    old, new = sorted(
        of_witnesses([row], {each["version"]: each for each in RELEASES}), key=lambda each: each["version"]
    )
    assert (old["id"], new["id"]) == (row["old_snippet_id"], row["new_snippet_id"])
    assert (old["version"], old["last_version"], old["source"]) == ("1.0", "1.0", SnippetSource.OWN_TEST)
    assert new["example_of"] == ["demo.new"]


@pytest.mark.parametrize(
    ("old", "old_later", "new", "changes", "reason"),
    [
        (NO, NO, printing("2"), [CHANGE], RejectReason.NOT_PROVEN),
        (printing("2"), NO, NO, [CHANGE], RejectReason.NOT_PROVEN),
        (LACKING, NO, printing("2"), [CHANGE], RejectReason.NEEDS_FILES),
        (printing("2"), NO, printing("3"), [CHANGE], RejectReason.NO_PARTNER),
        (printing("<x at 0x7f1234567890>"), NO, printing("<x at 0x7f1234567890>"), [CHANGE], RejectReason.NO_PARTNER),
        (printing("2"), printing("2"), printing("2"), [CHANGE], RejectReason.UNCHANGED),
        (printing("2"), NO, printing("2"), [], RejectReason.UNCHANGED),
        (printing("2"), OTHER, printing("2"), [CHANGE], RejectReason.UNLISTED_CHANGE),
    ],
)
def test_what_shows_no_change_is_a_reject(
    old: Result,
    old_later: Result,
    new: Result,
    changes: list[Any],
    reason: RejectReason,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = {("old", "1.0"): old, ("old", "2.0"): old_later, ("new", "2.0"): new, ("new", "1.0"): NO}
    output = stage(runs, changes, monkeypatch)
    assert [row for row in output.tables["witnesses"] if row["old_code"] and row["new_code"]] == []
    rejects = [reject for reject in output.rejects if " beside " not in reject.key]
    assert [reject.reason for reject in rejects if reject.key != "c"] == [reason]
    assert output.units_in == len(output.rejects) + output.units_out


REMOVED = CHANGE | {"kind": ChangeKind.REMOVED, "new": None}
ALONE: dict[str, tuple[Result, Result, RejectReason | None]] = {
    "passes before, and fails after as the change says": (printing("2"), NO, None),
    "fails at home": (NO, NO, RejectReason.NOT_PROVEN),
    "lacks a file at home": (LACKING, NO, RejectReason.NEEDS_FILES),
    "passes after as well": (printing("2"), printing("2"), RejectReason.UNCHANGED),
    "prints something else after, though the API is gone": (printing("2"), printing("3"), RejectReason.OTHER_CAUSE),
    "fails after for another reason": (printing("2"), OTHER, RejectReason.OTHER_CAUSE),
    "fails at the import": (printing("2"), replace(NO, output=""), RejectReason.OTHER_CAUSE),
}


@pytest.mark.parametrize("case", ALONE)
def test_one_form_alone_shows_a_change(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, reason = ALONE[case]
    output = stage({("old", "1.0"): before, ("old", "2.0"): after}, [REMOVED], monkeypatch)
    assert [reject.reason for reject in output.rejects if reject.key == "c"] == ([reason] if reason else [])
    rows = output.tables["witnesses"]
    assert [(row["old_path"], row["new_path"]) for row in rows] == ([] if reason else [("demo.old", None)])
    (snippet, *_) = [*of_witnesses(rows, {each["version"]: each for each in RELEASES}), None]
    code = "import demo\n\nprint(demo.old())  # 2\n"
    assert (snippet and (snippet["version"], snippet["code"])) == (None if reason else ("1.0", code))


def test_neighbouring_forms_of_a_test_in_one_run_of_releases() -> None:
    gap: Any = {"version": "4.0", "predecessor": "3.0"}
    forms = changed_forms([*RELEASES, gap], [own_test("2.0", "b"), own_test("1.0", "a"), own_test("4.0", "c")])
    assert [(old["version"], new["version"]) for old, new in forms] == [("1.0", "2.0")]


def test_a_form_that_raises_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(two_forms, "candidates", raising)
    output = stage({}, [CHANGE], monkeypatch)
    rejects = [each for each in output.rejects if " beside " not in each.key and each.key != "c"]
    assert [(each.reason, "planted" in each.detail) for each in rejects] == [(RejectReason.INTERNAL_ERROR, True)]


def test_of_the_programs_of_a_change_those_go_first_that_print_something() -> None:
    row: Any = {
        "change_id": "c",
        "new_code": None,
        "new_checks": [],
        "old_path": "demo.f",
        "new_path": None,
        "test": "t",
        "old_version": "1",
        "new_version": "2",
        "source": SnippetSource.OWN_TEST,
        "distinctive": True,
    }
    rows = [
        row | {"id": name, "test_id": name, "old_code": code, "old_checks": [{"statement": code, "expected": expected}]}
        for name, code, expected in (("empty", "f()", "[]\n"), ("long", "print(f(1))", "2\n"), ("short", "f(1)", "2\n"))
    ]
    chosen, rejects = witnesses._one_of_each(
        rows, {}, RULE.model_copy(update={"witness": RULE.witness.model_copy(update={"per_change": 2})})
    )
    assert [each["id"] for each in chosen] == ["long", "short"]
    assert [reject.reason for reject in rejects] == [RejectReason.OVER_QUOTA]
    # The same program for another change, of which it is distinctive, is not taken for its duplicate.
    doubtful = rows[2] | {"id": "a", "distinctive": False}
    chosen, rejects = witnesses._one_of_each([doubtful, rows[2] | {"change_id": "d"}], {}, RULE)
    assert [(each["change_id"], each["distinctive"]) for each in chosen] == [("d", True)]
    assert [reject.reason for reject in rejects] == [RejectReason.DUPLICATE]
