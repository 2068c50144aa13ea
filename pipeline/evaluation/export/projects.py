"""The projects of repository tasks and scenes in an export: their folders, and their sources without the references.

Each task has a copy of its project (each file, where a scorer replaces whole files): the tests of one task may need the
function of another, so that no copy can lack them all.
"""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.exports import Unsupported
from pipeline.evaluation.export.format import Attached, Further, Refused, Result, Unpack
from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.families.repository_tasks.sdists import ProjectSources, TooLarge
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, NotFound, WrongHash
from pipeline.lake.ids import sha256_text
from pipeline.lake.names import UnsafeName, inner_path
from pipeline.lake.rows import AnyRow, ProjectRow

SOURCES = "Source_Code"
_DIGITS = 12
_LINE_END = re.compile(rb"\r\n?")
SETTINGS = "pytest.ini"
_SECTIONS = (
    (SETTINGS, "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", ""),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)
"""Files of pytest's settings in the order in which it looks for them."""
_OF_MACHINES = frozenset({"addopts", "required_plugins", "xfail_strict", "log_cli"})
"""Settings that the harness overrides too, so that references pass without them."""
_WORD = re.compile(r"[A-Za-z0-9_./:\[\]=@%+,-]+")
PROJECTS = "projects.jsonl"
"""The rows of `projects`, each with its folder below the sources and the environment of its tests."""


class SourcesMissing(CodedError):
    """The source distribution of a project is no longer available, or has changed."""

    code = "project_sources_missing"


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

    def attached(self, copies: Iterable[Masked], extra: Sequence[str] = ()) -> Iterator[Result]:
        """Yield the files of copies of projects, and the environments of their tests with extra distributions.

        Errors: Unreachable where the index that has the sources does not answer.
        """
        ordered = sorted(copies, key=lambda copy: (copy.project_id, copy.folder))
        for project_id, group in groupby(ordered, key=lambda copy: copy.project_id):
            project = self.projects[project_id]
            try:
                _check(project)
                tree = self.unpack(project)
            except (SourcesMissing, UnsafeName, ValueError) as error:
                self.missing |= {copy.folder: str(error) for copy in group}
                continue
            for copy in group:
                if copy.path not in tree.files:
                    self.missing[copy.folder] = f"{project['sdist']}: has no file {copy.path}"
                    continue
                whole = tree.without([copy.path])
                files = {
                    **whole,
                    copy.path: masked(tree.files[copy.path], copy.spans, copy.stub),
                    SETTINGS: plain_settings(tree.files),
                }
                hidden = sorted(tree.files.keys() - files.keys())
                for path, content in sorted(files.items()):
                    yield Attached(f"{SOURCES}/{copy.folder}/{path}", content)
                beside = {"folder": copy.folder, "hidden": hidden, "extra": list(extra)}
                yield Further(PROJECTS, beside | project)

    def refusal(self, config: str, row: AnyRow, folder: str) -> Refused | None:
        """Return why a row cannot be exported, if the sources of its project are missing."""
        why = self.missing.get(folder)
        return Refused(config, row["id"], Unsupported.SOURCES_MISSING, why) if why else None


def _check(project: ProjectRow) -> None:
    """Raise for a lock or names of packages that could reach anything beside the folder of the project."""
    read_lock(project["lock"] or "")
    for name in project["packages"]:
        inner_path(name, "a package of a project")


def shell_word(test: str) -> str:
    """Return a pytest node id as one word of a shell, quoted where it needs quotes."""
    return test if _WORD.fullmatch(test) else shlex.quote(test)


def node_id(word: str) -> str:
    """Return the pytest node id of a word of a shell; the inverse of `shell_word`."""
    try:
        return shlex.split(word)[0] if word.startswith("'") else word
    except ValueError:
        return word


def plain_settings(files: Mapping[str, bytes]) -> bytes:
    """Return a pytest.ini with a project's settings of pytest, without what is for its own machines.

    Reports of coverage and many processes need plugins that the environment of the tests lacks. A pytest.ini takes
    precedence over every other file of settings.
    """
    lines = ["[pytest]"]
    for name, value in _settings(files).items():
        if name not in _OF_MACHINES:
            values = [line.strip() for line in value.splitlines() if line.strip()]
            lines += [f"{name} =", *(f"    {line}" for line in values)]
    return ("\n".join(lines) + "\n").encode()


def _settings(files: Mapping[str, bytes]) -> Mapping[str, str]:
    """Return the settings of the first file that pytest takes; none where it cannot be read."""
    for path, section in _SECTIONS:
        if path not in files:
            continue
        text = files[path].decode("utf-8", "replace")
        try:
            if path.endswith(".toml"):
                options = tomllib.loads(text).get("tool", {}).get("pytest", {}).get("ini_options")
                if isinstance(options, dict):
                    return {name: _as_ini(value) for name, value in options.items()}
                continue
            parser = configparser.RawConfigParser(strict=False)
            parser.read_string(text)
        except (configparser.Error, tomllib.TOMLDecodeError):
            continue
        if parser.has_section(section):
            return dict(parser.items(section))
    return {}


def _as_ini(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


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
