"""A lake of the layout before Delta Lake is migrated, and no stage runs again for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.lake.deferred import with_deferred
from pipeline.lake.delta import DeltaPartitions
from pipeline.lake.ids import sha256_file
from pipeline.lake.old_layout import Migrated, has_old_layout, migrate_lake
from pipeline.lake.runner import Stage, StageStates, run_stage
from pipeline.lake.stage import Output
from pipeline.lake.tables import Lake, write_parquet
from tests.lake.test_deferred import release


def stage(ran: list[str]) -> Stage:
    def run(lake: Lake, library: str, progress: object) -> Output:
        ran.append(library)
        return Output({"flags": []}, 1, 1)

    return Stage("flags", 1, ("releases",), ("flags",), lambda: None, run)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The files of the old layout: what the stage `flags` of today left, laid out as it was then."""
    root, made = tmp_path / "data" / "lake", Lake(tmp_path / "made")
    made.write("releases", "demo", [release("demo", "1.0")])
    run_stage(stage([]), "demo", made, tmp_path / "counts")
    for name, part in (("releases", "part"), ("flags", "part"), ("rejects", "flags")):
        path = root / name / "library=demo" / f"{part}.parquet"
        path.parent.mkdir(parents=True)
        path.write_bytes(made.path(name, "demo", part).read_bytes())
    (root / "_state" / "flags").mkdir(parents=True)
    (root / "_state" / "flags" / "demo.json").write_text(json.dumps(StageStates(made, "demo").get("flags")))
    write_parquet(root / "later" / "releases" / "library=demo" / "part.parquet", "releases", [release("demo", "2.0")])
    return root


@pytest.mark.parametrize("elsewhere", [False, True])
def test_no_stage_is_run_again_and_nothing_is_lost(old: Path, tmp_path: Path, elsewhere: bool) -> None:
    root = tmp_path / "other" if elsewhere else old
    before = sha256_file(old / "releases" / "library=demo" / "part.parquet")
    assert migrate_lake(old, root) == Migrated(4, 1)
    lake, ran = Lake(root), list[str]()
    assert lake.hashes("releases", "demo") == {"part.parquet": before}
    assert run_stage(stage(ran), "demo", lake, tmp_path / "counts").unchanged == 1
    assert ran == []
    assert {row["version"] for row in with_deferred(lake, "releases", "demo")} == {"1.0", "2.0"}
    assert not has_old_layout(old)
    assert migrate_lake(old, root) == Migrated(0, 0)


@pytest.mark.parametrize("after", range(5))
def test_broken_off_it_goes_on(old: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = after

    def breaking(table: DeltaPartitions, *arguments: object) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        commit(table, *arguments)  # type: ignore[arg-type]

    commit = DeltaPartitions._commit
    with monkeypatch.context() as patched:
        patched.setattr(DeltaPartitions, "_commit", breaking)
        with pytest.raises(KeyboardInterrupt):
            migrate_lake(old, old)
    assert has_old_layout(old)
    migrate_lake(old, old)
    assert run_stage(stage([]), "demo", Lake(old), old / "counts").unchanged == 1
    assert len(with_deferred(Lake(old), "releases", "demo")) == 2


def test_a_damaged_file_is_made_again(old: Path, tmp_path: Path) -> None:
    (old / "flags" / "library=demo" / "part.parquet").write_bytes(b"PAR1")
    migrate_lake(old, old)
    ran: list[str] = []
    run_stage(stage(ran), "demo", Lake(old), tmp_path / "counts")
    assert ran == ["demo"]
