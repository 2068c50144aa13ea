"""Which release of a library a piece of code is for, by what stands beside it: a lock, an exact pin, or ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.crawl.index import Project
from pipeline.crawl.pins.pythons import admits, admitted, holds
from pipeline.crawl.pins.scopes import in_scope, nearest
from pipeline.crawl.pins.stated import PYTHON, Stated
from pipeline.crawl.releases import finals_of
from pipeline.lake import Reject, Row
from pipeline.terms import RejectReason, StatementKind, VersionEvidence

Narrow = Callable[[str, Sequence[str], str, datetime], str | None]
"""(library, all requirements of the project, Python X.Y, as of) to the release that a resolver takes; None if none."""


class KnownVersion(NamedTuple):
    """The release that code is for, spelled as the index does, how that is known, and the words that say so."""

    version: str
    evidence: VersionEvidence
    words: str


@dataclass(frozen=True, slots=True)
class Published:
    """A final release that the index has, and when its first file was uploaded."""

    version: str
    uploaded: datetime
    requires_python: str | None


def published_of(project: Project) -> tuple[Published, ...]:
    """Return the final releases of a library that are not yanked, in PEP 440 order."""
    finals, _ = finals_of(project, SpecifierSet())
    return tuple(Published(final.version, final.uploaded, final.file.requires_python) for final in finals)


def version_of(
    library: str,
    stated: Iterable[Stated],
    releases: Sequence[Row],
    as_of: datetime,
    *,
    file: str | None = None,
    published: Sequence[Published] | None = None,
    narrow: Narrow | None = None,
) -> KnownVersion | Reject:
    """Return the release of a library that the code of a project is for, or why nobody can tell.

    A lock goes before an exact pin, and that before the dependency matrix: the newest of the `published` releases that
    was uploaded by `as_of`, that all specifiers allow whose markers hold, and that runs on a Python that existed then
    and that the project admits. `published` is what the index has (`published_of`); without it the lake's `releases`
    are taken for all there are, so that of a lake with gaps the answer is wrong. `file` is the path of the code: what
    is stated in the nearest folder above it goes before what is stated further up. `narrow` has the matrix resolved
    together with the other requirements of the project.

    The key of a reject is the library. Errors of `narrow` are its own.
    """
    name = canonicalize_name(library)
    near = in_scope(stated, file)
    asked = [one for one in near if one.library == name]
    if not asked:
        return _unknown(name, "no requirement, pin or lock names it")
    pythons = admitted((one.specifier for one in near if one.library == PYTHON and one.group is None), as_of)
    if not pythons:
        return _unknown(name, f"the project admits no Python that existed on {as_of:%Y-%m-%d}")
    known = published if published is not None else [_of_row(row) for row in releases]
    found = _by_pin(asked, pythons) or _by_matrix(name, asked, near, pythons, known, as_of, narrow)
    return found if isinstance(found, Reject) else _covered(name, found, releases)


def _by_pin(asked: Sequence[Stated], pythons: Sequence[str]) -> KnownVersion | None:
    """Return what a lock names, else what is pinned by the project itself, else by all of its groups alike."""
    main = nearest(one for one in asked if one.group is None and one.kind is not StatementKind.LOCK)
    pinned = [one for one in main if one.kind is StatementKind.EXACT_PIN]
    others = [one for one in asked if one.group is not None and one.kind is StatementKind.EXACT_PIN]
    locks = [one for one in asked if one.kind is StatementKind.LOCK]
    for statements, evidence in (
        (nearest(one for one in locks if one.group is None), VersionEvidence.LOCK),
        (nearest(one for one in locks if one.group is not None), VersionEvidence.LOCK),
        (pinned, VersionEvidence.EXACT_PIN),
        (nearest(others), VersionEvidence.EXACT_PIN),
    ):
        found = _agreed(statements, main, pythons)
        if found and found.version:
            return KnownVersion(found.version, evidence, found.words)
    return None


def _agreed(statements: Sequence[Stated], main: Sequence[Stated], pythons: Sequence[str]) -> Stated | None:
    """Return the one pin that holds on the newest Python on which all that hold name the same release.

    A lock or pin that the project's own requirements exclude is stale, and not believed.
    """
    for python in pythons:
        bounds = [one.specifier for one in main if holds(one.marker, python, one.group)]
        versions: dict[Version, Stated] = {}
        for one in statements:
            if one.version and holds(one.marker, python, one.group) and _allows(bounds, one.version):
                versions.setdefault(Version(one.version), one)
        if len(versions) == 1:
            return next(iter(versions.values()))
    return None


def _by_matrix(
    library: str,
    asked: Sequence[Stated],
    near: Sequence[Stated],
    pythons: Sequence[str],
    known: Sequence[Published],
    as_of: datetime,
    narrow: Narrow | None,
) -> KnownVersion | Reject:
    open_ = [one for one in asked if one.kind is not StatementKind.LOCK]
    main = nearest([one for one in open_ if one.group is None] or open_)
    addressed = [one for one in main if one.kind is StatementKind.ADDRESS]
    if addressed or not main:
        return _unknown(library, f"{_words(addressed or asked)}: which release that is cannot be told")
    there = sorted((one for one in known if one.uploaded <= as_of), key=lambda one: Version(one.version), reverse=True)
    best: tuple[Version, str, str] | None = None
    for python in pythons:
        counted = [one for one in main if holds(one.marker, python, one.group)]
        newest = _newest(there, counted, python) if counted else None
        if newest and (best is None or Version(newest) > best[0]):
            best = (Version(newest), newest, python)
    if best is None:
        return _unknown(library, f"{_words(main)}: no release of {as_of:%Y-%m-%d} or before is allowed by that")
    _, version, python = best
    words = f"{_words(main)}, newest on {as_of:%Y-%m-%d} for Python {python}"
    chosen = narrow(library, _requirements(near, main, python), python, as_of) if narrow else None
    if chosen and Version(chosen) != best[0]:
        version, words = chosen, f"{words}, narrowed by the other requirements"
    return KnownVersion(version, VersionEvidence.DEPENDENCY_MATRIX, words)


def _newest(there: Sequence[Published], counted: Sequence[Stated], python: str) -> str | None:
    bounds = [one.specifier for one in counted]
    for one in there:
        if admits(one.requires_python or "", python) and _allows(bounds, one.version):
            return one.version
    return None


def _requirements(near: Sequence[Stated], main: Sequence[Stated], python: str) -> list[str]:
    """Return what the project asks for on a Python, the library included, as lines that a resolver reads."""
    wanted = [one for one in near if one.group is None and one.library != PYTHON and one.kind in _RESOLVED]
    lines = (f"{one.library}{one.specifier}" for one in [*main, *wanted] if holds(one.marker, python, one.group))
    return list(dict.fromkeys(line for line in lines if "||" not in line))


_RESOLVED = (StatementKind.RANGE, StatementKind.EXACT_PIN)


def _allows(specifiers: Iterable[str], version: str) -> bool:
    """Whether all specifiers allow a release; alternatives stand beside `||`."""
    return all(
        any(SpecifierSet(one).contains(version, prereleases=True) for one in specifier.split("||"))
        for specifier in specifiers
    )


def _covered(library: str, found: KnownVersion, releases: Sequence[Row]) -> KnownVersion | Reject:
    """Spell a release as the lake does; a build of it (`1.13.0+cu117`) has the same API."""
    wanted = Version(Version(found.version).public)
    for row in releases:
        if _parsed(row["version"]) == wanted:
            return found._replace(version=row["version"])
    detail = f"{library} {found.version} ({found.words}) is not among the {len(releases)} releases of the lake"
    return Reject(library, RejectReason.VERSION_NOT_COVERED, detail)


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _of_row(row: Row) -> Published:
    return Published(row["version"], row["release_time"], row["requires_python"])


def _words(stated: Iterable[Stated]) -> str:
    return ", ".join(dict.fromkeys(one.words for one in stated))


def _unknown(library: str, detail: str) -> Reject:
    return Reject(library, RejectReason.VERSION_UNKNOWN, detail)
