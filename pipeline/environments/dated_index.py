"""Upload times for an index that keeps them from uv: its JSON documents, served on loopback as PEP 691 pages.

A mirror may serve the simple index without upload times (PEP 700) and still have the project documents that state
them. Resolving as of a date needs the times; the files themselves are fetched from where they are.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pipeline.crawl import BadAnswer, IndexFile, NotFound, Project, Unreachable
from pipeline.terms import ArtifactKind

CONTENT_TYPE = "application/vnd.pypi.simple.v1+json"


@dataclass
class DatedIndex:
    """A simple index on loopback in front of another one; it listens from the first use of `url` on."""

    project: Callable[[str], Project]

    @cached_property
    def url(self) -> str:
        """Its address, which serves until the process ends."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/simple"

    def answer(self, path: str) -> tuple[int, bytes]:
        """Return status and body for the page of a distribution; what the other index fails at, this one does."""
        name = path.rstrip("/").rsplit("/", 1)[-1]
        try:
            return 200, self._page(name)
        except NotFound as error:
            return 404, str(error).encode()
        except (Unreachable, BadAnswer) as error:
            return 503, str(error).encode()

    def _page(self, name: str) -> bytes:
        known = self.project(name)
        files = [file for release in known.releases.values() for file in release]
        return simple_page(known.library, files, lambda file: file.url)


def simple_page(
    library: str, files: Iterable[IndexFile], address: Callable[[IndexFile], str], *, metadata: bool = False
) -> bytes:
    """Return the page of a distribution in the JSON of the simple API (PEP 691), with upload times (PEP 700).

    A file whose upload time is not known is left out: nothing can be resolved as of a date with it. `metadata` tells
    that beside each wheel there is its metadata (PEP 658).
    """
    listed = [
        {
            "filename": file.filename,
            "url": address(file),
            "hashes": {"sha256": file.sha256},
            "requires-python": file.requires_python,
            "yanked": file.yanked,
            "core-metadata": metadata and file.kind is ArtifactKind.WHEEL,
            "upload-time": file.uploaded.isoformat().replace("+00:00", "Z"),
        }
        for file in files
        if file.uploaded is not None
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": library, "files": listed}).encode()


def _handler(index: DatedIndex) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer uv."""
            status, body = index.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", CONTENT_TYPE if status == 200 else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep requests out of the log of the run."""

    return Handler
