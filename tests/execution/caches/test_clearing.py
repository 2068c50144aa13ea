"""Caches below their limits: what was used longest ago goes first, what is in use stays."""

from __future__ import annotations

import fcntl
import gc
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.core.rules.profiles import load_profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.caches.clearing import Cleared, clear_caches
from pipeline.execution.caches.rules import CacheRules
from pipeline.execution.caches.using import IN_USE, use_caches
from pipeline.execution.environments.file_locks import hold
from pipeline.execution.validation.run_cache import RunCache
from pipeline.index.manifest import Artifact, Manifest, sha256_of
from pipeline.index.release_selection import Period
from pipeline.index.sources import SourceStore
from pipeline.orchestration.resources.resources import Resources
from tests.errors import raises

HOUR = 3600.0
KIB = 1 << 10


def rules(**kib: float) -> CacheRules:
    """Limits in KiB; whatever is not named may have 8."""
    return CacheRules(
        gib={name: size / (1 << 20) for name, size in kib.items()}, others_gib=8 / (1 << 20), spared_hours=48
    )


def write(path: Path, kib: int, hours_ago: float) -> Path:
    """Write a file that was last used some hours ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(kib * KIB))
    then = time.time() - hours_ago * HOUR
    os.utime(path, (then, then))
    return path


def clear(cache: Path, name: str, limits: CacheRules) -> Cleared:
    """Clear all caches, and return what was done to one."""
    return {done.cache: done for done in clear_caches(cache, limits, 1 << 30)}[name]


def test_the_oldest_files_go_until_the_rest_fits(tmp_path: Path) -> None:
    oldest, older, newest = (write(tmp_path / "projects" / name, 4, h) for name, h in [("a", 9), ("b", 5), ("c", 1)])
    done = clear(tmp_path, "projects", rules())
    assert (done.before_bytes, done.after_bytes, done.removed, done.why_above) == (12 * KIB, 8 * KIB, 1, "")
    assert not oldest.exists()
    assert older.exists()
    assert newest.exists()


def test_what_was_read_lately_counts_as_used(tmp_path: Path) -> None:
    read = write(tmp_path / "projects" / "read", 8, 90)
    written = write(tmp_path / "projects" / "written", 8, 50)
    os.utime(read, (time.time(), read.stat().st_mtime))
    clear(tmp_path, "projects", rules())
    assert read.exists()
    assert not written.exists()


def test_a_cache_below_its_limit_is_left_alone(tmp_path: Path) -> None:
    kept = write(tmp_path / "documentation" / "site.jsonl", 4, 5000)
    done = clear(tmp_path, "documentation", rules())
    assert kept.exists()
    assert done.removed == 0


def test_every_cache_has_a_limit_also_one_that_nobody_named(tmp_path: Path) -> None:
    write(tmp_path / "tomorrows-cache" / "deep" / "folder" / "file", 64, 1)
    assert clear(tmp_path, "tomorrows-cache", rules()).after_bytes == 0
    assert not (tmp_path / "tomorrows-cache" / "deep").exists()


def test_a_limit_of_its_own_holds_for_a_named_cache(tmp_path: Path) -> None:
    write(tmp_path / "github" / "archive.zip", 64, 1)
    assert clear(tmp_path, "github", rules(github=100)).removed == 0
    assert clear(tmp_path, "github", rules(github=10)).removed == 1


def test_while_somebody_is_at_work_only_what_was_long_not_used_goes(tmp_path: Path) -> None:
    today, long_ago = write(tmp_path / "projects" / "today", 16, 3), write(tmp_path / "projects" / "old", 16, 100)

    class Worker:
        pass

    worker = Worker()
    use_caches(tmp_path, worker)
    done = clear(tmp_path, "projects", rules())
    assert today.exists()
    assert not long_ago.exists()
    assert done.why_above == "what is left may be in use"
    del worker
    assert clear(tmp_path, "projects", rules()).why_above == ""
    assert not today.exists()


@pytest.mark.parametrize(("at_work", "spared_s"), [(True, 48 * HOUR), (False, 0.0)])
def test_a_file_at_the_limit_of_spared_time_stays_and_an_older_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_work: bool, spared_s: float
) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    at, over = (write(tmp_path / "projects" / name, 16, 0) for name in ("at", "over"))
    for path, seconds in ((at, spared_s), (over, spared_s + 0.5)):
        os.utime(path, (now - seconds, now - seconds))
    descriptor = hold(tmp_path / IN_USE) if at_work else None
    clear(tmp_path, "projects", rules())
    if descriptor is not None:
        os.close(descriptor)
    assert (at.exists(), over.exists()) == (True, False)


def test_a_refresh_is_at_work_with_the_caches_as_long_as_its_house_stands(data: Path) -> None:
    today = write(data / "cache" / "projects" / "today", 16, 3)
    resources = Resources(settings(), load_profile("starter"), Period())
    clear(data / "cache", "projects", rules())
    assert today.exists()
    del resources
    gc.collect()
    clear(data / "cache", "projects", rules())
    assert not today.exists()


def test_a_dry_run_only_measures(tmp_path: Path) -> None:
    kept = write(tmp_path / "projects" / "old", 16, 100)
    (done,) = clear_caches(tmp_path, rules(), 1 << 30, dry_run=True)
    assert (done.before_bytes, done.after_bytes, done.removed) == (16 * KIB, 16 * KIB, 0)
    assert kept.exists()


def test_what_is_kept_is_never_touched(tmp_path: Path) -> None:
    kept = write(tmp_path / "rates.sqlite", 64, 9000)
    limits = rules().model_copy(update={"kept": ("rates.sqlite",)})
    assert [done.cache for done in clear_caches(tmp_path, limits, 1 << 30)] == []
    assert kept.exists()


def test_environments_of_a_survey_go_whole_and_never_in_use(tmp_path: Path) -> None:
    root = tmp_path / "survival" / "2026-11" / "environments"
    for name, hours in [("a", 9), ("b", 5), ("c", 7)]:
        write(root / name / "lib" / "module.py", 16, hours)
        write(root / name / "lock.txt", 1, hours)
        then = write(root / f"{name}.lock", 0, hours).stat().st_mtime
        assert then < time.time()
    (root / "uv").mkdir()
    descriptor = os.open(root / "a.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    done = clear(tmp_path, "survival/2026-11/environments", rules(survival=48))
    os.close(descriptor)
    assert sorted(path.name for path in root.iterdir() if (path / "lock.txt").is_file()) == ["a", "b"]
    assert (root / "a" / "lib" / "module.py").exists()
    assert done.removed == 1


def test_environments_in_use_that_just_fit_are_no_excess(tmp_path: Path) -> None:
    root, name = tmp_path / "survival" / "2026-11" / "environments", "survival/2026-11/environments"

    def add(environment: str, hours: float) -> None:
        write(root / environment / "lib" / "module.py", 16, hours)
        write(root / environment / "lock.txt", 1, hours)
        write(root / f"{environment}.lock", 0, hours)

    add("used", 9)
    (root / "uv").mkdir()
    (measured,) = (d for d in clear_caches(tmp_path, rules(), 1 << 30, dry_run=True) if d.cache == name)
    assert measured.removed == 0
    add("unused", 5)
    descriptor = os.open(root / "used.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    fits = clear(tmp_path, name, rules(survival=measured.before_bytes / KIB))
    tight = clear(tmp_path, name, rules(survival=(measured.before_bytes - 1) / KIB))
    os.close(descriptor)
    assert (fits.removed, fits.after_bytes, fits.why_above) == (1, measured.before_bytes, "")
    assert (tight.removed, tight.why_above) == (0, "in use: used")
    assert clear(tmp_path, name, rules(survival=measured.before_bytes / KIB)).removed == 0
    assert clear(tmp_path, name, rules(survival=(measured.before_bytes - 1) / KIB)).removed == 1


def test_what_no_environment_links_to_stays_as_long_as_all_fits(tmp_path: Path) -> None:
    root, name = tmp_path / "survival" / "2026-11" / "environments", "survival/2026-11/environments"
    archive = write(root / "uv" / "archive-v0" / "a" / "module.py", 16, 9)
    (measured,) = (d for d in clear_caches(tmp_path, rules(), 1 << 30, dry_run=True) if d.cache == name)
    assert measured.before_bytes >= 16 * KIB
    clear(tmp_path, name, rules(survival=measured.before_bytes / KIB))
    assert archive.exists()
    clear(tmp_path, name, rules(survival=(measured.before_bytes - 1) / KIB))
    assert not archive.exists()


def test_what_a_survey_keeps_beside_its_environments_has_a_limit_too(tmp_path: Path) -> None:
    survey = tmp_path / "survival" / "2026-11"
    (survey / "environments").mkdir(parents=True)
    write(survey / "projects" / "a.tar.gz", 64, 100)
    write(survey / "environments" / "uv" / "sdists-v9" / "a", 64, 100)
    limits = rules(survival=48)
    assert clear(tmp_path, "survival/2026-11/projects", limits).after_bytes == 0
    assert not (survey / "environments" / "uv" / "sdists-v9" / "a").exists()


def test_there_may_be_no_cache_yet(tmp_path: Path) -> None:
    assert clear_caches(tmp_path / "none", rules(), 1 << 30) == []


def sources(path: Path, count: int) -> tuple[SourceStore, list[str]]:
    """Make a store of sources with files of a KiB that do not compress, an artifact each; return their hashes in order."""
    store = SourceStore(path)
    hashes = []
    for number in range(count):
        content = os.urandom(4 * KIB)
        sha256 = sha256_of(content)
        artifact = Artifact(f"file:///a{number}.whl", sha256_of(sha256.encode()), 1, ArtifactKind.WHEEL)
        store.add(Manifest(artifact, {f"a{number}.py": sha256}, (), "", ""), {sha256: content})
        hashes.append(sha256)
    return store, hashes


def test_of_a_database_the_oldest_rows_go_and_the_rest_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "artifacts" / "sources.sqlite"
    store, hashes = sources(path, 64)
    done = clear(tmp_path, "artifacts", rules(artifacts=160))
    assert done.before_bytes > 256 * KIB
    assert done.after_bytes <= 160 * KIB
    left = [sha256 for sha256 in hashes if sha256 not in store.missing(hashes)]
    assert left == hashes[-len(left) :]
    assert 10 <= len(left) < 64
    assert store.contents(left).keys() == set(left)


def test_a_database_that_cannot_be_made_smaller_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, limit_bytes: int) -> int:
        raise sqlite3.OperationalError("database or disk is full")

    sources(tmp_path / "artifacts" / "sources.sqlite", 64)
    monkeypatch.setattr("pipeline.execution.caches.clearing.shrink_rows", refuse)
    done = clear(tmp_path, "artifacts", rules(artifacts=160))
    assert (done.removed, done.why_above) == (0, "the disk is full, or it is damaged")


def test_of_the_memory_of_runs_the_oldest_are_forgotten(tmp_path: Path) -> None:
    memory = RunCache(tmp_path / "runs.sqlite")
    keys = [f"key {number}" for number in range(64)]
    for key in keys:
        memory.keep({key: os.urandom(2 * KIB).hex()})
    done = clear(tmp_path, "runs.sqlite", rules(**{"runs.sqlite": 100}))
    assert done.after_bytes <= 100 * KIB
    left = list(memory.recall(keys, str))
    assert left == keys[-len(left) :]
    assert 0 < len(left) < 64


def test_rows_stay_while_somebody_is_at_work(tmp_path: Path) -> None:
    store, hashes = sources(tmp_path / "artifacts" / "sources.sqlite", 64)
    descriptor = hold(tmp_path / IN_USE)
    done = clear(tmp_path, "artifacts", rules(artifacts=160))
    os.close(descriptor)
    assert done.removed == 0
    assert done.why_above
    assert store.missing(hashes) == set()


def test_records_of_older_rules_go_whole_before_a_row_of_the_present_ones(tmp_path: Path) -> None:
    for name, hours in [("old", 90), ("present", 1)]:
        path = tmp_path / "records" / f"{name}.sqlite"
        path.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE records (key TEXT PRIMARY KEY, record BLOB NOT NULL)")
            rows = [(str(number), os.urandom(KIB)) for number in range(64)]
            database.executemany("INSERT INTO records VALUES (?, ?)", rows)
            database.commit()
        then = time.time() - hours * HOUR
        os.utime(path, (then, then))
    clear(tmp_path, "records", rules(records=120))
    assert [path.name for path in (tmp_path / "records").glob("*.sqlite")] == ["present.sqlite"]


def test_a_damaged_database_goes_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "records" / "damaged.sqlite", 64, 1)
    write(tmp_path / "records" / "damaged.sqlite-wal", 64, 1)
    done = clear(tmp_path, "records", rules())
    assert done.after_bytes == 0
    assert not path.exists()
    assert list((tmp_path / "records").iterdir()) == []


@pytest.mark.parametrize("hours", [1.0, 24.0])
def test_the_time_of_reading_is_noted_once_a_day_so_less_cannot_be_spared(hours: float) -> None:
    with raises(ValueError, "spared_hours"):
        CacheRules(gib={}, others_gib=1, spared_hours=hours)
