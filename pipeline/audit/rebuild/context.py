"""Inputs of a rebuild: the tables of a snapshot for one library, the rules, and the artifacts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import pyarrow.compute as pc

from pipeline.api.history.tags import Tags
from pipeline.api.surface.reader import Surface
from pipeline.audit.rebuild.outcome import NotRebuilt
from pipeline.core.settings import index_url
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.repository_tasks.sdists import ProjectSources, TooLarge
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, Unreachable, WrongHash
from pipeline.index.index import IndexFile, project
from pipeline.index.sources import SourcesError
from pipeline.lake.rows import AnyRow, Configurations, FlagRow, ReleaseRow, SnippetRow, UsageRow
from pipeline.llm.writers import OfflineWriter
from pipeline.orchestration.resources.resources import Resources
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.rows import TABLES

_NOT_AT_HAND = (Unreachable, NotFound, BadAnswer, SourcesError, TooLarge, OSError)
"""Errors that are no problem of the snapshot: the index did not answer, or no longer has the file."""

_BROKEN = (WrongHash, BadArchive, UnsafeArchive)


class LibraryTables(Configurations):
    """The rows of a library in a snapshot by configuration, each read once."""

    def __init__(self, snapshot: Snapshot, library: str, rows: Mapping[str, Sequence[AnyRow]] | None = None) -> None:
        self._snapshot, self._library, self._rows = snapshot, library, dict(rows or {})

    def _rows_of(self, config: str) -> Sequence[AnyRow]:
        if config not in self._rows:
            self._rows[config] = self._snapshot.rows(config, where=pc.field("library") == self._library)
        return self._rows[config]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the configurations."""
        return iter(TABLES)

    def __len__(self) -> int:
        """Return how many configurations there are."""
        return len(TABLES)

    def instead(self, config: str, rows: Sequence[AnyRow]) -> LibraryTables:
        """Return the same with other rows of one configuration."""
        return LibraryTables(self._snapshot, self._library, {**self._rows, config: rows})


class RebuildContext:
    """A library of a snapshot: its rows by configuration, and their source files unless `artifacts` is false."""

    def __init__(self, snapshot: Snapshot, library: str, resources: Resources, *, artifacts: bool = True) -> None:
        self.library, self.resources, self.rules = library, resources, resources.rules
        self._snapshot, self._artifacts = snapshot, artifacts
        self.tables = LibraryTables(snapshot, library)
        self._surfaces: dict[str, Surface] = {}
        self._trees: dict[str, Tree] = {}

    @cached_property
    def snippets(self) -> dict[str, SnippetRow]:
        """The snippets by id."""
        return {row["id"]: row for row in self.tables["snippets"]}

    @cached_property
    def releases(self) -> dict[str, ReleaseRow]:
        """The releases by version."""
        return {row["version"]: row for row in self.tables["releases"]}

    @cached_property
    def usages(self) -> dict[str, list[UsageRow]]:
        """The uses by the id of their snippet."""
        grouped: dict[str, list[UsageRow]] = defaultdict(list)
        for row in self.tables["usages"]:
            grouped[row["snippet_id"]].append(row)
        return grouped

    @cached_property
    def history(self) -> History:
        """The state of each API in each release."""
        tags = Tags(self.tables["lifecycles"], self.rules.lifecycle)
        return History(self.tables["releases"], self.tables["symbols"], self.tables["changes"], tags.at)

    @property
    def writer(self) -> OfflineWriter:
        """The writer of descriptions by rules."""
        return OfflineWriter(self.rules.drafting)

    @cached_property
    def flags(self) -> list[FlagRow]:
        """The flags of instances, with terms as acceptance expects them."""
        return [row | {"kind": FlagKind(row["kind"])} for row in self.tables["flags"]]

    def before_probes(self, row: AnyRow) -> RebuildContext | None:
        """Return the library with the labels of changes of a row's APIs before probes corrected them.

        Instances are made with these labels, which are not published. None where no probe judged a change of these APIs
        at these versions.
        """
        paths, versions = ({row.get(side), row.get(f"target_{side}")} for side in ("path", "version"))
        judged = {
            change["id"]
            for change in self.tables["changes"]
            if change["path"] in paths
            and change["evidence"] == Evidence.EXECUTED
            and versions & {change["old_version"], change["new_version"]}
        }
        if not judged:
            return None
        other = RebuildContext(self._snapshot, self.library, self.resources, artifacts=self._artifacts)
        turned = [
            change | {"breaking": not change["breaking"]} if change["id"] in judged else change
            for change in self.tables["changes"]
        ]
        other.tables = self.tables.instead("changes", turned)
        return other

    def surface(self, version: str) -> Surface:
        """Read the surface of a release from its artifact, whose hash must be that of the snapshot.

        Errors: NotRebuilt where the artifact is not available.
        """
        if not self._artifacts:
            raise NotRebuilt("artifacts were not to be read", code="rebuild_offline")
        if version not in self._surfaces:
            release = self.releases[version]
            try:
                located = release | {"url": self._url_of(release)}
                self._surfaces = {version: self.resources.surface_of(located)}
            except _NOT_AT_HAND as error:
                raise NotRebuilt(f"the artifact is not at hand: {error}", code="rebuild_artifact_gone") from None
            except _BROKEN as error:
                raise NotRebuilt(
                    f"the artifact of {version} differs from the entry in the index: {error}",
                    code="rebuild_artifact_differs",
                ) from None
        return self._surfaces[version]

    def _url_of(self, release: ReleaseRow) -> str:
        """Return the address of a release's file, from the cache or from the index."""
        manifest = self.resources.artifacts.sources.manifest(release["sha256"])
        return manifest.artifact.url if manifest else _file_of(self.resources, release).url

    def tree(self, name: str, version: str, sha256: str | None = None) -> Tree:
        """Return the files of a source distribution with this hash; None for that of the index.

        Errors: NotRebuilt.
        """
        if not self._artifacts:
            raise NotRebuilt("artifacts were not to be read", code="rebuild_offline")
        key = f"{name} {version}"
        if key not in self._trees:
            try:
                self._trees = {key: self._read(name, version, sha256)}
            except _NOT_AT_HAND as error:
                raise NotRebuilt(
                    f"the source distribution is not at hand: {error}", code="rebuild_artifact_gone"
                ) from None
            except _BROKEN as error:
                raise NotRebuilt(
                    f"the source distribution differs from its entry in the index: {error}",
                    code="rebuild_artifact_differs",
                ) from None
        return self._trees[key]

    def _read(self, name: str, version: str, sha256: str | None) -> Tree:
        cache = self.resources.settings.cache / "projects"
        sources = ProjectSources(cache, self.resources.artifacts.fetcher, index_url(), self.rules.repository)
        if sha256 is None:
            file = sources.find(name, version)
            if file is None:
                raise NotFound(f"the index has no source distribution of {name} {version}")
            sha256 = file.sha256
        return sources.tree(name, version, sha256)


def _file_of(resources: Resources, release: ReleaseRow) -> IndexFile:
    listed = project(resources.artifacts.fetcher, index_url(), release["library"]).releases.get(release["version"], ())
    matching = [file for file in listed if file.sha256 == release["sha256"]]
    if not matching:
        raise NotFound(f"the index has no file of {release['library']} {release['version']} with this sha256")
    return matching[0]


def neighbourhood(releases: Sequence[ReleaseRow], first: str, last: str) -> list[ReleaseRow]:
    """Return the releases from the predecessor of `first` to the successor of `last`."""
    following = {row["predecessor"]: row for row in releases if row["predecessor"]}
    by_version = {row["version"]: row for row in releases}
    chain = [by_version[first]]
    before = by_version.get(chain[0]["predecessor"] or "")
    while chain[-1]["version"] != last and chain[-1]["version"] in following:
        chain.append(following[chain[-1]["version"]])
    after = following.get(chain[-1]["version"])
    return [*([before] if before else []), *chain, *([after] if after else [])]
