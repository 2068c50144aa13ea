"""What the DAG calls: plan, look at a library, tell."""

from __future__ import annotations

from pathlib import Path

from pipeline.audit.survival import monthly
from pipeline.orchestration.run_parameters import BadForm
from pipeline.snapshots.format.manifest import SnapshotError
from tests.audit.survival.published import completion, environment, example, released, snapshot
from tests.errors import raises
from tests.index_server import Index

USE = example("one", "from lib import double\n", ("from lib import double\n", None))


def test_a_month(resources: Index, data: Path) -> None:
    assert monthly.plan("starter") == []
    with raises(BadForm, "mine", "starter", code="profile_unknown"):
        monthly.plan("mine")
    assert monthly.report_survival("mine", [], []) == []
    at = environment(released(resources))
    tables = {"environments": [at], "snippets": [USE], "completions": [completion("c", USE, at)]}
    folder = snapshot(data / "snapshots" / "mine" / "mine-2021-05-01", **tables)
    [planned] = monthly.plan("mine", None)
    assert planned["library"] == "lib"
    assert monthly.plan("mine", ["Lib"]) == [planned]
    with raises(BadForm, "other, third", code="snapshot_library_unknown"):
        monthly.plan("mine", ["other", "lib", "third"])
    resources.faults = {path: [503] * 99 for path in ("/pypi/lib/json", "/simple/lib/")}
    with raises(monthly.NotJudged, "IndexUnreachable", code="survival_not_judged"):
        monthly.look("mine", **planned)
    assert monthly.report_survival("mine", [planned], []) == []
    resources.faults.clear()
    assert monthly.look("mine", **planned) == {"library": "lib", "added": 1, "known": 0, "unread": []}
    looked = monthly.look("mine", **planned)
    assert looked == {"library": "lib", "added": 0, "known": 1, "unread": []}
    [told] = monthly.report_survival("mine", [planned], [looked])
    assert told == f"{planned['period']}: 1 of 1 rows of mine-2021-05-01 (100.0%) still pass"
    (folder / "manifest.json").write_text("{}")
    with raises(SnapshotError, code="snapshots_unreadable"):
        monthly.plan("mine")


LOOK = {"library": "lib", "added": 1, "known": 0, "unread": ["m-2020: another format"]}


def test_an_unreadable_snapshot_is_reported_once(resources: Index) -> None:
    assert monthly.report_survival("mine", [], [LOOK, LOOK | {"library": "other"}]) == [
        "not looked at: m-2020: another format"
    ]


def test_the_libraries_that_failed_are_named_with_what_to_do() -> None:
    planned = [{"period": "2026-11", "library": name} for name in ("lib", "other", "third")]
    told = monthly.describe_failed("mine", planned, [LOOK])
    assert told is not None
    assert "other, third" in told
    assert "driftline survive mine --libraries other,third" in told
    assert monthly.describe_failed("mine", planned[:1], [LOOK]) is None
    assert monthly.describe_failed("mine", [], []) is None
