"""What a run left in the lake stays with it, whatever becomes of the lake."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake import pinned_versions
from pipeline.lake.deferred import put_aside
from pipeline.lake.pinned_versions import freeze, frozen_lake, is_behind, is_frozen, thaw
from pipeline.lake.runner import reject_rows
from pipeline.lake.schema import Row
from pipeline.lake.stage import Reject
from pipeline.lake.tables import Lake
from tests.lake.test_deferred import release

JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def rows(*versions: str) -> list[Row]:
    return [release("demo", version) for version in versions]


def test_a_frozen_lake_is_as_it_was(tmp_path: Path) -> None:
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "run"
    lake.write("releases", "demo", rows("1.0"))
    (lake.root / "_state" / "crawl").mkdir(parents=True)
    (lake.root / "_state" / "crawl" / "demo.json").write_text("{}")
    assert freeze(lake, ["demo", "never-crawled"], folder, None) == ["demo"]
    lake.write("releases", "demo", rows("1.0", "1.1"))
    frozen = frozen_lake(folder, lake)
    assert [row["version"] for row in frozen.read("releases", "demo")] == ["1.0"]
    assert frozen.libraries("releases") == ["demo"]
    assert (frozen.root / "_state" / "crawl" / "demo.json").read_text() == "{}"
    freeze(lake, ["demo"], folder, None)
    assert len(frozen_lake(folder, lake).read("releases", "demo")) == 2
    thaw(folder)
    assert frozen_lake(folder, lake) is lake


def test_what_was_broken_off_is_no_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is killed while it keeps the lake is tried again, and must not take a part of it for all."""
    lake, folder = Lake(tmp_path / "lake"), tmp_path / "run"
    for library in ("demo", "other"):
        lake.write("releases", library, [release(library, "1.0")])

    def broken(part: Path, place: Path) -> None:
        if "library=other" in str(part):
            raise OSError(28, "No space left on device")
        link(part, place)

    link = pinned_versions._link
    with monkeypatch.context() as patched:
        patched.setattr(pinned_versions, "_link", broken)
        with pytest.raises(OSError, match="No space"):
            freeze(lake, ["demo", "other"], folder, None)
    assert frozen_lake(folder, lake) is lake
    assert freeze(lake, ["demo", "other"], folder, None) == ["demo", "other"]
    # Another worker thawed it: of a folder in the store only the files go.
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        file.unlink()
    assert not is_frozen(folder)


def test_a_library_that_is_ahead_of_the_run_is_left_out(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.write("releases", "demo", [*rows("1.0"), release("demo", "2.0") | {"release_time": JUNE}])
    lake.write("releases", "other", [release("other", "1.0")])
    assert freeze(lake, ["demo", "other"], tmp_path / "run", JUNE) == ["other"]


def test_a_library_that_is_behind_the_run_is_left_out(tmp_path: Path) -> None:
    """A backfill came last: what was released since is put aside, and a later snapshot must not be without it."""
    lake, known = Lake(tmp_path / "lake"), [*rows("1.0"), release("demo", "2.0")]
    lake.write("releases", "demo", known)
    put_aside(lake, "releases", "demo", known, known[:1])
    lake.write("releases", "demo", known[:1])
    new_year = known[1]["release_time"]
    assert [is_behind(lake, "demo", time) for time in (new_year, JUNE, None)] == [False, True, True]
    assert freeze(lake, ["demo"], tmp_path / "run", new_year) == ["demo"]
    assert freeze(lake, ["demo"], tmp_path / "run", JUNE) == []
    # Nothing was kept, and the lake of now does not stand in for it.
    assert frozen_lake(tmp_path / "run", lake).libraries("releases") == []
    lake.write(
        "rejects", "demo", reject_rows("crawl", "demo", [Reject("2.0", RejectReason.WRONG_HASH, "")]), part="crawl"
    )
    assert not is_behind(lake, "demo", JUNE)
