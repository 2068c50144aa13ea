"""Source distributions of dependents: fetched once, read by the guarded reader, their Python and requirements kept."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from pipeline.core.errors import CodedError
from pipeline.core.versions import cache_version
from pipeline.corpus.pins.read import is_pin_file
from pipeline.index.archives import ArchiveLimits, read_members
from pipeline.index.http import Fetcher
from pipeline.index.index import IndexFile
from pipeline.index.manifest import Artifact, Manifest, is_about, make_manifest, sha256_of
from pipeline.index.sources import SourceStore


class SdistLimits(Protocol):
    """How large a source distribution may be, in bytes."""

    @property
    def max_sdist_bytes(self) -> int:
        """Of the file."""

    @property
    def archive_limits(self) -> ArchiveLimits:
        """Of what it holds."""


class TooLarge(CodedError):
    """The file is larger than the rule allows, and was not fetched."""

    code = "sdist_too_large"


@dataclass(frozen=True, slots=True)
class Sdist:
    """What a source distribution holds: core metadata, and the Python and requirement files by their paths in it."""

    metadata: str
    files: Mapping[str, bytes]


class SdistStore:
    """Source distributions under `root`: what they hold of Python and requirements is kept, each content once.

    Many threads may read. Errors: TooLarge, BadArchive, UnsafeArchive, WrongHash, NotFound, Unreachable, BadAnswer,
    SourcesError.
    """

    def __init__(self, root: Path, fetcher: Fetcher, rules: SdistLimits) -> None:
        self.root = root
        self.fetcher = fetcher
        self.rules = rules
        self.sources = SourceStore(root / f"sdists-{cache_version('sdists')}.sqlite")

    def read(self, file: IndexFile) -> Sdist:
        """Return what a source distribution holds, fetching it where it is not here whole."""
        manifest = self.sources.manifest(file.sha256)
        contents = self.sources.contents(manifest.files.values()) if manifest else {}
        if manifest is None or not set(manifest.files.values()) <= contents.keys():
            manifest, contents = self._fetch(file)
            self.sources.add(manifest, contents)
        return Sdist(manifest.metadata, {path: contents[sha256] for path, sha256 in manifest.files.items()})

    def _fetch(self, file: IndexFile) -> tuple[Manifest, dict[str, bytes]]:
        if file.size > self.rules.max_sdist_bytes:
            raise TooLarge(f"{file.filename}: {file.size} bytes, the limit is {self.rules.max_sdist_bytes}")
        self.root.mkdir(parents=True, exist_ok=True)
        # A file without a name: however this process ends, nothing of it stays.
        with tempfile.TemporaryFile(dir=self.root) as whole:
            limit = self.rules.max_sdist_bytes
            size = self.fetcher.download(file.url, whole, sha256=file.sha256, max_bytes=limit)
            artifact = Artifact(file.url, file.sha256, size, file.kind)
            return read_sdist(whole, artifact, self.rules.archive_limits)


def read_sdist(whole: IO[bytes], artifact: Artifact, limits: ArchiveLimits) -> tuple[Manifest, dict[str, bytes]]:
    """Read what is kept of a source distribution: its files by their paths in it, and the bytes by sha256.

    Errors: BadArchive, UnsafeArchive.
    """
    names: list[str] = []

    def is_needed(name: str) -> bool:
        names.append(name)
        return name.endswith(".py") or is_pin_file(name) or is_about(name, artifact)

    members = {member.name: member.content for member in read_members(whole, is_needed, limits)}
    top = _top(names)
    about = {name: content for name, content in members.items() if is_about(name, artifact)}
    files = {name[len(top) :]: sha256_of(content) for name, content in members.items()}
    manifest = make_manifest(artifact, (), files, about)
    return manifest, {files[name[len(top) :]]: content for name, content in members.items()}


def _top(names: list[str]) -> str:
    """Return the folder in which everything lies, `name-version/` (PEP 625), or nothing where there is no such."""
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and tops != {""} else ""
