"""What running both releases makes of changes that comparing sources found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.proof import Runs
from pipeline.lake.stage import Reject
from pipeline.orchestration.proving import judge_runs
from pipeline.quality.acceptance.predicates import Finding
from tests.families.completions_and_migrations.rows import change


def runs(**kinds: str | None) -> Runs:
    """Runs in 1.0, where all is there, and in 2.0, where a path has a kind (`lib__f` is `lib.f`) or is missing."""
    rows: list[Any] = []
    for name, kind in kinds.items():
        path = name.replace("__", ".")
        for version, found in (("1.0", kind or "function"), ("2.0", kind)):
            outcome = Outcome.PASSED if found else Outcome.API_MISSING
            seen = json.dumps({"kind": found, "name": path}) if found else None
            of_path = {"id": path, "subject_id": path, "version": version}
            rows.append(of_path | {"outcome": outcome, "observation": seen})
    return Runs(rows)


def test_what_holds_is_executed_and_what_still_runs_is_refuted() -> None:
    gone, stays = (change(ChangeKind.REMOVED, path, "1.0", "2.0") for path in ("lib.gone", "lib.stays"))
    held, refuted = (each.result for each in judge_runs([gone, stays], runs(lib__gone=None, lib__stays="function")))
    assert not isinstance(held, Reject)
    assert held["evidence"] == "executed"
    assert isinstance(refuted, Reject)


@pytest.mark.parametrize(
    ("owner", "replacement"), [("module", None), ("class", "lib.owner.g")], ids=["of a module", "of an object"]
)
def test_a_replacement_that_the_new_release_lacks_is_not_named(owner: str, replacement: str | None) -> None:
    one = change(ChangeKind.REMOVED, "lib.f", "1.0", "2.0", replacement="lib.owner.g")
    held = judge_runs([one], runs(lib__f=None, lib__owner=owner, lib__owner__g=None))[0].result
    assert not isinstance(held, Reject)
    assert held["replacement"] == replacement


def test_what_moved_to_nowhere_went() -> None:
    moved = change(ChangeKind.MOVED, "lib.f", "1.0", "2.0", new="lib.new.f", replacement="lib.new.f")
    held = judge_runs([moved], runs(lib__f=None, lib__new="module", lib__new__f=None))[0].result
    assert not isinstance(held, Reject)
    assert (held["kind"], held["new"], held["replacement"]) == (ChangeKind.REMOVED, None, None)
    there = judge_runs([moved], runs(lib__f=None, lib__new="module", lib__new__f="function"))[0].result
    assert not isinstance(there, Reject)
    assert (there["kind"], there["evidence"]) == (ChangeKind.MOVED, "executed")


def test_what_running_does_not_decide_says_why() -> None:
    hidden = change(ChangeKind.PARAMETER_REMOVED, "lib.f", "1.0", "2.0", parameter="a", old="a")
    unseen = change(ChangeKind.RETURNS, "lib.f", "1.0", "2.0")
    gone = change(ChangeKind.REMOVED, "lib.gone", "1.0", "2.0")
    judged = judge_runs([hidden, unseen, gone], runs(lib__f="function", lib__gone=None))
    assert [each.undecided for each in judged] == [
        "it has no signature that can be read",
        "no call and no import shows a change of this kind",
        "",
    ]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.API_MISSING, "its path is found in the old release, missing in the new one"),
        (Outcome.IMPORT_ERROR, "its path is found in the old release, import_error in the new one"),
        (Outcome.HARNESS_ERROR, "its path is found in the old release, harness_error in the new one"),
        (None, "its path is found in the old release, not probed in the new one"),
    ],
)
def test_a_path_without_a_description_is_named_by_its_outcome(outcome: Outcome | None, reason: str) -> None:
    rows = [*runs(lib__f="function")._rows.values()]
    of_new = [{**rows[1], "outcome": outcome, "observation": None}] if outcome else []
    parameter = change(ChangeKind.PARAMETER_REMOVED, "lib.f", "1.0", "2.0", parameter="a", old="a")
    gone = change(ChangeKind.REMOVED, "lib.f", "1.0", "2.0")
    observed: Any = [rows[0], *of_new]
    judged = judge_runs([parameter, gone], Runs(observed))
    missing = outcome == Outcome.API_MISSING
    assert [each.undecided for each in judged] == [reason, "" if missing else reason]


def test_a_moved_path_without_a_probe_is_not_decided() -> None:
    moved = change(ChangeKind.MOVED, "lib.f", "1.0", "2.0", new="lib.new.f")
    (judged,) = judge_runs([moved], runs(lib__f=None))
    assert judged.undecided == "its new path is not probed in the new release"


def test_a_change_that_cannot_be_judged_costs_only_itself_and_is_not_refuted() -> None:
    odd = json.dumps({"kind": "function", "signature": [["a", "of_no_kind", False, None]]})
    rows = [*runs(lib__f="function", lib__owner=None, lib__gone=None)._rows.values()]
    broken: Any = [
        {**row, "observation": odd if row["subject_id"] == "lib.f" else "{"}
        if row["subject_id"] in ("lib.f", "lib.owner")
        else row
        for row in rows
    ]
    changes = [
        change(ChangeKind.PARAMETER_REMOVED, "lib.f", "1.0", "2.0", parameter="a", old="a"),
        # fails before the change is judged: the module of its replacement is asked for
        change(ChangeKind.REMOVED, "lib.f", "1.0", "2.0", replacement="lib.owner.g")
        | {"kind": ChangeKind.MOVED, "new": "lib.owner.g"},
        change(ChangeKind.REMOVED, "lib.gone", "1.0", "2.0"),
    ]
    judged = judge_runs(changes, Runs(broken))
    assert [each.verdict for each in judged] == ["not decided", "not decided", "held"]
    assert all(isinstance(each.result, Reject) for each in judged[:2])
    assert [each.undecided.partition(":")[0] for each in judged] == ["internal_error", "internal_error", ""]
    assert "of_no_kind" in judged[0].undecided


def test_each_change_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parameter = change(ChangeKind.PARAMETER_REMOVED, "lib.f", "1.0", "2.0", parameter="a", old="a")
    calls: list[str] = []

    def judge(old: Any, new: Any, judged: Any) -> Finding:
        calls.append(judged["id"])
        return Finding(None)

    monkeypatch.setattr("pipeline.quality.acceptance.changes.judge", judge)
    judge_runs([parameter], runs(lib__f="function"))
    assert calls == [parameter["id"]]
