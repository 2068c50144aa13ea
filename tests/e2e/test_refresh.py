"""The whole main job on a small real library: index, griffe, tree-sitter, uv, sandbox, Parquet."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pipeline.audit.rebuild.outcome import tally
from pipeline.audit.rebuild.sample import Draw, rebuild_sample
from pipeline.core.settings import PROJECT
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.lake.tables import Lake, read_parquet, write_parquet
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, count_unchanged, counts_of, has_news, plan, run_group
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.snapshot import Published
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.index_server import Index, serve
from tests.snapshots.lakes import seal

DRIFTLINE = Path(sys.executable).parent / "driftline"


@pytest.fixture(scope="module")
def demo() -> Iterator[Index]:
    with serve(Index()) as index:
        publish_demo(index)
        yield index


def refresh(monkeypatch: pytest.MonkeyPatch, index: Index, data: Path, run: str, *libraries: str) -> Published:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(data))
    asked = Refresh(run=run, libraries=libraries or ("demo",))
    for library in plan(asked):
        for group in GROUPS:
            run_group(asked, group, library)
    return publish_refresh(asked)


def parquet(data: Path) -> dict[str, str]:
    files = [*(data / "lake").rglob("*.parquet"), *(data / "snapshots").rglob("*.parquet")]
    return {str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def refreshed(demo: Index, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Published]:
    data = tmp_path_factory.mktemp("refreshed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return data, refresh(monkeypatch, demo, data, "first")


def rows(published: Published, table: str) -> list[Any]:
    return read_parquet(published.path / "data" / f"{table}.parquet")


def test_the_releases_that_are_taken_and_why_the_others_are_not(refreshed: tuple[Path, Published]) -> None:
    _, published = refreshed
    assert [row["version"] for row in rows(published, "releases")] == ["1.0", "1.1", "1.2", "2.0"]
    crawl = {row["key"]: row["reason"] for row in rows(published, "rejects") if row["stage"] == "crawl"}
    assert crawl == {"2.1rc1": "pre_release", "2.1": "yanked", "2.2": "no_files"}


def test_the_changes_are_those_that_were_made(refreshed: tuple[Path, Published]) -> None:
    changes = {(c["new_version"], c["path"], c["kind"], c["parameter"]) for c in rows(refreshed[1], "changes")}
    assert changes == {
        ("1.1", "demo.make_loud", "deprecated", None),
        ("1.1", "demo.total", "introduced", None),
        ("1.2", "demo.make_loud", "renamed", None),
        ("1.2", "demo.summed", "introduced", None),
        ("1.2", "demo.total", "deprecated", None),
        ("2.0", "demo.greet", "parameter_renamed", "punctuation"),
        ("2.0", "demo.total", "removed", None),
        ("2.0", "demo.wrong", "removed", None),
    }


def test_what_came_is_proven_by_running_both_neighbours(refreshed: tuple[Path, Published]) -> None:
    """In 1.2 the name that replaces demo.total fits its text and passes too, so that only the row of 1.1 stays."""
    introduced = [c for c in rows(refreshed[1], "completions") if c["libevolutioneval_tag"] == "introduced"]
    assert {
        (c["path"], c["version"], c["evidence"], c["neighbour_version"], c["neighbour_outcome"]) for c in introduced
    } == {
        ("demo.make_louder", "1.2", "executed", "1.1", "api_missing"),
        ("demo.summed", "1.2", "executed", "1.1", "api_missing"),
        ("demo.total", "1.1", "executed", "1.0", "api_missing"),
    }


def test_what_went_is_proven_in_its_last_release(refreshed: tuple[Path, Published]) -> None:
    last = [c for c in rows(refreshed[1], "completions") if c["libevolutioneval_tag"] == "deprecated"]
    assert {(c["path"], c["version"], c["versicode_tag"], c["evidence"]) for c in last} == {
        ("demo.make_loud", "1.1", "deprecation", "executed"),
        ("demo.total", "1.2", "deprecation", "executed"),
        # Its example does not hold; a program written from the change does.
        ("demo.wrong", "1.2", "deprecation", "executed"),
    }


def test_an_example_that_does_not_hold_is_not_published(refreshed: tuple[Path, Published]) -> None:
    _, published = refreshed
    assert "demo.wrong" not in {c["path"] for c in rows(published, "completions") if c["source"] == "docstring"}
    assert {r["reason"] for r in rows(published, "rejects") if r["stage"] == "acceptance"} == {
        "duplicate",
        "flagged",
        "near_duplicate",
        "not_proven",
        "several_answers",
    }


def test_migrations_stand_in_both_directions_and_the_old_code_fails(refreshed: tuple[Path, Published]) -> None:
    columns = ("basis", "path", "version", "target_path", "target_version", "pattern", "discriminating")
    found = {tuple(m[column] for column in columns) for m in rows(refreshed[1], "migrations")}
    assert found == {
        ("renamed", "demo.make_loud", "1.1", "demo.make_louder", "1.2", "minor_to_minor", True),
        ("renamed", "demo.make_louder", "1.2", "demo.make_loud", "1.1", "minor_to_minor", True),
        ("replacement", "demo.summed", "1.2", "demo.total", "1.1", "minor_to_minor", True),
        ("replacement", "demo.total", "1.2", "demo.summed", "2.0", "minor_to_major", True),
        # The example of `greet` in 2.0 states another output, so it is no migration of the one before.
        # A codemod wrote one side of these.
        ("parameters", "demo.greet", "1.2", "demo.greet", "2.0", "minor_to_major", True),
        ("parameters", "demo.greet", "2.0", "demo.greet", "1.2", "major_to_minor", True),
        ("renamed", "demo.make_loud", "1.0", "demo.make_louder", "2.0", "major_to_major", True),
        ("renamed", "demo.make_louder", "2.0", "demo.make_loud", "1.0", "major_to_major", True),
        # One side was written from the change, the other by a codemod. The way back is from the first release that has it.
        ("replacement", "demo.total", "1.1", "demo.summed", "2.0", "minor_to_major", True),
        # Their programs make warnings exceptions: both are deprecated before they go.
        ("renamed", "demo.make_loud", "1.0", "demo.make_louder", "1.2", "major_to_minor", True),
        ("renamed", "demo.make_louder", "1.2", "demo.make_loud", "1.0", "minor_to_major", True),
        ("replacement", "demo.total", "1.1", "demo.summed", "1.2", "minor_to_minor", True),
    }
    with_filter = [m for m in rows(refreshed[1], "migrations") if "simplefilter" in m["source_code"]]
    assert {m["path"] for m in with_filter} == {"demo.make_loud", "demo.make_louder", "demo.total"}


def test_every_completion_can_be_unmasked_and_is_described_without_its_name(refreshed: tuple[Path, Published]) -> None:
    completions = rows(refreshed[1], "completions")
    assert {c["granularity"] for c in completions} >= {"token", "line"}
    for c in completions:
        assert unmask(c["masked_code"], c["granularity"], c["answer"], c["core_token"]) == c["code"]
        assert c["core_token"].lower() not in (c["description"] or "").lower()


def test_counts_add_up_in_every_stage(refreshed: tuple[Path, Published], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(refreshed[0]))
    counts = counts_of(Refresh(run="first"))
    assert {count.stage for count in counts} == {name for names in GROUPS.values() for name in names}
    for count in counts:
        assert count.units_in == count.units_out + sum(count.rejected.values()) + count.unchanged


def test_the_snapshot_holds_together(refreshed: tuple[Path, Published]) -> None:
    assert verify(refreshed[1].path) == []
    assert latest(refreshed[0] / "snapshots", "starter") == refreshed[1].path


def test_a_second_run_changes_nothing(
    refreshed: tuple[Path, Published], demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, published = refreshed
    before = parquet(data)
    again = refresh(monkeypatch, demo, data, "second")
    # a crawl remembers until when it has looked
    assert {path: digest for path, digest in parquet(data).items() if "/stage_states/" not in path} == {
        path: digest for path, digest in before.items() if "/stage_states/" not in path
    }
    assert (again.manifest_sha256, again.written) == (published.manifest_sha256, False)
    assert all(count.unchanged == count.units_in for count in counts_of(Refresh(run="second")))


def test_a_library_without_news_ends_after_its_crawl_and_is_counted(
    refreshed: tuple[Path, Published], demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(refreshed[0]))
    idle = Refresh(run="idle", libraries=("demo",))
    run_group(idle, "crawl", "demo")
    assert not has_news(idle, "demo")
    count_unchanged(idle, "demo")
    counts = counts_of(idle)
    assert {count.stage for count in counts} == {name for names in GROUPS.values() for name in names}
    assert all(count.unchanged == count.units_in for count in counts)


def test_a_library_with_news_goes_on_after_its_crawl(
    demo: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    first = Refresh(run="first", libraries=("demo",))
    begun: list[str] = []
    lake = Lake(tmp_path / "lake")
    lake.write("rejects", "demo", [], part="removed_stage")
    run_group(first, "crawl", "demo", begun.append)
    lake.refresh()
    assert lake.files("rejects", "demo").keys() == set(GROUPS["crawl"])
    assert tuple(begun) == tuple(GROUPS["crawl"])
    assert has_news(first, "demo")
    assert {count.stage for count in counts_of(first)} == set(GROUPS["crawl"])


def test_only_the_first_group_looks_outside(demo: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    stages = stages_of(Refresh(run="any", libraries=("demo",)).resources())
    assert {name for name, stage in stages.items() if not stage.reads} == set(GROUPS["crawl"])


class WholeTables(Lake):
    """A lake that gives all columns and rows, whatever is asked for."""

    def _read(self, name: str, library: str, where: object, columns: object) -> list[Any]:
        return super()._read(name, library, None, None)


def test_stages_make_the_same_of_parts_of_tables_as_of_whole_ones(
    refreshed: tuple[Path, Published], demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(refreshed[0]))
    resources = Refresh(run="parts", libraries=("demo",)).resources()
    stages = [stage for stage in stages_of(resources).values() if stage.partly]
    whole = WholeTables(resources.lake.root)
    made = {stage.name: stage.run(resources.lake, "demo", None) for stage in stages}
    assert made == {stage.name: stage.run(whole, "demo", None) for stage in stages}
    assert {name for name, output in made.items() if output.units_out} >= {
        "usage",
        "instances",
        "drafting",
        "validation",
    }


def test_a_library_that_does_not_exist_does_not_hold_up_the_others(
    refreshed: tuple[Path, Published], demo: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(shutil.copytree(refreshed[0], tmp_path / "data", symlinks=True))
    published = refresh(monkeypatch, demo, data, "mixed", "nonesuch", "demo")
    reasons = {(r["library"], r["reason"]) for r in rows(published, "rejects") if r["stage"] == "crawl"}
    assert ("nonesuch", "no_such_library") in reasons
    assert published.rows["completions"] == refreshed[1].rows["completions"]


def command(index: Index, data: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"DRIFTLINE_INDEX_URL": index.simple, "DRIFTLINE_DATA": str(data)}
    return subprocess.Popen(
        [DRIFTLINE, "refresh", "--libraries", "demo"],
        env=environment,
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def test_a_sample_of_it_comes_out_again_from_its_provenance(
    refreshed: tuple[Path, Published], demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, published = refreshed
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(data))
    sample = rebuild_sample(published.path, Draw(20))
    assert (sample.differing_basis, sample.differing, sample.problems) == ((), [], [])
    counts = tally(sample.results)
    assert {"completions", "migrations", "controlled_completions", "contexts", "snippets", "uses"} <= set(counts)
    assert all(set(counts[config]) == {"same"} for config in ("completions", "contexts", "uses"))
    # programs written from changes are not written again
    assert set(counts["snippets"]) == {"same", "not_rebuilt"}
    # docstrings were read again from the artifacts
    assert counts["documents"] == {"part": counts["documents"]["part"]}


def test_a_row_that_was_touched_and_sealed_is_found_by_making_it_again(
    refreshed: tuple[Path, Published], demo: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but making it again can tell: hashes, references and vocabularies all hold."""
    data, published = refreshed
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", demo.simple)
    monkeypatch.setenv("DRIFTLINE_DATA", str(data))
    copy = Path(shutil.copytree(published.path, tmp_path / "copy"))
    path = copy / "data" / "completions.parquet"
    found = [row | {"description": "Does it."} for row in read_parquet(path)]
    write_parquet(path, TABLES["completions"], found, volatile=False)
    seal(copy)
    assert verify(copy) == []
    problems = rebuild_sample(copy, Draw(1)).problems
    assert [problem for problem in problems if problem.startswith("completions") and "description" in problem]


def test_killed_again_and_again_and_then_left_alone(
    refreshed: tuple[Path, Published], demo: Index, tmp_path: Path
) -> None:
    """Each try lives a little longer; together they die in crawl, analysis, building, running and publishing."""
    data = tmp_path / "data"
    for seconds in (1.0, 1.6, 2.2, 3.0, 4.0):
        process = command(demo, data)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = command(demo, data)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    published = latest(data / "snapshots", "starter")
    assert published is not None
    assert (published / "manifest.json").read_bytes() == (refreshed[1].path / "manifest.json").read_bytes()


@pytest.mark.slow
@pytest.mark.soak
def test_killed_at_twenty_random_moments(refreshed: tuple[Path, Published], demo: Index, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    moments = random.Random(seed)
    data = tmp_path / "data"
    for _ in range(20):
        process = command(demo, data)
        time.sleep(moments.uniform(0.5, 6.0))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = command(demo, data)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, f"seed {seed}: {errors.decode()}"
    published = latest(data / "snapshots", "starter")
    assert published is not None
    assert (published / "manifest.json").read_bytes() == (refreshed[1].path / "manifest.json").read_bytes(), seed


def test_two_refreshes_at_once_give_one_result(refreshed: tuple[Path, Published], demo: Index, tmp_path: Path) -> None:
    data = tmp_path / "data"
    processes = [command(demo, data) for _ in range(2)]
    results = [process.communicate(timeout=180) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    published = latest(data / "snapshots", "starter")
    assert published is not None
    assert (published / "manifest.json").read_bytes() == (refreshed[1].path / "manifest.json").read_bytes()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="a small disk can be mounted by root only")
def test_the_disk_is_full_and_then_it_is_not(refreshed: tuple[Path, Published], demo: Index, tmp_path: Path) -> None:
    """On a small disk the refresh ends with status 1 and says so; with space again it goes on where it was."""
    data = tmp_path / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", data], check=True)
    try:
        process = command(demo, data)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 1
        assert b"No space left" in errors
        assert b"Traceback" not in errors
        subprocess.run(["mount", "-o", "remount,size=512m", data], check=True)
        process = command(demo, data)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
        assert Lake(data / "lake").read("releases", "demo")
        published = latest(data / "snapshots", "starter")
        assert published is not None
        assert (published / "manifest.json").read_bytes() == (refreshed[1].path / "manifest.json").read_bytes()
    finally:
        subprocess.run(["umount", "-l", data], check=True)
