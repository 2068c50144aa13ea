"""An index as we hand it on: pages with upload times, metadata put right, and the files that the pages named.

A mirror may serve the simple index without upload times (PEP 700) and still have the project documents that state
them; resolving as of a date needs the times. For a build it is the only way out. Every other request is refused, and
a client never learns or chooses an address: where a file really is stays outside, redirects are followed outside.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import requests

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.resolution.index_facts import IndexFacts
from pipeline.index.http import CHUNK
from pipeline.index.index import IndexFile, Project

View = Callable[[Project], list[IndexFile]]


def everything(project: Project) -> list[IndexFile]:
    """Show every file of a project."""
    return [file for files in project.releases.values() for file in files]


class Refused(Exception):
    """What is asked is not given: `status` is the answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class IndexProxy:
    """One index as its clients see it: `view` says which files, the limits how much may be fetched in all.

    `unreachable` tells afterwards what the index did not answer, so that this is not taken for a fault of the client.
    """

    facts: IndexFacts
    view: View = everything
    max_bytes: float = math.inf
    max_requests: float = math.inf
    request_count: int = 0
    sent_bytes: int = 0
    unreachable: list[str] = field(default_factory=list)
    _files: dict[str, IndexFile] = field(default_factory=dict)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def page(self, name: str) -> bytes:
        """Return the page of a distribution (PEP 691), whose addresses lead back here.

        A file whose upload time is not known is left out: nothing can be resolved as of a date with it.
        """
        self._count(requests=1)
        project = self.facts.project(name)
        files = [file for file in self.view(project) if file.uploaded]
        with self._counting:
            self._files.update({file.sha256: file for file in files})
        listed = [_listed(file) for file in files]
        return json.dumps({"meta": {"api-version": "1.1"}, "name": project.library, "files": listed}).encode()

    def metadata(self, sha256: str) -> bytes:
        """Return the metadata of a wheel that a page named, as PEP 658 has it beside the wheel."""
        self._count(requests=1)
        return self.facts.about.read(self._named(sha256))

    def fetch(self, sha256: str, byte_range: str | None) -> requests.Response:
        """Begin to fetch a file that a page named, or a range of it."""
        self._count(requests=1)
        file = self._named(sha256)
        headers = {"Accept-Encoding": "identity"} | ({"Range": byte_range} if byte_range else {})
        return self.facts.fetcher.get(file.url, headers, stream=True)

    def chunks(self, answer: requests.Response) -> Iterator[bytes]:
        """Yield the body of an answer as long as the client may have more."""
        for chunk in answer.iter_content(CHUNK):
            self._count(sent=len(chunk))
            yield chunk

    def _named(self, sha256: str) -> IndexFile:
        file = self._files.get(sha256)
        if file is None:
            raise Refused(404, "no page has named this file")
        return file

    def _count(self, *, requests: int = 0, sent: int = 0) -> None:
        with self._counting:
            self.request_count += requests
            self.sent_bytes += sent
            if self.request_count > self.max_requests or self.sent_bytes > self.max_bytes:
                raise Refused(403, "this client has fetched more than it may")


def _listed(file: IndexFile) -> dict[str, object]:
    assert file.uploaded
    return {
        "filename": file.filename,
        "url": f"/files/{file.sha256}/{file.filename}",
        "hashes": {"sha256": file.sha256},
        "requires-python": file.requires_python,
        "yanked": file.yanked,
        "core-metadata": file.kind is ArtifactKind.WHEEL,
        "upload-time": file.uploaded.isoformat().replace("+00:00", "Z"),
    }
