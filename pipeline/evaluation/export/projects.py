"""The projects of repository tasks and scenes in an export: their folders, and their sources without the references.

Each task has a copy of its project (each file, where a scorer replaces whole files): the tests of one task may need the
function of another, so that no copy can lack them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pipeline.core.vocabularies.exports import Unsupported
from pipeline.evaluation.export.format import Attached, Further, Refused, Result, Unpack
from pipeline.families.repository_tasks.sdists import ProjectSources, TooLarge
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, WrongHash
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import ProjectRow
from pipeline.lake.schema import Row

SOURCES = "Source_Code"
_DIGITS = 12
_LINE_END = re.compile(rb"\r\n?")
PROJECTS = "projects.jsonl"
"""The rows of `projects`, each with its folder below the sources and the environment of its tests."""


class SourcesMissing(Exception):
    """The source distribution of a project is no longer available, or has changed."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A copy of a project, in a folder below the sources, that lacks some lines of one file.

    `spans` are pairs of first and last line, from 1; `stub` is the code that stands in the first line of each.
    """

    folder: str
    project_id: str
    path: str
    spans: Sequence[tuple[int, int]]
    stub: str = ""


def folder_of(project: ProjectRow, masked: str) -> str:
    """Return the folder of a masked copy of a project: both scorers run tests in the first folder of a path."""
    return f"{_plain(project['project'])}-{_plain(project['version'])}-{sha256_text(masked)[:_DIGITS]}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


class Sources:
    """The sources of projects as parts of an export; `missing` has the reasons of unavailable folders."""

    def __init__(self, projects: Iterable[ProjectRow], unpack: Unpack) -> None:
        self.projects = {row["id"]: row for row in projects}
        self.unpack = unpack
        self.missing: dict[str, str] = {}

    def attached(self, copies: Iterable[Masked]) -> Iterator[Result]:
        """Yield the files of copies of projects, and the environments of their tests.

        Errors: Unreachable where the index that has the sources does not answer.
        """
        ordered = sorted(copies, key=lambda copy: (copy.project_id, copy.folder))
        for project_id, group in groupby(ordered, key=lambda copy: copy.project_id):
            project = self.projects[project_id]
            try:
                tree = self.unpack(project)
            except SourcesMissing as error:
                self.missing |= {copy.folder: str(error) for copy in group}
                continue
            for copy in group:
                if copy.path not in tree.files:
                    self.missing[copy.folder] = f"{project['sdist']}: has no file {copy.path}"
                    continue
                files = {**tree.without([copy.path]), copy.path: masked(tree.files[copy.path], copy.spans, copy.stub)}
                for path, content in sorted(files.items()):
                    yield Attached(f"{SOURCES}/{copy.folder}/{path}", content)
                yield Further(PROJECTS, {"folder": copy.folder, **project})

    def refusal(self, config: str, row: Row, folder: str) -> Refused | None:
        """Return why a row cannot be exported, if the sources of its project are missing."""
        why = self.missing.get(folder)
        return Refused(config, row["id"], Unsupported.SOURCES_MISSING, why) if why else None


def masked(content: bytes, spans: Iterable[tuple[int, int]], stub: str) -> bytes:
    """Return a file with blank lines in place of some, so that all others keep their numbers.

    A stub has the indentation of the line that it stands for.
    """
    lines = _LINE_END.sub(b"\n", content).split(b"\n")
    for first, last in spans:
        gone = lines[first - 1 : last]
        if gone:
            margin = gone[0][: len(gone[0]) - len(gone[0].lstrip())]
            lines[first - 1 : last] = [margin + stub.encode() if stub else b"", *[b""] * (len(gone) - 1)]
    return b"\n".join(lines)


def from_index(sources: ProjectSources) -> Unpack:
    """Return a function that gets the sources of projects from the index by their hashes in the snapshot.

    Errors of the function: SourcesMissing, Unreachable.
    """

    def unpack(row: ProjectRow) -> Tree:
        try:
            return sources.tree(row["project"], row["version"], row["sha256"] or "", row["size"] or 0)
        except (NotFound, BadAnswer, WrongHash, TooLarge, BadArchive, UnsafeArchive) as error:
            raise SourcesMissing(f"{row['sdist']}: {error}") from None

    return unpack
