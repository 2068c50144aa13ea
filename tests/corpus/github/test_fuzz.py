"""Whatever GitHub says, nothing ends in a traceback, and what is said wrongly of one repository costs no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.github.client import Client, Commit, Release, Repository
from pipeline.corpus.github.limits import RateLimited
from pipeline.index.http import BadAnswer, NotFound, Unreachable
from pipeline.lake.rows import ReleaseRow
from tests.corpus.github.conftest import MakeGitHub
from tests.corpus.github.hub import Hub, Twist
from tests.corpus.github.test_faults import NO_CODE, both
from tests.corpus.github.test_source import IN_2021
from tests.index_server import Reply

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sha", "items", "date", "x"]), inner),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value in a JSON document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def changed(reply: Reply, which: int, value: Any) -> Reply:
    """Put another value in the place of one of those that a reply holds."""
    document = [json.loads(reply.body)]
    *way, last = (0, *places(document[0])[which % len(places(document[0]))])
    inner: Any = document
    for key in way:
        inner = inner[key]
    inner[last] = value
    # Another answer has another entity tag, here none.
    headers = {name: text for name, text in reply.headers.items() if name != "ETag"}
    return replace(reply, headers=headers, body=json.dumps(document[0]).encode())


def twist(which: int, value: Any) -> Twist:
    return lambda reply: changed(reply, which, value) if reply.status == 200 else reply


CALLS: dict[str, tuple[Callable[[Client], Any], Any]] = {
    "/repos/ada/app": (lambda client: client.repository("ada/app"), Repository),
    "/repos/ada/app/commits": (lambda client: client.last_commit("ada/app", "main", None), Commit | None),
    "/repos/ada/app/commits/v1": (lambda client: client.tagged_commit("ada/app", "v1"), Commit),
    "/repos/ada/app/releases": (lambda client: client.releases("ada/app"), list[Release]),
    "/repos/ada/app/tags": (lambda client: client.tags("ada/app"), list[str]),
    "/search/repositories": (lambda client: list(client.repositories("demo").items), list[Repository]),
    "/search/code": (lambda client: list(client.names_by_code("demo filename:x.txt size:0..99").items), list[str]),
}


@pytest.fixture
def client(github: MakeGitHub) -> Client:
    return github(ask={"retries": 0, "fresh_hours": 0}).client


@pytest.mark.parametrize("path", CALLS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 100), value=VALUES)
def test_any_answer_is_rows_of_their_types_or_an_error_of_ours(
    hub: Hub, client: Client, path: str, which: int, value: Any
) -> None:
    hub.repos.clear()
    repo = hub.add("ada/app")
    commit = repo.commit("2021-05-01T12:00:00Z", {"x.txt": "demo"})
    repo.tags = repo.releases = {"v1": commit}
    hub.twists = {path: twist(which, value)}
    call, kind = CALLS[path]
    with suppress(NotFound, Unreachable, BadAnswer, RateLimited):
        rows = call(client)
        assert msgspec.json.decode(msgspec.json.encode(rows), type=kind) == rows


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 100), value=VALUES)
def test_a_bad_repository_costs_no_other(
    hub: Hub, github: MakeGitHub, releases: list[ReleaseRow], which: int, value: Any
) -> None:
    hub.repos.clear()
    both(hub)
    hub.twists = {"/repos/ada/app/commits": twist(which, value)}
    source = github(search=NO_CODE, ask={"retries": 0, "fresh_hours": 0})
    pieces = list(source.find("demo", releases, IN_2021))
    assert pieces
    # Either nothing important was changed, or it is said.
    assert len(pieces) == 2
    assert isinstance(pieces[1], CodeSample)
    assert pieces[1].origin == "github:bob/well"
