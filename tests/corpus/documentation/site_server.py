"""A documentation site and Read the Docs' API on loopback: pages by path, with faults where a test wants them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.index_server import Index, Reply, serve

HEAD = "# Sphinx inventory version 2\n# Project: {project}\n# Version: {version}\n# The remainder of this file is compressed using zlib.\n"


def inventory(entries: Iterable[str], version: str = "1.0", project: str = "bag") -> bytes:
    """Pack an inventory in version 2 of the format, of lines such as `bag.f py:function 1 api.html#$ -`."""
    head = HEAD.format(project=project, version=version).encode()
    return head + zlib.compress("".join(f"{entry}\n" for entry in entries).encode())


@dataclass
class Pages(Index):
    """What the server has: replies by path; every other path is a 404. `tokens` are those that it was shown."""

    replies: dict[str, Reply] = field(default_factory=dict)
    tokens: list[str | None] = field(default_factory=list)

    def put(self, path: str, body: bytes | str, status: int = 200, **headers: str) -> None:
        """Put a page at a path."""
        content = body.encode() if isinstance(body, str) else body
        named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[path] = Reply(status, {"Content-Type": "text/html"} | named_headers, content)

    def put_json(self, path: str, value: object) -> None:
        """Put a JSON document at a path."""
        self.put(path, json.dumps(value), Content_Type="application/json")

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        self.tokens.append(headers.get("Authorization"))
        return self.replies.get(path) or Reply(404, {"Content-Type": "text/html"}, b"<h1>not here</h1>")


@contextmanager
def served() -> Iterator[Pages]:
    """Serve pages on a free port of the loopback interface."""
    with serve(Pages()) as pages:
        assert isinstance(pages, Pages)
        yield pages
