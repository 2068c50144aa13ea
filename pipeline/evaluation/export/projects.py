"""The projects of repository tasks and scenes: where they stand in an export, and their sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from pipeline.core.vocabularies.exports import NotHeld
from pipeline.evaluation.export.results import Attached, Further, Refused, Result
from pipeline.families.repository_tasks.sdists import ProjectSources, TooLarge
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, WrongHash
from pipeline.lake.schema import Row

SOURCES = "Source_Code"
PROJECTS = "projects.jsonl"
"""The rows of `projects`, with the folder of each below the sources: which environment its tests run in."""


class SourcesMissing(Exception):
    """The source distribution of a project cannot be had any more, or is not what it was."""


Unpack = Callable[[Row], Mapping[str, bytes]]
"""Gives the files of a project's source distribution by their paths below its root. Errors: SourcesMissing."""


def folder_of(project: Row) -> str:
    """Return the folder of a project below the sources: one, since both scorers run tests in the first of a path."""
    return f"{_plain(project['project'])}-{_plain(project['version'])}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


class Sources:
    """The sources of projects as parts of an export; `lacking` says of projects, by id, why they cannot be had."""

    def __init__(self, projects: Iterable[Row], unpack: Unpack) -> None:
        self.projects = {row["id"]: row for row in projects}
        self.unpack = unpack
        self.lacking: dict[str, str] = {}

    def attached(self, ids: Iterable[str]) -> Iterator[Result]:
        """Yield the files of projects, and what their tests run in.

        Errors: Unreachable where the index that has the sources does not answer.
        """
        for project in (self.projects[one] for one in sorted(set(ids))):
            try:
                files = self.unpack(project)
            except SourcesMissing as error:
                self.lacking[project["id"]] = str(error)
                continue
            folder = folder_of(project)
            for path, content in sorted(files.items()):
                yield Attached(f"{SOURCES}/{folder}/{path}", content)
            yield Further(PROJECTS, {"folder": folder, **project})

    def refusal(self, config: str, row: Row) -> Refused | None:
        """Return why a row cannot be exported, if the sources of its project are missing."""
        why = self.lacking.get(row["project_id"])
        return Refused(config, row["id"], NotHeld.SOURCES_MISSING, why) if why else None


def from_index(sources: ProjectSources) -> Unpack:
    """Return what gives the sources of projects as the index has them, by the hash that the snapshot has of them.

    Errors of its calls: SourcesMissing, Unreachable.
    """

    def unpack(row: Row) -> Mapping[str, bytes]:
        try:
            return sources.tree(row["project"], row["version"], row["sha256"], row["size"] or 0).files
        except (NotFound, BadAnswer, WrongHash, TooLarge, BadArchive, UnsafeArchive) as error:
            raise SourcesMissing(f"{row['sdist']}: {error}") from None

    return unpack
