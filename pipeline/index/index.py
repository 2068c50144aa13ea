"""The package index: which files a project has, from the project JSON document or the simple API.

The JSON document is asked first, since only it lists releases without files. A mirror may lack it; then the simple
API (PEP 503, 691, 700) is read, which must give upload times for a release to be placed in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

from packaging.utils import canonicalize_name
from pypi_simple import ACCEPT_ANY, DistributionPackage, ProjectPage
from pypi_simple.errors import UnsupportedContentTypeError, UnsupportedRepoVersionError

from pipeline.core.credentials import remember, without_userinfo
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.index.http import BadAnswer, Fetcher, NotFound

_KINDS = {
    "bdist_wheel": ArtifactKind.WHEEL,
    "wheel": ArtifactKind.WHEEL,
    "sdist": ArtifactKind.SDIST,
}


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of a release; `uploaded` is None where the index does not tell."""

    filename: str
    url: str
    kind: ArtifactKind
    sha256: str
    size: int
    requires_python: str | None
    yanked: bool
    uploaded: datetime | None


@dataclass(frozen=True, slots=True)
class Project:
    """What the index knows of a distribution: version as the index spells it, to its wheels and sdists."""

    library: str
    releases: dict[str, tuple[IndexFile, ...]]


def project(fetcher: Fetcher, index_url: str, name: str) -> Project:
    """Ask the index for a distribution.

    Errors: NotFound where the index does not know it, Unreachable, BadAnswer.
    """
    library = canonicalize_name(name)
    # What is kept of a file has no credentials in its address: they go to each request of the index's own origin.
    remember(index_url)
    index_url = without_userinfo(index_url)
    try:
        return _from_document(fetcher, f"{index_url.removesuffix('/simple')}/pypi/{library}/json", library)
    except (NotFound, BadAnswer):
        return _from_simple(fetcher, f"{index_url}/{library}/", library)


def _from_document(fetcher: Fetcher, url: str, library: str) -> Project:
    document = fetcher.get_json(url)
    try:
        releases = {
            str(version): tuple(file for raw in files if (file := _file(raw, url)))
            for version, files in document["releases"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadAnswer(f"{url}: not a project document: {type(error).__name__}: {error}") from None
    return Project(library, releases)


def _file(raw: dict[str, Any], base: str) -> IndexFile | None:
    """Return a file of the JSON document; None for eggs, installers and other kinds that hold no surface."""
    kind = _KINDS.get(raw["packagetype"])
    if kind is None:
        return None
    return IndexFile(
        filename=raw["filename"],
        url=urljoin(base, raw["url"]),
        kind=kind,
        sha256=raw["digests"]["sha256"],
        size=int(raw["size"]),
        requires_python=raw.get("requires_python") or None,
        yanked=bool(raw.get("yanked")),
        uploaded=datetime.fromisoformat(raw["upload_time_iso_8601"]),
    )


def _from_simple(fetcher: Fetcher, url: str, library: str) -> Project:
    answer = fetcher.get(url, {"Accept": ACCEPT_ANY})
    try:
        page = ProjectPage.from_response(answer, library)
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError) as error:
        raise BadAnswer(f"{url}: not a page of the simple API: {error}") from None
    releases: dict[str, list[IndexFile]] = {version: [] for version in page.versions or ()}
    for package in page.packages:
        kind = _KINDS.get(package.package_type or "")
        if package.version and kind and "sha256" in package.digests:
            releases.setdefault(package.version, []).append(_simple_file(package, kind))
    return Project(library, {version: tuple(files) for version, files in releases.items()})


def _simple_file(package: DistributionPackage, kind: ArtifactKind) -> IndexFile:
    return IndexFile(
        filename=package.filename,
        url=package.url,
        kind=kind,
        sha256=package.digests["sha256"],
        size=package.size or 0,
        requires_python=package.requires_python or None,
        yanked=package.is_yanked,
        uploaded=package.upload_time.astimezone(UTC) if package.upload_time else None,
    )
