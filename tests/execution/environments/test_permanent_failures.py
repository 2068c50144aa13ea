"""Failures that nothing can change are not tried again; all others are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.running import EnvironmentOutcome as Outcome
from pipeline.execution.environments.permanent_failures import is_settled, lacked, may_pass
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.resolver import portable_log
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.stage import environments_stage
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.sandbox import NoSandbox
from pipeline.index.http import Fetcher
from pipeline.lake.rows import ReleaseRow
from tests.execution.environments.builds.sources import source
from tests.execution.environments.test_store import MAY, packed
from tests.index_server import Index

Stores = Callable[..., EnvironmentStore]
Wants = Callable[..., EnvironmentRequest]

_GL = "raise ImportError('libGL.so.1: cannot open shared object file')"


@pytest.fixture
def store(store_at: Stores, tmp_path: Path) -> Callable[..., EnvironmentStore]:
    """Make a store on one folder, as the next refresh does."""

    def make(**rules: Any) -> EnvironmentStore:
        return store_at(tmp_path, **({"interpreters_tried": 1, "import_timeout_s": 1} | rules))

    return make


def built_row(index: Index, store: EnvironmentStore, wanted: EnvironmentRequest) -> tuple[Any, dict[str, int]]:
    """Build, and return the row and how often what was asked of the index meanwhile."""
    index.requests.clear()
    return store.build(wanted), dict(index.requests)


@pytest.mark.parametrize(
    ("source", "requires", "tools", "outcome", "again"),
    [
        ("import missing", None, (), Outcome.IMPORT_FAILED, set()),
        (_GL, None, (), Outcome.MISSING_SYSTEM_LIBRARY, set()),
        ("", "dep>=2", (), Outcome.UNRESOLVABLE, set()),
        ("", "absent", (), Outcome.UNRESOLVABLE, {"/pypi/absent/json", "/simple/absent/"}),
        ("", None, ("pytest",), Outcome.UNRESOLVABLE, {"/pypi/pytest/json", "/simple/pytest/"}),
    ],
)
def test_a_failure_of_a_time_long_past_stands(
    index: Index,
    store: Stores,
    request_for: Wants,
    source: str,
    requires: str | None,
    tools: tuple[str, ...],
    outcome: Outcome,
    again: set[str],
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", source, requires), MAY)
    index.add("dep", "1.0", packed("dep", "1.0", ""), MAY)
    first, _ = built_row(index, store(), request_for(tools=tools))
    assert first["outcome"] == outcome
    second, requests = built_row(index, store(), request_for(tools=tools))
    assert second == first
    # A name that the index lacked is looked for once more, in both of its documents, and nothing else is.
    assert requests == dict.fromkeys(again, 1)


@pytest.mark.parametrize(
    ("mirrored_s", "tools_days", "settled"), [(0, 1, True), (-1, 1, False), (0, 0, False), (0, -1, False)]
)
def test_a_failure_is_settled_when_mirrors_have_all_and_every_dated_tool_is_out(
    mirrored_s: int, tools_days: int, settled: bool
) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    cutoff = now - timedelta(days=1, seconds=mirrored_s)
    row: Any = {"attempts": [{"outcome": Outcome.UNRESOLVABLE, "detail": "no such release", "cutoff": cutoff}]}
    rules = environment_rules().model_copy(
        update={"tools_as_of": now.date() - timedelta(days=tools_days), "taken_later": {}}
    )
    assert is_settled(row, rules, now) is settled


def test_what_was_built_stands_though_an_attempt_lacked_something(
    index: Index, store: Stores, request_for: Wants
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "", "absent; python_version >= '3.9'"), MAY)
    first = store(interpreters_tried=2).build(request_for())
    assert [attempt["python"] for attempt in (first["attempts"][0], first)] == ["3.9", "3.8"]
    index.add("absent", "1.0", packed("absent", "1.0", ""), MAY)
    assert built_row(index, store(interpreters_tried=2), request_for()) == (first, {})


def test_what_the_index_lacked_is_used_when_it_is_there(index: Index, store: Stores, request_for: Wants) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", ""), MAY)
    assert store().build(request_for(tools=("pytest",)))["outcome"] == Outcome.UNRESOLVABLE
    index.add("pytest", "1.0", packed("pytest", "1.0", ""), MAY)
    assert store().build(request_for(tools=("pytest",)))["outcome"] == Outcome.BUILT


def test_an_index_that_is_down_is_asked_again(index: Index, store: Stores, request_for: Wants) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", "", "absent"), MAY)
    assert store().build(request_for())["outcome"] == Outcome.UNRESOLVABLE
    index.faults = {"/pypi/absent/json": [503]}
    down = store()
    down.facts = IndexFacts(index.simple, Fetcher(timeout_s=5, retries=0))
    with pytest.raises(IndexUnreachable):
        down.build(request_for())
    assert store().build(request_for())["outcome"] == Outcome.UNRESOLVABLE


def _days_ago(days: int) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - timedelta(days=days)


@pytest.mark.parametrize(
    ("source", "wish", "outcome"),
    [
        # what is uploaded from now on may fit, and what was uploaded an hour ago may not be seen yet
        ("import missing", {"release_time": _days_ago(5)}, Outcome.IMPORT_FAILED),
        ("import missing", {"release_time": _days_ago(5), "as_of": _days_ago(0)}, Outcome.IMPORT_FAILED),
        ("import time; time.sleep(60)", {}, Outcome.TIMED_OUT),
        ("import os; os.kill(os.getpid(), 9)", {}, Outcome.IMPORT_FAILED),
        (
            "import os, sys; print('old', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)",
            {},
            Outcome.IMPORT_FAILED,
        ),
        ("raise MemoryError", {}, Outcome.IMPORT_FAILED),
        ("", {"library": "nowhere"}, Outcome.NO_FILES),
        ("", {"version": "3.0"}, Outcome.NO_FILES),
        ("", {"requires_python": ">=4"}, Outcome.NO_INTERPRETER),
    ],
)
def test_a_failure_that_may_pass_is_tried_again(
    index: Index, store: Stores, request_for: Wants, source: str, wish: dict[str, Any], outcome: Outcome
) -> None:
    index.add("lib", "1.0", packed("lib", "1.0", source), MAY)
    assert store().build(request_for(**wish))["outcome"] == outcome
    _, requests = built_row(index, store(), request_for(**wish))
    assert requests


def test_a_download_that_failed_is_tried_again(index: Index, store: Stores, request_for: Wants) -> None:
    file = index.add("lib", "1.0", packed("lib", "1.0", ""), MAY, sha256="0" * 64)
    assert file is not None
    assert store().build(request_for())["outcome"] == Outcome.INSTALL_FAILED
    file.sha256 = hashlib.sha256(file.content).hexdigest()
    assert store().build(request_for())["outcome"] == Outcome.BUILT


def test_a_source_that_did_not_come_whole_is_tried_again(index: Index, store: Stores, request_for: Wants) -> None:
    file = index.add("lib", "1.0", source("lib"), MAY, sha256="0" * 64)
    assert file is not None
    assert "ash mismatch" in (store().build(request_for())["detail"] or "")
    file.sha256 = hashlib.sha256(file.content).hexdigest()
    assert store().build(request_for())["outcome"] == Outcome.BUILT


@pytest.mark.parametrize("name", ["absent", "absent[extra]"])
def test_what_the_index_lacked_is_known_however_long_the_reasons_are(name: str) -> None:
    said = portable_log(f"Because {name} was not found in the package registry and {'so on, ' * 200}")
    assert list(lacked({"outcome": Outcome.UNRESOLVABLE, "attempts": [{"detail": said}]})) == ["absent"]


@pytest.mark.parametrize(
    ("outcome", "detail", "passes"),
    [
        (Outcome.IMPORT_FAILED, "OldWarning: old\nended with status 137", True),
        (Outcome.IMPORT_FAILED, "RuntimeError: can't start new thread", True),
        (Outcome.IMPORT_FAILED, "blas_thread_init: pthread_create failed: Resource temporarily unavailable", True),
        (Outcome.BUILD_FAILED, "Call to `setuptools.build_meta.build_wheel` failed (signal: 9 (SIGKILL))", True),
        (Outcome.BUILD_FAILED, "gcc: fatal error: Killed signal terminated program cc1", True),
        (Outcome.BUILD_FAILED, "Hash mismatch for `lib==1.0`", True),
        (Outcome.NO_FILES, "… status 403", True),
        (Outcome.NO_FILES, "… sha256 00, the index says 11 (3 bytes came)", True),
        (Outcome.UNRESOLVABLE, "Failed to fetch: `…`\nHTTP status client error (404 Not Found) for url (…)", True),
        (Outcome.INSTALL_FAILED, "Failed to read metadata", True),
        (Outcome.BUILD_FAILED, "error: command 'gcc' failed with exit status 1", False),
        (Outcome.BUILD_FAILED, "make exited with status 2", False),
        (Outcome.NO_FILES, "lib==1.0 has no usable wheels", False),
        (Outcome.UNRESOLVABLE, "Because absent was not found in the package registry", False),
    ],
)
def test_what_may_pass_by_itself(outcome: Outcome, detail: str, passes: bool) -> None:
    assert may_pass({"outcome": outcome, "attempts": [{"outcome": outcome, "detail": detail}]}) is passes


@pytest.mark.parametrize("changed", ["rules", "index", "system", "sandbox", "uv"])
def test_a_failure_stands_only_where_it_was_seen(
    index: Index, store: Stores, request_for: Wants, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    installed.write_text("")
    monkeypatch.setattr("pipeline.execution.environments.permanent_failures._INSTALLED", (str(installed),))
    index.add("lib", "1.0", packed("lib", "1.0", _GL), MAY)
    assert store().build(request_for())["outcome"] == Outcome.MISSING_SYSTEM_LIBRARY
    rules = {}
    match changed:
        case "rules":
            rules = {"later_days": 200}
        case "index":
            index.url = index.url.replace("127.0.0.1", "localhost")
        case "system":
            installed.write_text("libgl1")
        case "uv":
            monkeypatch.setattr("pipeline.execution.environments.store.version", lambda name: "99")
    other = store(**rules)
    if changed == "sandbox":
        other = EnvironmentStore(tmp_path, index_url=index.simple, rules=other.rules, sandbox=NoSandbox())
    _, requests = built_row(index, other, request_for())
    assert requests


def test_a_row_of_the_lake_stands_unless_its_failure_may_pass(
    index: Index, store: Stores, release: Callable[..., ReleaseRow]
) -> None:
    for version in ("1.0", "1.1"):
        index.add("lib", version, packed("lib", version, "import missing"), MAY)
    versions = ["1.0", "1.1"]
    first = environments_stage(
        {"releases": [release(version) for version in versions], "environments": []}, versions, store()
    )
    killed, failed = (row | {"build_s": 0.5} for row in first.tables["environments"])
    killed["attempts"] = [killed["attempts"][0] | {"detail": "ended with status 137"}]
    rows = environments_stage(
        {"releases": [release(version) for version in versions], "environments": [killed, failed]},
        versions,
        store(),
        first.progress,
    ).tables["environments"]
    assert [row["build_s"] == 0.5 for row in rows] == [False, True]


def test_a_new_release_alone_asks_the_index(
    index: Index, store: Stores, release: Callable[..., ReleaseRow], request_for: Wants
) -> None:
    """What the stages build again for each new release: environments of all releases, of which some cannot be built."""
    versions = ["1.0", "1.1", "1.2"]
    for version in versions:
        index.add("lib", version, packed("lib", version, "import missing" if version == "1.1" else ""), MAY)
    for version in versions[:2]:
        store().build(request_for(version))
    index.requests.clear()
    output = environments_stage(
        {"releases": [release(version) for version in versions], "environments": []}, versions, store()
    )
    assert [row["outcome"] for row in output.tables["environments"]] == ["built", "import_failed", "built"]
    assert {path for path in index.requests if path.startswith("/files/")} == {"/files/lib-1.2-py3-none-any.whl"}
