"""What the index has of distributions, for benchmarks: the files of a source distribution, the API of a release."""

from __future__ import annotations

import functools
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.archives import ArchiveLimits, read_members
from pipeline.index.http import Fetcher
from pipeline.index.index import IndexFile, project
from pipeline.index.release_selection import Period, ReleaseRequest
from pipeline.index.releases import releases_stage
from pipeline.lake.rows import SymbolState
from pipeline.orchestration.resources.resources import Resources

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Sdist:
    """A source distribution: `files` are its Python files and what else was asked for, below its top folder."""

    name: str
    version: str
    sha256: str
    files: dict[str, bytes]


@functools.cache
def fetcher() -> Fetcher:
    """Return what asks the index."""
    return Fetcher(timeout_s=settings().timeout_s)


def sdist(name: str, version: str | None = None, *, everything: bool = False) -> Sdist | None:
    """Return a source distribution, by default of the newest final release; None where there is none of this size.

    Errors: those of `pipeline.index.index.project` and of the archive.
    """
    releases = project(fetcher(), index_url(), name).releases
    ordered = sorted((Version(v), v) for v in releases if _is_final(v))
    for parsed, written in reversed(ordered):
        if version is None or parsed == Version(version):
            kinds = [f for f in releases[written] if f.kind is ArtifactKind.SDIST and f.size <= MAX_BYTES]
            if kinds:
                return _read(name, str(parsed), kinds[0], everything)
    return None


def _is_final(version: str) -> bool:
    try:
        return not Version(version).is_prerelease
    except InvalidVersion:
        return False


def _read(name: str, version: str, file: IndexFile, everything: bool) -> Sdist:
    content = kept(file, settings().cache / "sdists", MAX_BYTES).read_bytes()
    wanted = (lambda path: True) if everything else (lambda path: path.endswith(".py"))
    members = read_members(io.BytesIO(content), wanted, ArchiveLimits())
    files = {member.name.partition("/")[2]: member.content for member in members if "/" in member.name}
    return Sdist(name, version, hashlib.sha256(content).hexdigest(), files)


def kept(file: IndexFile, folder: Path, most_bytes: int) -> Path:
    """Return where a file of the index is kept in a folder by its hash, fetched if it was not there."""
    path = folder / file.sha256
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        with partial.open("wb") as written:
            fetcher().download(file.url, written, sha256=file.sha256, max_bytes=most_bytes)
        partial.rename(path)
    return path


@functools.cache
def symbols_of(library: str, version: str) -> tuple[dict[str, SymbolState], tuple[str, ...]]:
    """Return the `symbols` rows of a release by path, and the names by which it is imported.

    Errors: LookupError where the index does not have the release.
    """
    profile = Profile(name="published", libraries=(LibraryRule(library=library),))
    resources = Resources(settings(), profile, Period())
    wanted = ReleaseRequest(library, SpecifierSet(f"=={version}"), None, Period())
    found = releases_stage(
        wanted,
        {"releases": []},
        index_url(),
        resources.artifacts,
        resources.rules.licences,
        1,
        resources.needed_sources,
    ).tables["releases"]
    release = next((row for row in found if Version(row["version"]) == Version(version)), None)
    if release is None:
        raise LookupError(f"{library} {version}: the index has no such release")
    return dict(resources.surface_of(release).symbols), tuple(release["import_names"])
