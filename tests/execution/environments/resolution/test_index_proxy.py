from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.execution.environments.resolution.index_proxy import IndexProxy, everything
from pipeline.execution.environments.resolution.index_proxy_server import on_socket
from pipeline.index.http import Fetcher
from tests.index_server import Index, Reply, sdist, wheel

MAY = "2021-05-01T00:00:00Z"
Ask = Callable[..., tuple[int, dict[str, str], bytes]]


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


@pytest.fixture
def lib(index: Index) -> Index:
    index.add("lib", "1.0", wheel("lib", "1.0", {"lib.py": "answer = 42"}), MAY)
    index.add("lib", "1.0", sdist("lib", "1.0", {"lib.py": "answer = 42"}), MAY)
    return index


@pytest.fixture
def served(lib: Index) -> Iterator[Callable[..., Path]]:
    with ExitStack() as stack:

        def serve(gateway: IndexProxy) -> Path:
            return stack.enter_context(on_socket(gateway))

        yield serve


@pytest.fixture
def ask() -> Ask:
    def request(path: Path, target: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = Connection(path)
        connection.request(method, target, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body

    return request


def gateway_of(index: Index, **changed: Any) -> IndexProxy:
    fetcher = Fetcher(timeout_s=5, retries=0)
    return IndexProxy(IndexFacts(index.simple, fetcher), **changed)


def test_pages_have_upload_times_and_addresses_that_lead_back(
    lib: Index, served: Callable[..., Path], ask: Ask
) -> None:
    lib.upload_times = lib.simple_json = False
    path = served(gateway_of(lib))
    status, headers, body = ask(path, "/simple/Lib/")
    page = json.loads(body)
    assert (status, headers["content-type"]) == (200, "application/vnd.pypi.simple.v1+json")
    assert [file["filename"] for file in page["files"]] == ["lib-1.0-py3-none-any.whl", "lib-1.0.tar.gz"]
    assert {file["upload-time"] for file in page["files"]} == {MAY}
    for file in page["files"]:
        status, _, content = ask(path, file["url"])
        assert (status, file["url"][0]) == (200, "/")
        assert content == next(f for f in lib.projects["lib"]["1.0"] if f.filename == file["filename"]).content
    assert str(lib.url) not in body.decode()


def test_ranges_and_heads(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    path = served(gateway_of(lib))
    file = json.loads(ask(path, "/simple/lib/")[2])["files"][0]
    content = lib.projects["lib"]["1.0"][0].content
    status, headers, body = ask(path, file["url"], "HEAD")
    assert (status, headers["content-length"], headers["accept-ranges"], body) == (200, str(len(content)), "bytes", b"")
    status, headers, body = ask(path, file["url"], Range="bytes=10-19")
    assert (status, headers["content-range"], body) == (206, f"bytes 10-19/{len(content)}", content[10:20])
    assert ask(path, file["url"], Range="bytes=-7")[2] == content[-7:]
    assert ask(path, file["url"], Range="bytes=0-1,5-6")[0] == 416


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/", "GET", 404),
        ("/simple/", "GET", 404),
        ("/simple/unknown/", "GET", 404),
        ("/pypi/lib/json", "GET", 404),
        ("/simple/lib/?secret=1", "GET", 404),
        ("/simple/lib/../../pypi/lib/json", "GET", 404),
        ("/simple/%6Cib/", "GET", 404),
        ("http://example.org/simple/lib/", "GET", 404),
        ("//example.org/simple/lib/", "GET", 404),
        ("/files/lib-1.0.tar.gz", "GET", 404),
        (f"/files/{'0' * 64}/lib-1.0.tar.gz", "GET", 404),
        ("example.org:443", "CONNECT", 501),
        ("/simple/lib/", "POST", 501),
        ("/simple/lib/", "PUT", 501),
        ("/simple/" + "a" * 70000, "GET", 414),
    ],
)
def test_nothing_else_is_answered(
    lib: Index, served: Callable[..., Path], ask: Ask, target: str, method: str, status: int
) -> None:
    gateway = gateway_of(lib)
    assert ask(served(gateway), target, method)[0] == status
    assert not [path for path in lib.requests if "unknown" not in path]


def test_a_file_that_the_view_hides_cannot_be_had(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    path = served(gateway_of(lib, view=lambda known: [f for f in everything(known) if f.filename.endswith(".whl")]))
    assert len(json.loads(ask(path, "/simple/lib/")[2])["files"]) == 1
    hidden = lib.projects["lib"]["1.0"][1]
    assert ask(path, f"/files/{hidden.sha256}/{hidden.filename}")[0] == 404


def test_redirects_of_the_index_stay_outside(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    path = served(gateway_of(lib))
    file = json.loads(ask(path, "/simple/lib/")[2])["files"][1]
    moved = Reply(302, {"Location": f"{lib.url}/files/lib-1.0-py3-none-any.whl"}, b"")
    lib.twists["/files/lib-1.0.tar.gz"] = [lambda _: moved]
    status, headers, body = ask(path, file["url"])
    assert (status, body) == (200, lib.projects["lib"]["1.0"][0].content)
    assert "location" not in headers


def test_an_index_that_fails_is_noted(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    gateway = gateway_of(lib)
    path = served(gateway)
    lib.faults["/pypi/lib/json"] = [503]
    assert ask(path, "/simple/lib/")[0] == 503
    assert len(gateway.unreachable) == 1
    assert ask(path, "/simple/lib/")[0] == 200


def test_a_body_that_breaks_off_is_not_taken_for_whole(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    path = served(gateway_of(lib))
    file = json.loads(ask(path, "/simple/lib/")[2])["files"][0]
    lib.truncate["/files/lib-1.0-py3-none-any.whl"] = [100]
    with pytest.raises(http.client.IncompleteRead):
        ask(path, file["url"])


def test_what_may_be_fetched_is_bounded(lib: Index, served: Callable[..., Path], ask: Ask) -> None:
    few = served(gateway_of(lib, max_requests=3))
    assert [ask(few, "/simple/lib/")[0] for _ in range(5)] == [200, 200, 200, 403, 403]
    lib.add("large", "1.0", ("large-1.0.tar.gz", os.urandom(1 << 20)), MAY)
    small = served(gateway_of(lib, max_bytes=1 << 18))
    file = json.loads(ask(small, "/simple/large/")[2])["files"][0]
    with pytest.raises(http.client.IncompleteRead) as stopped:
        ask(small, file["url"])
    assert len(stopped.value.partial) <= 1 << 18
    assert ask(small, "/simple/lib/")[0] == 403


def test_many_connections_do_not_use_up_threads(
    lib: Index, served: Callable[..., Path], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.execution.environments.resolution.index_proxy_server._Handler.timeout", 0.5)
    path = served(gateway_of(lib))
    before = threading.active_count()
    idle = []
    for _ in range(90):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(path))
        idle.append(connection)
    time.sleep(0.2)
    assert threading.active_count() - before <= 64
    assert ask(path, "/simple/lib/")[0] == 200
    for connection in idle:
        connection.close()


def test_any_user_may_connect_and_nothing_is_left(lib: Index) -> None:
    with on_socket(gateway_of(lib)) as path:
        assert path.stat().st_mode & 0o777 == 0o666
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not path.parent.exists()
