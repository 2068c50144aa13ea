"""Artifacts: which file of a release stands for it, and its sources, fetched as far as they are not here yet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from packaging.utils import parse_wheel_filename

from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.archives import BadArchive
from pipeline.index.http import Fetcher, NoRanges
from pipeline.index.index import IndexFile
from pipeline.index.layout import Choose, source_tree
from pipeline.index.manifest import Artifact, Manifest, Needed, read_archive
from pipeline.index.rules import CrawlRules
from pipeline.index.sources import SourcesError, SourceStore
from pipeline.index.tree import SourceTree
from pipeline.index.wheels import read_wheel
from pipeline.lake.rows import ReleaseRow


def choose_artifact(files: Sequence[IndexFile]) -> IndexFile | None:
    """Return the file whose sources stand for a release: a pure wheel, else a wheel for Linux, else any, else an sdist.

    The order is fixed, so that neighbouring releases are read from the same kind of file where they have one: a
    switch from wheel to sdist changes the layout, not the API. Among wheels the newest Python counts, since the
    wheel for Python 2 of one release can hold other sources than that for Python 3.
    """
    return min(files, key=_preference, default=None)


def _preference(file: IndexFile) -> tuple[int, int, str]:
    if file.kind is not ArtifactKind.WHEEL:
        return (3, 0, file.filename)
    try:
        tags = parse_wheel_filename(file.filename)[3]
    except ValueError:
        return (4, 0, file.filename)
    newest = max(int("".join(filter(str.isdigit, tag.interpreter)) or 0) for tag in tags)
    if any(tag.platform == "any" for tag in tags):
        return (0, -newest, file.filename)
    linux = any("linux" in tag.platform and "x86_64" in tag.platform for tag in tags)
    return (1 if linux else 2, -newest, file.filename)


class ArtifactStore:
    """The sources of artifacts: files that are not in the store under `root` are fetched.

    `choose` selects files of a release by their paths from the import root; other files are neither fetched nor in the
    tree. Errors of every call: Unreachable, NotFound, BadAnswer, WrongHash, BadArchive, UnsafeArchive, SourcesError.
    """

    def __init__(self, root: Path, fetcher: Fetcher, rules: CrawlRules) -> None:
        self.root = root
        self.fetcher = fetcher
        self.rules = rules
        self.sources = SourceStore(root / "sources.sqlite")

    def tree(self, release: ReleaseRow, choose: Choose | None = None) -> SourceTree:
        """Return the sources of a `releases` row; their bytes are in the store."""
        fields = {name: release[name] for name in ("url", "sha256", "size")} | {"kind": release["artifact_kind"]}
        return self.read(msgspec.convert(fields, Artifact), release["library"], choose)[0]

    def read(self, artifact: Artifact, library: str, choose: Choose | None = None) -> tuple[SourceTree, Manifest]:
        """Return the sources of a library in an artifact, and what else the artifact holds."""

        def needed(manifest: Manifest) -> set[str]:
            return self.sources.missing(source_tree(manifest, library, self.rules, choose).files.values())

        if cached := self.sources.manifest(artifact.sha256):
            tree = source_tree(cached, library, self.rules, choose)
            if not self.sources.missing(tree.files.values()):
                return tree, cached
        manifest = self._fetch(artifact, needed)
        return source_tree(manifest, library, self.rules, choose), manifest

    def contents(self, sha256s: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of source files by their sha256; damaged ones are fetched again from where they came.

        Errors: SourcesError naming those that no artifact read so far has.
        """
        requested = set(sha256s)
        contents = self.sources.contents(requested)
        if requested - contents.keys():
            self._restore(requested - contents.keys())
            contents = self.sources.contents(requested)
        if missing := sorted(requested - contents.keys()):
            raise SourcesError(
                f"{self.sources.path}: {len(missing)} of {len(requested)} source files are not in the store, the first"
                f" is sha256 {missing[0]}. Remove the file (it is a cache) to have all sources fetched again.",
                code="sources_missing",
            )
        return contents

    def _restore(self, missing: set[str]) -> None:
        def needed(manifest: Manifest) -> set[str]:
            return self.sources.missing(missing.intersection(manifest.files.values()))

        for cached in self.sources.manifests():
            if needed(cached):
                self._fetch(cached.artifact, needed)

    def _fetch(self, artifact: Artifact, needed: Needed) -> Manifest:
        """Put what is needed of an artifact into the store, by ranges where that is worth it and works, else whole."""
        why = ""
        if artifact.kind is ArtifactKind.WHEEL and not 0 < artifact.size <= self.rules.ranges.over_bytes:
            try:
                manifest, contents = read_wheel(self.fetcher, artifact, self.rules, needed)
            except (NoRanges, BadArchive) as error:
                # The hash that the index gives is of the whole file: only that can tell what is wrong.
                why = f" (in parts: {error})"
            else:
                self.sources.add(manifest, contents)
                return manifest
        if artifact.size > self.rules.max_download_bytes:
            raise BadArchive(f"{artifact.size} bytes, the limit is {self.rules.max_download_bytes}{why}")
        manifest, contents = self._fetch_whole(artifact, needed)
        self.sources.add(manifest, contents)
        return manifest

    def _fetch_whole(self, artifact: Artifact, needed: Needed) -> tuple[Manifest, dict[str, bytes]]:
        self.root.mkdir(parents=True, exist_ok=True)
        # A file without a name: however this process ends, nothing of it stays.
        with tempfile.TemporaryFile(dir=self.root) as file:
            limit = self.rules.max_download_bytes
            size = self.fetcher.download(artifact.url, file, sha256=artifact.sha256, max_bytes=limit)
            whole = Artifact(artifact.url, artifact.sha256, size, artifact.kind)
            return read_archive(file, whole, self.rules.archive_limits, needed)
