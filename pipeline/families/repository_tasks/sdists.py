"""Source distributions of projects: which file of the index it is, and the tree in it, fetched once."""

from __future__ import annotations

import io
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.tree import Tree, read_tree
from pipeline.index.http import Fetcher, NotFound
from pipeline.index.index import IndexFile, project
from pipeline.lake.ids import sha256_file

_SHA256 = re.compile(r"[0-9a-f]{64}")


class TooLarge(Exception):
    """The file is larger than the rule allows, and was not fetched."""


@dataclass(frozen=True)
class ProjectSources:
    """Source distributions, kept whole under `root` by their sha256.

    Errors of every call: Unreachable, BadAnswer, NotFound, WrongHash, TooLarge, BadArchive, UnsafeArchive.
    """

    root: Path
    fetcher: Fetcher
    index_url: str
    rules: RepositoryRules

    def find(self, name: str, version: str) -> IndexFile | None:
        """Return the source distribution of a release as the index lists it, None where there is none."""
        files = project(self.fetcher, self.index_url, name).releases.get(version, ())
        sdists = [file for file in files if file.kind is ArtifactKind.SDIST]
        return min(sdists, key=lambda file: (file.yanked, file.filename), default=None)

    def tree(self, name: str, version: str, sha256: str, size: int = 0) -> Tree:
        """Return the tree of a source distribution; the index is asked only where it is not here."""
        if not _SHA256.fullmatch(sha256):
            raise NotFound(f"{name} {version}: {sha256[:80]!r} is no sha256 of a source distribution")
        cached = self.root / sha256
        if sha256_file(cached) != sha256:
            self._fetch(cached, name, version, sha256, size)
        return read_tree(io.BytesIO(cached.read_bytes()), self.rules)

    def _fetch(self, cached: Path, name: str, version: str, sha256: str, size: int) -> None:
        file = self.find(name, version)
        if file is None or file.sha256 != sha256:
            raise NotFound(f"the index has no source distribution of {name} {version} with sha256 {sha256}")
        if max(file.size, size) > self.rules.max_sdist_bytes:
            raise TooLarge(f"{file.filename}: {file.size} bytes, the limit is {self.rules.max_sdist_bytes}")
        self.root.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=self.root, prefix=".")
        try:
            with os.fdopen(descriptor, "wb") as whole:
                self.fetcher.download(file.url, whole, sha256=sha256, max_bytes=self.rules.max_sdist_bytes)
            Path(temporary).replace(cached)
        finally:
            Path(temporary).unlink(missing_ok=True)
