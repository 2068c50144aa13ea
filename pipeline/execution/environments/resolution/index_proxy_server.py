"""The gateway on the wire: HTTP on a Unix socket for a build, on loopback for our own uv."""

from __future__ import annotations

import contextlib
import re
import socketserver
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import requests

from pipeline.execution.environments.resolution.index_proxy import IndexProxy, Refused
from pipeline.index.http import BadAnswer, NoRanges, NotFound, Unreachable

_PAGE = re.compile(r"/simple/([A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?)/?")
_FILE = re.compile(r"/files/([0-9a-f]{64})/[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")
_METADATA = re.compile(_FILE.pattern + r"\.whl\.metadata")
_RANGE = re.compile(r"bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})")
_JSON = "application/vnd.pypi.simple.v1+json"
_PASSED_ON = ("Content-Length", "Content-Range", "Content-Type")
_CONNECTIONS = 64
_IDLE_S = 60.0


@contextlib.contextmanager
def on_socket(gateway: IndexProxy) -> Iterator[Path]:
    """Answer on a Unix socket that any user may connect to, in a folder that only we may enter."""
    with tempfile.TemporaryDirectory(prefix="driftline-") as folder:
        path = Path(folder, "index.sock")
        with _SocketServer(str(path), gateway) as server:
            path.chmod(0o666)
            thread = _start(server)
            try:
                yield path
            finally:
                server.shutdown()
                thread.join()


def on_loopback(gateway: IndexProxy) -> str:
    """Answer on a free port of the loopback until the process ends; return the address of the index there."""
    server = _LoopbackServer(("127.0.0.1", 0), _Handler)
    server.gateway = gateway
    _start(server)
    return f"http://127.0.0.1:{server.server_port}/simple"


def _start(server: socketserver.BaseServer) -> threading.Thread:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    return thread


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = True
    gateway: IndexProxy


class _SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A thread for each connection, of which there are only so many: a build must not use up ours."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, path: str, gateway: IndexProxy) -> None:
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
    def gateway(self) -> IndexProxy:
        return cast(_LoopbackServer | _SocketServer, self.server).gateway

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        """Answer a page or a file."""
        try:
            if page := _PAGE.fullmatch(self.path):
                self._send(200, _JSON, self.gateway.page(page[1]))
            elif file := _METADATA.fullmatch(self.path):
                self._send(200, "text/plain", self.gateway.metadata(file[1]))
            elif file := _FILE.fullmatch(self.path):
                self._stream(file[1])
            else:
                raise Refused(404, "only pages and files of the index are here")
        except Refused as error:
            self._send(error.status, "text/plain", str(error).encode())
        except (NotFound, NoRanges):
            self._send(404, "text/plain", b"the index has no such thing")
        except (Unreachable, BadAnswer) as error:
            self.gateway.unreachable.append(str(error))
            self._send(503, "text/plain", b"the index did not answer")

    def _stream(self, sha256: str) -> None:
        byte_range = self.headers.get("Range")
        if byte_range and not _RANGE.fullmatch(byte_range):
            raise Refused(416, "one range of bytes at a time")
        with self.gateway.fetch(sha256, byte_range if self.command == "GET" else None) as answer:
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
        except (Refused, OSError, requests.RequestException):
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
