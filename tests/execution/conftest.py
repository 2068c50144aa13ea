"""What the tests of environments share: a sandbox that works, a store over the index on loopback, a release to build."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.execution.environments.builds.build_rules import build_rules
from pipeline.execution.environments.builds.builds import Builder
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover
from pipeline.execution.environments.resolution.request import EnvironmentRequest, request_of
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.container import EngineFailed
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.index.http import Fetcher
from pipeline.lake.rows import ReleaseRow
from tests.execution.sandbox.kinds import NotHere, Opened, open_kind
from tests.index_server import Index


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return find_sandbox()


@pytest.fixture(scope="session")
def opened() -> Iterator[Callable[[str], Opened]]:
    """Sets a kind of sandbox up once, or skips the test with the reason why it is not here."""
    known: dict[str, Opened | str] = {}
    with contextlib.ExitStack() as stack:

        def of(kind: str) -> Opened:
            if kind not in known:
                try:
                    known[kind] = stack.enter_context(open_kind(kind))
                except (NotHere, EngineFailed) as error:
                    known[kind] = str(error)
            found = known[kind]
            if isinstance(found, str):
                pytest.skip(found)
            return found

        yield of


@pytest.fixture
def store_at(index: Index, sandbox: Sandbox) -> Callable[..., EnvironmentStore]:
    def make(root: Path, **rules: Any) -> EnvironmentStore:
        changed = environment_rules().model_copy(update={"gaps": ()} | rules)
        return EnvironmentStore(root, index_url=index.simple, rules=changed, workers=2, sandbox=sandbox)

    return make


@pytest.fixture
def release() -> Callable[..., ReleaseRow]:
    def make(version: str = "1.0", **changed: Any) -> Any:
        day = datetime(2021, 5, 1, tzinfo=UTC)
        row = {"library": "lib", "version": version, "release_time": day, "requires_python": None}
        return row | {"import_names": ["lib"]} | changed

    return make


@pytest.fixture
def request_for(release: Callable[..., ReleaseRow]) -> Callable[..., EnvironmentRequest]:
    def make(version: str = "1.0", **changed: Any) -> EnvironmentRequest:
        return replace(request_of(release(version)), **changed)

    return make


@pytest.fixture
def python() -> Interpreter:
    return next(found for found in discover() if found.python == "3.9")


@pytest.fixture
def builder_at(index: Index, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Builder]:
    def make(root: Path, **changed: Any) -> Builder:
        rules = build_rules().model_copy(update={"time_s": 30} | changed)
        monkeypatch.setattr("pipeline.execution.environments.builds.builds.build_rules", lambda: rules)
        return Builder(
            root,
            facts=IndexFacts(index.simple, Fetcher(timeout_s=20, retries=0)),
            sandbox=sandbox,
            rules=environment_rules(),
        )

    return make
