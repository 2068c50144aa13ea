from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.core.vocabularies.running import Rung
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.execution.environments.resolution.rules import Extras, environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.schema import table
from tests.errors import raises
from tests.execution.environments.builds.sources import source
from tests.index_server import Index, wheel

Stores = Callable[..., EnvironmentStore]
Wants = Callable[..., EnvironmentRequest]

MAY = "2021-05-01T00:00:00Z"


def packed(name: str, version: str, source: str, requires: str | None = None) -> tuple[str, bytes]:
    extra = {"Requires_Dist": requires} if requires else {}
    return wheel(name, version, {f"{name}.py": source}, **extra)


def test_dependencies_are_those_of_the_day(index: Index, store_at: Stores, request_for: Wants, tmp_path: Path) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "import dep", "dep"), MAY)
    index.add("dep", "1.0", packed("dep", "1.0", ""), "2021-01-01T00:00:00Z")
    index.add("dep", "2.0", packed("dep", "2.0", ""), "2023-01-01T00:00:00Z")
    store = store_at(tmp_path)
    row: Any = store.build(request_for())
    table("environments").check(row)
    assert (row["outcome"], row["rung"], row["python"]) == (Outcome.BUILT, Rung.WHEELS, "3.9")
    assert row["cutoff"] == datetime(2021, 5, 31, tzinfo=UTC)
    assert re.findall(r"^(\S+)==(\S+)", row["lock"], re.M) == [("dep", "1.0"), ("lib", "1.0")]
    assert row["lock"].count("--hash=sha256:") == 2
    assert "127.0.0.1" not in row["lock"]
    again = store_at(tmp_path / "elsewhere").build(request_for())
    assert row | {"build_s": 0} == again | {"build_s": 0}


def test_an_index_without_upload_times_is_dated_from_its_documents(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "import dep", "dep"), MAY)
    index.add("dep", "1.0", packed("dep", "1.0", ""), "2021-01-01T00:00:00Z")
    index.add("dep", "2.0", packed("dep", "2.0", ""), "2023-01-01T00:00:00Z")
    with_times = store_at(tmp_path / "a").build(request_for())
    index.upload_times = index.simple_json = False
    row: Any = store_at(tmp_path / "b").build(request_for())
    assert row | {"build_s": 0} == with_times | {"build_s": 0}
    index.documents = False
    nowhere = store_at(tmp_path / "c", interpreters_tried=1).build(request_for())
    assert nowhere["outcome"] == Outcome.UNRESOLVABLE


def test_an_environment_works_has_bytecode_and_comes_back_from_its_lock(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "answer = 42"), MAY)
    store = store_at(tmp_path)
    row: Any = store.build(request_for())
    environment = store.open(row)
    assert list((environment.site_packages / "__pycache__").glob("lib.*.pyc"))
    shutil.rmtree(tmp_path / row["lock_id"])
    index.projects.clear()
    assert store.open(row) == environment
    said = subprocess.run([environment.python, "-c", "import lib; print(lib.answer)"], capture_output=True, check=True)
    assert said.stdout == b"42\n"
    assert environment.python_version == row["python"]
    linked = (environment.site_packages / "lib.py").stat().st_nlink
    assert linked > 1


def test_a_later_dependency_is_found_on_the_second_rung(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "", "dep>=2"), MAY)
    index.add("dep", "2.0", packed("dep", "2.0", ""), "2021-09-01T00:00:00Z")
    row: Any = store_at(tmp_path).build(request_for())
    assert (row["outcome"], row["rung"]) == (Outcome.BUILT, Rung.WHEELS_LATER)


BROKEN = "raise ImportError('not on this Python')"
SUMMER, AUTUMN = "2021-07-01T00:00:00Z", "2021-09-01T00:00:00Z"


@pytest.mark.parametrize("how", ["source", "import", "same_release"])
def test_one_dependency_that_fails_is_taken_at_its_next_wheel_and_nothing_else_moves(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path, how: str
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "import old, other", "old\nRequires-Dist: other"), MAY)
    if how == "import":
        index.add("old", "1.0", packed("old", "1.0", BROKEN), MAY)
        index.add("old", "1.1", packed("old", "1.1", BROKEN), SUMMER)
    else:
        index.add("old", "1.0", source("old", body="raise SystemExit('error: this source is too old')"), MAY)
        index.add("old", "1.1", source("old", "1.1"), SUMMER)
    after = "1.0" if how == "same_release" else "1.2"
    index.add("old", after, packed("old", after, ""), AUTUMN)
    index.add("old", "2.0", packed("old", "2.0", BROKEN), AUTUMN)
    index.add("other", "1.0", packed("other", "1.0", ""), MAY)
    index.add("other", "2.0", packed("other", "2.0", BROKEN), SUMMER)
    row: Any = store_at(tmp_path).build(request_for())
    table("environments").check(row)
    assert (row["outcome"], row["rung"], row["cutoff"].month) == (Outcome.BUILT, Rung.ONE_LATER, 5), row
    assert row["moved"] == f"old 1.0 -> {after} (wheel of 2021-09-01)"
    assert re.findall(r"^(\S+)==(\S+)", row["lock"], re.M) == [("lib", "1.0"), ("old", after), ("other", "1.0")]
    assert [tried["moved"] is None for tried in row["attempts"]][:2] == [True, True]
    assert row["attempts"][-1]["moved"] == row["moved"]


def test_requested_pins_and_the_release_itself_never_move(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "import old", "old"), MAY)
    index.add("lib", "1.1", packed("lib", "1.1", ""), SUMMER)
    index.add("old", "1.0", packed("old", "1.0", BROKEN), MAY)
    index.add("old", "1.1", packed("old", "1.1", ""), SUMMER)
    asked = store_at(tmp_path, interpreters_tried=1).build(request_for(pins=("old<1.1",)))
    assert asked["outcome"] == Outcome.IMPORT_FAILED
    assert Rung.ONE_LATER not in {tried["rung"] for tried in asked["attempts"]}
    soon = store_at(tmp_path, interpreters_tried=1).build(request_for(as_of=datetime(2021, 6, 15, tzinfo=UTC)))
    assert soon["outcome"] == Outcome.IMPORT_FAILED, "nothing of after the day of the run is used"
    assert store_at(tmp_path).build(request_for())["moved"] == "old 1.0 -> 1.1 (wheel of 2021-07-01)"


def test_what_nothing_requires_is_as_of_the_day_without_slack(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "", "dep"), MAY)
    for name in ("dep", "optional"):
        index.add(name, "1.0", packed(name, "1.0", ""), "2021-01-01T00:00:00Z")
        index.add(name, "2.0", packed(name, "2.0", ""), "2021-05-05T00:00:00Z")
    row: Any = store_at(tmp_path).build(request_for(undeclared=("optional",)))
    assert re.findall(r"^(\S+)==(\S+)", row["lock"], re.M) == [("dep", "2.0"), ("lib", "1.0"), ("optional", "1.0")]
    newer = store_at(tmp_path).build(request_for(undeclared=("optional>=2",)))
    assert (newer["outcome"], newer["rung"]) == (Outcome.BUILT, Rung.WHEELS_LATER), "what was not there on the day"


def test_gaps_are_pinned_beside(index: Index, store_at: Stores, request_for: Wants, tmp_path: Path) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "import forgotten"), MAY)
    index.add("forgotten", "1.0", packed("forgotten", "1.0", ""), "2020-01-01T00:00:00Z")
    assert store_at(tmp_path).build(request_for())["outcome"] == Outcome.IMPORT_FAILED
    shipped = environment_rules()
    gaps = (shipped.gaps[0].model_copy(update={"pins": ("forgotten<2",), "before": None}),)
    assert store_at(tmp_path, gaps=gaps).build(request_for())["outcome"] == Outcome.BUILT


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (["1.0"], ["lib==1.0", "optional==1.0"]),
        (["2.0"], ["lib==1.0"]),  # another than the extra asks for
        ([], ["lib==1.0"]),
    ],
)
def test_extras_are_installed_where_they_can_be(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path, offered: list[str], expected: list[str]
) -> None:
    metadata = {"Provides_Extra": "all", "Requires_Dist": "optional<2; extra == 'all'"}
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": ""}, **metadata), MAY)
    for version in offered:
        index.add("optional", version, packed("optional", version, ""), "2020-01-01T00:00:00Z")
    row = store_at(tmp_path, extras=(Extras(library="lib", extras=("all", "unknown")),)).build(request_for())
    assert row["outcome"] == Outcome.BUILT
    assert re.findall(r"^(\S+==\S+)", row["lock"] or "", re.M) == expected


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.NO_SPACE])
def test_extras_are_not_left_out_because_a_machine_was_slow_or_full(
    index: Index,
    store_at: Stores,
    request_for: Wants,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcome: Outcome,
) -> None:
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": ""}, Provides_Extra="all"), MAY)
    real = Resolver.lock

    def lock(self: Resolver, requirements: Sequence[str], *others: Any) -> str:
        if requirements[0].startswith("lib["):
            raise StepFailed(outcome, "resolving")
        return real(self, requirements, *others)

    monkeypatch.setattr(Resolver, "lock", lock)
    row = store_at(tmp_path, extras=(Extras(library="lib", extras=("all",)),)).build(request_for())
    assert row["outcome"] == outcome


@pytest.mark.parametrize(
    ("source", "requires", "changed", "outcome", "detail"),
    [
        ("", "nothing-of-that-name", {}, Outcome.UNRESOLVABLE, "nothing-of-that-name was not found"),
        ("import missing", None, {}, Outcome.IMPORT_FAILED, "No module named 'missing'"),
        ("import os; os._exit(0)", None, {}, Outcome.IMPORT_FAILED, "ended with status 0"),
        ("import time; time.sleep(60)", None, {}, Outcome.TIMED_OUT, "importing"),
        ("", None, {"requires_python": ">=4"}, Outcome.NO_INTERPRETER, ">=4"),
        (
            "",
            None,
            {"version": "3.0"},
            Outcome.NO_FILES,
            "lib 3.0: the index has no such release; the nearest are 1.0, 2.0",
        ),
        ("", None, {"library": "nowhere"}, Outcome.NO_FILES, "the index does not know nowhere"),
        ("", None, {"python": "2.7"}, Outcome.NO_INTERPRETER, "Python 2.7 is not installed; here is 3."),
        (
            "raise ImportError('libGL.so.1: cannot open shared object file')",
            None,
            {},
            Outcome.MISSING_SYSTEM_LIBRARY,
            "libGL.so.1",
        ),
        ("open('/escaped', 'w')", None, {}, Outcome.IMPORT_FAILED, "Read-only file system"),
    ],
)
def test_failures_end_in_an_outcome(
    index: Index,
    store_at: Stores,
    request_for: Wants,
    tmp_path: Path,
    source: str,
    requires: str | None,
    changed: dict[str, str],
    outcome: Outcome,
    detail: str,
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", source, requires), MAY)
    index.add("lib", "2.0", packed("lib", "2.0", ""), MAY)
    row: Any = store_at(tmp_path, import_timeout_s=1, interpreters_tried=1).build(request_for(**changed))
    table("environments").check(row)
    assert row["outcome"] == outcome
    assert detail in row["detail"]
    assert str(tmp_path) not in row["detail"]


def test_a_wheel_that_is_not_what_was_promised(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY, sha256="0" * 64)
    row: Any = store_at(tmp_path).build(request_for())
    assert row["outcome"] == Outcome.INSTALL_FAILED
    assert "Hash mismatch" in row["detail"]


def test_nothing_of_a_package_runs_outside_the_sandbox(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    marker = tmp_path / "escaped"
    line = f"import os; os.access({str(tmp_path)!r}, os.W_OK) and open({str(marker)!r}, 'w')\n"
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": line, "evil.pth": line, "sitecustomize.py": line}), MAY)
    store = store_at(tmp_path / "store")
    row: Any = store.build(request_for())
    assert row["outcome"] == Outcome.BUILT
    shutil.rmtree(tmp_path / "store" / row["lock_id"])
    store.open(row)
    assert not marker.exists()


def test_an_index_that_fails_is_not_a_fact_about_the_release(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    index.faults["/simple/lib/"] = [503] * 9
    with pytest.raises(IndexUnreachable):
        store_at(tmp_path).build(request_for())


def test_a_strict_umask_does_not_lock_the_sandbox_out(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    before = os.umask(0o077)
    try:
        row: Any = store_at(tmp_path / "store").build(request_for())
    finally:
        os.umask(before)
    assert row["outcome"] == Outcome.BUILT, row["detail"]


def test_what_cannot_be_opened(store_at: Stores, tmp_path: Path) -> None:
    store = store_at(tmp_path)
    failed: Any = {"library": "lib", "version": "1", "outcome": Outcome.NO_FILES}
    with raises(ValueError, "lib 1", "no_files", code="environment_missing"):
        store.open(failed)
    with raises(StepFailed, "3.99"):
        store.open(failed | {"outcome": Outcome.BUILT, "python": "3.99", "lock_id": "x", "lock": ""})


def build_in_process(root: str, url: str, wanted: EnvironmentRequest, start: object, answers: object) -> None:
    rules = environment_rules().model_copy(update={"gaps": ()})
    store = EnvironmentStore(Path(root), index_url=url, rules=rules)
    start.wait()  # type: ignore[attr-defined]
    answers.put(store.build(wanted)["outcome"])  # type: ignore[attr-defined]


def test_two_processes_build_the_same_lock(index: Index, request_for: Wants, tmp_path: Path) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(2), context.Queue()
    arguments = (str(tmp_path), index.simple, request_for(), start, answers)
    processes = [context.Process(target=build_in_process, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    outcomes = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert outcomes == [Outcome.BUILT, Outcome.BUILT]
    assert len([path for path in tmp_path.iterdir() if re.fullmatch(r"[0-9a-f]{32}", path.name)]) == 1
    assert not list(tmp_path.glob(".*.new"))


def test_what_a_killed_build_left_is_cleared(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    store = store_at(tmp_path)
    row: Any = store.build(request_for())
    shutil.rmtree(tmp_path / row["lock_id"])
    (tmp_path / f".{row['lock_id']}.new" / "lib").mkdir(parents=True)
    store.open(row)
    assert (tmp_path / row["lock_id"] / "lock.txt").read_text() == row["lock"]
    assert not list(tmp_path.glob(".*.new"))


def test_a_full_disk(index: Index, tmp_path: Path) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", f"x = {os.urandom(4 << 20).hex()!r}"), MAY)
    program = f"""
import subprocess, sys
from pathlib import Path
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", sys.argv[1]], check=True)
rules = environment_rules().model_copy(update={{"gaps": ()}})
store = EnvironmentStore(Path(sys.argv[1]), index_url={index.simple!r}, rules=rules)
row = store.build(EnvironmentRequest("lib", "1.0"))
print(row["outcome"], row["detail"])
"""
    own_mounts = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
    done = subprocess.run(
        [*own_mounts, sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, cwd=PROJECT
    )
    assert (done.stdout, done.stderr[-500:]) == ("no_space No space left on device\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "version", "day", "names", "python"),
    [
        ("markupsafe", "2.0.1", datetime(2021, 5, 18, tzinfo=UTC), ["markupsafe"], "3.9"),
        ("flask", "2.2.5", datetime(2023, 5, 2, tzinfo=UTC), ["flask"], "3.11"),
    ],
)
def test_real_releases(
    tmp_path: Path, library: str, version: str, day: datetime, names: list[str], python: str
) -> None:
    from pipeline.core.settings import index_url

    store = EnvironmentStore(tmp_path, index_url=index_url(), rules=environment_rules())
    row: Any = store.build(EnvironmentRequest(library, version))
    assert (row["outcome"], row["python"]) == (Outcome.BUILT, python), row["detail"]


def test_uv_installs_an_interpreter_only_where_it_is_allowed_to(
    index: Index, store_at: Stores, request_for: Wants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "pythons"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    store = store_at(tmp_path)
    row: Any = store.build(request_for(python="3.14"))
    assert row["outcome"] == Outcome.NO_INTERPRETER
    assert row["detail"].endswith("install it, or let uv do so with DRIFTLINE_INSTALL_PYTHON=true")
    assert not (tmp_path / "pythons").exists()
    monkeypatch.setenv("DRIFTLINE_INSTALL_PYTHON", "true")
    row = store.build(request_for(python="3.14"))
    assert (row["outcome"], row["attempts"]) == (Outcome.NO_INTERPRETER, [])
    assert row["detail"].startswith("uv cannot install Python 3.14: ")
