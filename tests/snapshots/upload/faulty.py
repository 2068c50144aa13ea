"""A proxy on loopback before a real server: it refuses for a while, forgets the keys, or falls silent."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.loopback import on_loopback

_EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@dataclass
class Faults:
    """How many writes are refused at first, and after how many the keys expire, or nothing is answered any more."""

    slow_down: int = 0
    expired_after: int | None = None
    silent_after: int | None = None


@dataclass
class Proxy:
    """`silent` is set when a write waits for an answer that does not come until `ended` is set."""

    endpoint: str
    faults: Faults = field(default_factory=Faults)
    silent: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    put: list[str] = field(default_factory=list)


@contextmanager
def faulty(endpoint: str) -> Iterator[Proxy]:
    """Run a proxy for a server; `put` lists the paths of the writes that it let through."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    proxy = Proxy(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = _handler(proxy, urlsplit(endpoint).netloc)
    with on_loopback(server):
        try:
            yield proxy
        finally:
            proxy.ended.set()


def _handler(proxy: Proxy, to: str) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class that knows its proxy
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.command == "PUT" and proxy.faults.slow_down:
                proxy.faults.slow_down -= 1
                self._answer(503, {"Content-Type": "application/xml"}, _SLOW_DOWN)
            elif self.command == "PUT" and proxy.faults.expired_after == len(proxy.put):
                self._answer(403, {"Content-Type": "application/xml"}, _EXPIRED)
            elif self.command == "PUT" and proxy.faults.silent_after == len(proxy.put):
                proxy.silent.set()
                proxy.ended.wait(60)
                self.close_connection = True
            else:
                if self.command == "PUT":
                    proxy.put.append(urlsplit(self.path).path)
                self._answer(*self._ask(body))

        def _ask(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            """Ask the server with the same headers: the signature is over the name that the client saw."""
            connection = http.client.HTTPConnection(to, timeout=60)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            length = headers.get("Content-Length") if self.command == "HEAD" else str(len(body))
            kept = {
                k: v for k, v in headers.items() if k.lower() not in ("content-length", "transfer-encoding", "date")
            }
            for name, value in (kept | {"Content-Length": length or "0"}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
