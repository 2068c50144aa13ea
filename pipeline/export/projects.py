"""The projects of repository tasks and scenes: where they stand in an export, and their sources."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from pipeline.crawl import BadAnswer, Fetcher, NotFound, WrongHash, project
from pipeline.crawl.archives import ArchiveLimits, BadArchive, UnsafeArchive, read_members
from pipeline.export.results import Attached
from pipeline.lake import Row

SOURCES = "Source_Code"


class SourcesMissing(Exception):
    """The source distribution of a project cannot be had any more, or is not what it was."""


Unpack = Callable[[Row], Mapping[str, bytes]]
"""Gives the files of a project's source distribution by their paths below its root. Errors: SourcesMissing."""


def folder_of(project: Row) -> str:
    """Return the folder of a project below the sources: its domain, then name and release, as EvoCodeBench has two."""
    topic = (project["domain"] or "").removeprefix("Topic ::").split("::")[0]
    return f"{_plain(topic) or 'Other'}/{_plain(project['project'])}-{_plain(project['version'])}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


def attached_sources(project: Row, files: Mapping[str, bytes]) -> Iterator[Attached]:
    """Yield the files of a project where an export has them."""
    for path, content in sorted(files.items()):
        yield Attached(f"{SOURCES}/{folder_of(project)}/{path}", content)


class IndexSources:
    """Source distributions from the index, by the name and the hash that the snapshot has of them.

    Where the index is, is asked when the first is wanted.

    Errors of a call: SourcesMissing, Unreachable.
    """

    def __init__(self, fetcher: Fetcher, index_url: Callable[[], str], limits: ArchiveLimits) -> None:
        self.fetcher = fetcher
        self.index_url = index_url
        self.limits = limits

    def __call__(self, wanted: Row) -> Mapping[str, bytes]:
        """Return the files of a row of `projects` by their paths below its root."""
        try:
            return self._files(wanted, self._url(wanted))
        except (NotFound, BadAnswer, WrongHash, BadArchive, UnsafeArchive) as error:
            raise SourcesMissing(f"{wanted['sdist']}: {error}") from None

    def _url(self, wanted: Row) -> str:
        releases = project(self.fetcher, self.index_url(), wanted["project"]).releases
        found = [file for files in releases.values() for file in files if file.sha256 == wanted["sha256"]]
        if not found:
            raise SourcesMissing(f"{wanted['sdist']}: the index lists no file of {wanted['project']} with its hash")
        return found[0].url

    def _files(self, wanted: Row, url: str) -> dict[str, bytes]:
        root = PurePosixPath(wanted["root"] or "")
        with tempfile.TemporaryFile() as whole:
            self.fetcher.download(url, whole, sha256=wanted["sha256"], max_bytes=self.limits.max_bytes)
            members = read_members(whole, lambda name: True, self.limits)
            named = ((PurePosixPath(member.name), member.content) for member in members)
            return {str(path.relative_to(root)): content for path, content in named if path.is_relative_to(root)}
