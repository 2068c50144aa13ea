"""Which releases of which projects are taken for a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.version import Version

from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.lake.ids import content_id
from pipeline.lake.reads import Read
from pipeline.lake.rows import CodeSampleRow, ReleaseRow

_PURL = "pkg:pypi/"

DEPENDENTS = Read(
    "code_samples",
    ("library", "source", "place", "created_time", "licence", "attribution"),
    {"source": (SnippetSource.DOWNSTREAM,)},
)
"""What is read of code of others: not the code."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A release of a project, and what is known of it before it is fetched; licence and author of a dependent too."""

    library: str
    project: str
    version: str
    release_time: datetime
    requires_python: str | None = None
    import_names: tuple[str, ...] = ()
    licence: str | None = None
    attribution: str | None = None
    as_of: datetime | None = None

    @property
    def id(self) -> str:
        """The id of its row."""
        return content_id(self.library, self.project, self.version)

    @property
    def purl(self) -> str:
        """The package URL of the release."""
        return f"{_PURL}{self.project}@{self.version}"

    def request(self, pins: tuple[str, ...]) -> EnvironmentRequest:
        """Return the environment that it asks for, with what its tests need beside it."""
        return EnvironmentRequest(
            self.project,
            self.version,
            pins=pins,
            release_time=self.release_time,
            requires_python=self.requires_python,
            import_names=self.import_names,
            as_of=self.as_of,
        )


def choose(releases: Sequence[ReleaseRow], samples: Sequence[CodeSampleRow], rules: RepositoryRules) -> list[Chosen]:
    """Return the newest releases of a library in the covered period, and of dependents that were read for code."""
    newest = sorted(releases, key=lambda row: Version(row["version"]), reverse=True)[: rules.releases]
    return [*map(_of_release, newest), *_dependents(samples, rules)]


def _of_release(row: ReleaseRow) -> Chosen:
    return Chosen(
        row["library"],
        row["library"],
        row["version"],
        row["release_time"],
        row["requires_python"],
        tuple(row["import_names"]),
        row["licence"],
        row["attribution"],
        row.get("as_of"),
    )


def _dependents(samples: Sequence[CodeSampleRow], rules: RepositoryRules) -> Iterator[Chosen]:
    """Yield the newest release that was read of each dependent, of those whose hashes are smallest."""
    newest: dict[str, Chosen] = {}
    for row in samples:
        if row["source"] == SnippetSource.DOWNSTREAM and row["place"].startswith(_PURL):
            name, _, version = row["place"].removeprefix(_PURL).rpartition("@")
            newest_project = newest.get(name)
            if newest_project is None or Version(version) > Version(newest_project.version):
                licence, attribution = row["licence"], row["attribution"]
                newest[name] = Chosen(
                    row["library"], name, version, row["created_time"], licence=licence, attribution=attribution
                )
    yield from sorted(newest.values(), key=lambda each: content_id(each.library, each.project))[: rules.dependents]
