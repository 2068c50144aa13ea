"""Published rows run again over an index on loopback: what survives, and why the rest does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.audit.survival.survive import Survey, libraries_of, newest_snapshots, rows_of_survey, survive, this_period
from pipeline.core.settings import settings
from pipeline.core.vocabularies.survival import Loss
from pipeline.execution.caches.using import IN_USE
from pipeline.execution.environments.file_locks import alone_now
from pipeline.index.release_selection import Period
from pipeline.lake.tables import Lake, read_parquet
from pipeline.snapshots.candidate import make_candidate
from pipeline.snapshots.format.manifest import SnapshotError
from tests.audit.survival.published import completion, environment, example, released, snapshot
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.index_server import Index
from tests.snapshots.lakes import SAME_CODE_FAILS, fill, tables

USE = "from lib import double\ndouble(2)\n"
RIGHT = example("right", USE, ("from lib import double\n", None), ("double(2)\n", "4\n"))
Make = Callable[..., Survey]


def simple(
    folder: Path,
    at: dict[str, Any],
    of: dict[str, Any] = RIGHT,
    changed: Mapping[str, list[dict[str, Any]]] | None = None,
) -> Path:
    """A snapshot of one completion."""
    given: dict[str, list[dict[str, Any]]] = {
        "environments": [at],
        "snippets": [of],
        "completions": [completion("c", of, at)],
    }
    return snapshot(folder, **(given | dict(changed or {})))


def looked(make: Make, folder: Path, **rules: Any) -> Any:
    """Return the row of a snapshot that has one completion."""
    survey = make(folder, **rules)
    found = survive(survey, "lib")
    [row] = rows_of_survey(survey, ["lib"])
    assert (found.added, found.unjudged) == ((row,), {})
    return row


def test_passing_rows_are_reported_once_a_month(resources: Index, survey: Make, tmp_path: Path) -> None:
    folder = simple(tmp_path / "mine" / "mine-2021", environment(released(resources)))
    row = looked(survey, folder)
    told = {name: row[name] for name in ("snapshot", "period", "family", "survives", "reason", "outcome", "detail")}
    assert told == {
        "snapshot": "mine-2021",
        "period": "2026-11",
        "family": "completion",
        "survives": True,
        "reason": None,
        "outcome": "passed",
        "detail": None,
    }
    asked = resources.requests.copy()
    again = survive(survey(folder), "lib")
    assert (again.added, again.existing, again.unjudged) == ((), 1, {})
    assert resources.requests == asked
    later = survey(folder, period="2026-12")
    assert survive(later, "lib").added[0]["period"] == "2026-12"
    assert [row["period"] for row in later.lake.read("survivals", "lib")] == ["2026-11", "2026-12"]
    assert not (later.settings.cache / "runs.sqlite").exists(), "what was run before is not remembered, but run"
    assert not survey(folder).folder.exists(), "what the month before was made of is gone"


FOREVER = "while True:\n    pass\n"
CODES = [
    (example("x", USE, ("from lib import double\n", None), ("double(2)\n", "5\n")), Loss.FAILED_ASSERTION, "failed_assertion"),
    (example("x", "raise KeyError('lib')\n"), Loss.OTHER_OUTCOME, "wrong_exception"),
    (example("x", "from lib import triple\n"), Loss.OTHER_OUTCOME, "api_missing"),
]  # fmt: skip


@pytest.mark.parametrize(("of", "reason", "outcome"), CODES, ids=lambda value: str(value)[:20])
def test_code_that_does_not_pass_any_more_says_how(
    resources: Index, survey: Make, tmp_path: Path, of: dict[str, Any], reason: Loss, outcome: str
) -> None:
    row = looked(survey, simple(tmp_path / "m" / "m-2021", environment(released(resources)), of))
    assert (row["survives"], row["reason"], row["outcome"]) == (False, reason, outcome)
    assert row["detail"]


def test_what_runs_out_of_time_has_a_second_try(resources: Index, survey: Make, tmp_path: Path) -> None:
    rules = settings().rules / "validation.yaml"
    rules.write_text(rules.read_text().replace("\ntime_s: 6\n", "\ntime_s: 1\n"))
    folder = simple(tmp_path / "m" / "m-2021", environment(released(resources)), example("x", FOREVER))
    row = looked(survey, folder)
    assert (row["reason"], row["outcome"]) == (Loss.TIMED_OUT, "timed_out")
    runs = [json.loads(line) for line in (survey().folder / "runs" / "lib.jsonl").read_text().splitlines()]
    assert [run["outcome"] for run in runs] == ["timed_out", "timed_out"]


def test_what_comes_out_otherwise_each_time_is_flaky(resources: Index, survey: Make, tmp_path: Path) -> None:
    # Repeats have seeds of hashes from 0 on, and 0 means that there is none.
    of = example("x", "import sys\nassert sys.flags.hash_randomization == 0\n")
    row = looked(survey, simple(tmp_path / "m" / "m-2021", environment(released(resources)), of))
    assert (row["reason"], row["outcome"]) == (Loss.FLAKY, "flaky")


def test_a_file_that_went_from_the_index_is_missed_though_our_cache_has_it(
    resources: Index, survey: Make, tmp_path: Path
) -> None:
    file = released(resources)
    folder = simple(tmp_path / "m" / "m-2021", environment(file))
    looked(survey, folder, from_scratch=False)
    resources.projects["lib"]["1.0"].remove(file)
    row = looked(survey, folder, period="2026-12", from_scratch=False)
    assert (row["reason"], row["outcome"]) == (Loss.FILE_GONE, None)
    assert row["detail"] == "the index has no longer: lib==1.0"


def test_a_project_that_went_from_the_index(resources: Index, survey: Make, tmp_path: Path) -> None:
    folder = simple(tmp_path / "m" / "m-2021", environment(released(resources)))
    resources.projects.clear()
    assert looked(survey, folder)["reason"] == Loss.FILE_GONE


def test_a_withdrawn_release_still_passes_where_it_can_be_installed_and_is_told(
    resources: Index, survey: Make, tmp_path: Path
) -> None:
    file = released(resources)
    folder = simple(tmp_path / "m" / "m-2021", environment(file))
    file.yanked = True
    row = looked(survey, folder)
    assert (row["survives"], row["yanked"]) == (True, ["lib==1.0"])


@pytest.mark.parametrize(("yanked", "reason"), [(False, Loss.ENVIRONMENT_NOT_BUILT), (True, Loss.YANKED)])
def test_a_file_that_is_listed_and_cannot_be_had(
    resources: Index, survey: Make, tmp_path: Path, yanked: bool, reason: Loss
) -> None:
    file = released(resources)
    folder = simple(tmp_path / "m" / "m-2021", environment(file))
    file.yanked, file.content = yanked, b"no wheel any more"
    row = looked(survey, folder)
    assert (row["reason"], row["outcome"]) == (reason, None)
    assert "install_failed" in row["detail"]


def test_an_interpreter_that_is_not_here(resources: Index, survey: Make, tmp_path: Path) -> None:
    row = looked(survey, simple(tmp_path / "m" / "m-2021", environment(released(resources), python="3.2")))
    assert row["reason"] == Loss.NO_INTERPRETER
    assert "3.2" in row["detail"]


@pytest.mark.parametrize(
    "tables", [{"environments": []}, {"snippets": []}, {"environments": [{"lock": "lib from somewhere\n"}]}], ids=str
)
def test_what_the_snapshot_lacks_is_its_own_reason(
    resources: Index, survey: Make, tmp_path: Path, tables: dict[str, list[dict[str, Any]]]
) -> None:
    at = environment(released(resources))
    changed = {name: [(at if name == "environments" else RIGHT) | row for row in rows] for name, rows in tables.items()}
    row = looked(survey, simple(tmp_path / "m" / "m-2021", at, changed=changed))
    assert (row["reason"], row["outcome"]) == (Loss.NOT_IN_SNAPSHOT, None)


def test_an_index_that_is_down_says_nothing_of_the_rows(resources: Index, survey: Make, tmp_path: Path) -> None:
    folder = simple(tmp_path / "m" / "m-2021", environment(released(resources)))
    resources.faults = {path: [503] * 99 for path in ("/pypi/lib/json", "/simple/lib/")}
    found = survive(survey(folder), "lib")
    assert (found.added, sum(found.unjudged.values())) == ((), 1)
    assert "Unreachable" in next(iter(found.unjudged))
    assert rows_of_survey(survey(folder), ["lib"]) == []
    resources.faults.clear()
    assert looked(survey, folder)["survives"]


def test_what_is_part_of_a_project_is_probed_again(resources: Index, survey: Make, tmp_path: Path) -> None:
    at = environment(released(resources))
    gone = completion("d", RIGHT, at, outcome=None) | {"path": "lib.triple"}
    rows = [completion("c", RIGHT, at, outcome=None), gone]
    make = survey(simple(tmp_path / "m" / "m-2021", at, changed={"completions": rows}))
    survive(make, "lib")
    told = {row["instance_id"]: (row["probed"], row["reason"]) for row in rows_of_survey(make, ["lib"])}
    assert told == {"c": (True, None), "d": (True, Loss.OTHER_OUTCOME)}


def test_a_killed_run_goes_on_where_it_was_and_snapshots_share_runs(
    resources: Index, survey: Make, tmp_path: Path
) -> None:
    old, new = environment(released(resources)), environment(released(resources, "2.0"), "2.0")
    rows = [completion("c", RIGHT, old), completion("d", RIGHT, new)]
    both: dict[str, list[dict[str, Any]]] = {"environments": [old, new], "snippets": [RIGHT], "completions": rows}
    folders = [snapshot(tmp_path / "m" / name, **both) for name in ("m-2021", "m-2022")]

    class Killed(BaseException):
        pass

    def kill_at_the_second(what: str, done: int, total: int) -> None:
        if done:
            raise Killed

    with pytest.raises(Killed):
        survive(survey(*folders), "lib", kill_at_the_second)
    ran = (survey().folder / "runs" / "lib.jsonl").read_text().splitlines()
    assert len(ran) == 1
    found = survive(survey(*folders), "lib")
    assert [row["survives"] for row in found.added] == [True] * 4
    assert (survey().folder / "runs" / "lib.jsonl").read_text().splitlines()[:1] == ran
    assert len((survey().folder / "runs" / "lib.jsonl").read_text().splitlines()) == 2


def test_whoever_cleans_meanwhile_sees_that_caches_are_in_use(resources: Index, survey: Make, tmp_path: Path) -> None:
    make = survey(simple(tmp_path / "m" / "m-2021", environment(released(resources))))
    seen: list[bool] = []

    def look_whether_nobody_is_at_work(what: str, done: int, total: int) -> None:
        with alone_now(make.settings.cache / IN_USE) as alone:
            seen.append(alone)

    survive(make, "lib", look_whether_nobody_is_at_work)
    assert seen == [False]


def test_what_another_process_added_meanwhile_stays(
    resources: Index, survey: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of both are kept, one of each reference."""
    at = environment(released(resources))
    rows = [completion("c", RIGHT, at), completion("d", RIGHT, at)]
    make = survey(simple(tmp_path / "m" / "m-2021", at, changed={"completions": rows}))
    survive(make, "lib")
    theirs = [row | {"day": "2026-11-02"} for row in make.lake.read("survivals", "lib") if row["instance_id"] == "c"]
    make.lake.drop("survivals", "lib")
    turn = Lake.turn

    def later(lake: Lake, library: str) -> AbstractContextManager[None]:
        Lake(lake.root).write("survivals", library, theirs)
        return turn(lake, library)

    monkeypatch.setattr(Lake, "turn", later)
    assert [row["instance_id"] for row in survive(make, "lib").added] == ["d"]
    found = [(row["instance_id"], row["day"] == "2026-11-02") for row in make.lake.read("survivals", "lib")]
    assert sorted(found) == [("c", True), ("d", False)]


def test_a_row_is_of_the_day_on_which_the_lake_got_it(
    resources: Index, survey: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that goes on over midnight: what a refresh pinned in between has all rows of the days before."""
    make = survey(simple(tmp_path / "m" / "m-2021", environment(released(resources))))
    clock = ["2026-11-01"]
    turn = Lake.turn

    def later(lake: Lake, library: str) -> AbstractContextManager[None]:
        clock.append("2026-11-02")
        return turn(lake, library)

    monkeypatch.setattr(Lake, "turn", later)
    monkeypatch.setattr("pipeline.audit.survival.survive.today", lambda: clock[-1])
    assert [row["day"] for row in survive(make, "lib").added] == ["2026-11-02"]


def test_a_snapshot_that_cannot_be_read_holds_up_no_other(resources: Index, survey: Make, tmp_path: Path) -> None:
    at = environment(released(resources))
    whole = simple(tmp_path / "m" / "m-2022", at)
    foreign = simple(tmp_path / "m" / "m-2021", at, changed={"functions": [at | {"id": "f", "code": ""}]})
    broken = snapshot(tmp_path / "m" / "m-2020")
    (broken / "manifest.json").write_text("{}")
    make = survey(whole, foreign, broken)
    assert libraries_of(make.snapshots) == ["lib"]
    found = survive(make, "lib")
    assert [row["snapshot"] for row in found.added] == ["m-2022"]
    assert "functions.parquet: no tests" in found.unread[0]
    assert "format" in found.unread[1]
    with raises(SnapshotError, code="snapshots_unreadable"):
        libraries_of([broken])


def test_a_library_that_the_snapshot_has_not_leaves_nothing(resources: Index, survey: Make, tmp_path: Path) -> None:
    make = survey(simple(tmp_path / "m" / "m-2021", environment(released(resources))))
    assert survive(make, "other").added == ()
    assert make.lake.files("survivals", "other") == {}


def test_the_newest_snapshots_of_a_profile_are_looked_at_each_in_its_last_revision(tmp_path: Path) -> None:
    names = (
        "m-2021-01-01",
        "m-2021-02-01",
        "m-2021-02-01.r2",
        "m-2021-02-01.r10",
        "m-2021-03-01",
        ".m-2021-04-01.1.tmp",
    )
    for name in names:
        snapshot(tmp_path / "m" / name)
    (tmp_path / "m" / "m-2022-01-01").mkdir()
    (tmp_path / "m" / "latest").write_text("m-2021-03-01\n")
    found = newest_snapshots(tmp_path, "m", 2)
    assert [path.name for path in found] == ["m-2021-03-01", "m-2021-02-01.r10"]
    assert len(newest_snapshots(tmp_path, "m", 9)) == 3
    assert newest_snapshots(tmp_path, "no", 9) == ()


def test_the_period_is_the_month_of_now() -> None:
    assert len(this_period()) == len("2026-11")


def test_the_next_snapshot_holds_what_was_run_before_its_period_ended(
    resources: Index, survey: Make, tmp_path: Path
) -> None:
    make = survey(simple(tmp_path / "m" / "m-2021", environment(released(resources))))
    survive(make, "lib")
    looked = make.lake.read("survivals", LIBRARY)
    lake = fill(make.settings.lake_root, tables())
    lake.write("survivals", LIBRARY, [*lake.read("survivals", LIBRARY), *looked])
    assert len({row["day"] for row in lake.read("survivals", LIBRARY)}) == 2
    period = Period(None, datetime(2025, 1, 1, tzinfo=UTC))
    candidate = make_candidate(
        lake, tmp_path / "candidates", tmp_path / "snapshots", "m", [LIBRARY], period, {}, SAME_CODE_FAILS
    )
    assert [one["day"] for one in read_parquet(candidate.path / "data" / "survivals.parquet")] == ["2020-02-02"]
    assert "What still passes" in (candidate.path / "README.md").read_text()
