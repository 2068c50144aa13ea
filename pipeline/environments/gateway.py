"""The only way out of a build: an index, and nothing else, answered on a Unix socket outside the sandbox.

It answers the page of a distribution and the files that its pages named. Every other request is refused, and a client
never learns or chooses an address: where a file really is stays outside, redirects are followed outside.
"""

from __future__ import annotations

import contextlib
import re
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast

import requests

from pipeline.crawl import BadAnswer, Fetcher, IndexFile, NotFound, Project, Unreachable
from pipeline.crawl.http import CHUNK, NoRanges
from pipeline.environments.dated_index import CONTENT_TYPE, simple_page
from pipeline.environments.wheel_metadata import WheelMetadata

_PAGE = re.compile(r"/simple/([A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?)/?")
_FILE = re.compile(r"/files/([0-9a-f]{64})/[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")
_METADATA = re.compile(_FILE.pattern + r"\.whl\.metadata")
_RANGE = re.compile(r"bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})")
_CONNECTIONS = 24
_IDLE_S = 60.0
_PASSED_ON = ("Content-Length", "Content-Range", "Content-Type")

View = Callable[[Project], list[IndexFile]]


def everything(known: Project) -> list[IndexFile]:
    """Show every file of a project."""
    return [file for files in known.releases.values() for file in files]


class _Refused(Exception):
    """What is asked is not given: `status` is the answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class Gateway:
    """One index as one build sees it: `view` says which files, the limits how much may be fetched in all.

    `unreachable` tells afterwards what the index did not answer, so that this is not taken for a fault of the build.
    """

    project: Callable[[str], Project]
    fetcher: Fetcher
    about: WheelMetadata
    view: View = everything
    max_bytes: int = 4 << 30
    max_requests: int = 5000
    asked: int = 0
    sent_bytes: int = 0
    unreachable: list[str] = field(default_factory=list)
    _files: dict[str, IndexFile] = field(default_factory=dict)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def serve(self) -> Iterator[Path]:
        """Answer on a Unix socket that any user may connect to, in a folder that only we may enter."""
        with tempfile.TemporaryDirectory(prefix="driftline-") as folder:
            path = Path(folder, "index.sock")
            with _Server(str(path), self) as server:
                path.chmod(0o666)
                thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
                thread.start()
                try:
                    yield path
                finally:
                    server.shutdown()
                    thread.join()

    def page(self, name: str) -> bytes:
        """Return the page of a distribution, whose addresses lead back here."""
        self._count(asked=1)
        known = self.project(name)
        files = self.view(known)
        with self._counting:
            self._files.update({file.sha256: file for file in files})
        return simple_page(known.library, files, lambda file: f"/files/{file.sha256}/{file.filename}", metadata=True)

    def metadata(self, sha256: str) -> bytes:
        """Return the metadata of a wheel that a page named, as PEP 658 has it beside the wheel."""
        self._count(asked=1)
        return self.about.read(self._named(sha256))

    def fetch(self, sha256: str, wanted: str | None) -> requests.Response:
        """Begin to fetch a file that a page named, or a range of it."""
        self._count(asked=1)
        file = self._named(sha256)
        headers = {"Accept-Encoding": "identity"} | ({"Range": wanted} if wanted else {})
        return self.fetcher.get(file.url, headers, stream=True)

    def _named(self, sha256: str) -> IndexFile:
        file = self._files.get(sha256)
        if file is None:
            raise _Refused(404, "no page has named this file")
        return file

    def _count(self, *, asked: int = 0, sent: int = 0) -> None:
        with self._counting:
            self.asked += asked
            self.sent_bytes += sent
            if self.asked > self.max_requests or self.sent_bytes > self.max_bytes:
                raise _Refused(403, "this build has fetched more than it may")

    def chunks(self, answer: requests.Response) -> Iterator[bytes]:
        """Yield the body of an answer as long as the build may have more."""
        for chunk in answer.iter_content(CHUNK):
            self._count(sent=len(chunk))
            yield chunk


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A thread for each connection, of which there are only so many: a build must not use up ours."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, path: str, gateway: Gateway) -> None:
        super().__init__(path, _Handler)
        self.gateway = gateway
        self._free = threading.BoundedSemaphore(_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, as soon as another one has ended where there are too many."""
        if self._free.acquire(timeout=_IDLE_S):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: what a build does to its connection is its own affair."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S

    @property
    def gateway(self) -> Gateway:
        return cast(_Server, self.server).gateway

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        """Answer a page or a file."""
        try:
            if page := _PAGE.fullmatch(self.path):
                self._send(200, CONTENT_TYPE, self.gateway.page(page[1]))
            elif file := _METADATA.fullmatch(self.path):
                self._send(200, "text/plain", self.gateway.metadata(file[1]))
            elif file := _FILE.fullmatch(self.path):
                self._stream(file[1])
            else:
                raise _Refused(404, "only pages and files of the index are here")
        except _Refused as error:
            self._send(error.status, "text/plain", str(error).encode())
        except (NotFound, NoRanges):
            self._send(404, "text/plain", b"the index has no such thing")
        except (Unreachable, BadAnswer) as error:
            self.gateway.unreachable.append(str(error))
            self._send(503, "text/plain", b"the index did not answer")

    def _stream(self, sha256: str) -> None:
        wanted = self.headers.get("Range")
        if wanted and not _RANGE.fullmatch(wanted):
            raise _Refused(416, "one range of bytes at a time")
        with self.gateway.fetch(sha256, wanted if self.command == "GET" else None) as answer:
            headers = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
            self._head(answer.status_code, headers | {"Accept-Ranges": "bytes"})
            self.close_connection = "Content-Length" not in headers
            if self.command == "GET":
                self._body(answer)

    def _body(self, answer: requests.Response) -> None:
        """Hand the body on; where it breaks off, the connection ends, which tells the client."""
        try:
            for chunk in self.gateway.chunks(answer):
                self.wfile.write(chunk)
        except (_Refused, OSError, requests.RequestException):
            self.close_connection = True

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self._head(status, {"Content-Type": kind, "Content-Length": str(len(body))})
        if self.command == "GET":
            self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep requests out of the log of the run."""
