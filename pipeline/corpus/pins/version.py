"""Which release of a library a piece of code is for, by what stands beside it: a lock, an exact pin, or ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from posixpath import basename
from typing import NamedTuple

from more_itertools import first
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.pins.matrix import Narrow, Published, allows, bounds, by_matrix, published_in
from pipeline.corpus.pins.pythons import admitted, holds
from pipeline.corpus.pins.rules import PinRules, pin_rules
from pipeline.corpus.pins.scopes import in_scope, nearest, scope
from pipeline.corpus.pins.statements import PYTHON, Statement, StatementKind
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject


class ResolvedVersion(NamedTuple):
    """The release that code is for, spelled as the index does, how that is known, and the words that say so."""

    version: str
    evidence: VersionEvidence
    words: str


def version_of(
    library: str,
    statements: Iterable[Statement],
    releases: Sequence[ReleaseRow],
    as_of: datetime,
    *,
    file: str | None = None,
    published: Sequence[Published] | None = None,
    narrow: Narrow | None = None,
    rules: PinRules | None = None,
) -> ResolvedVersion | Reject:
    """Return the release of a library that the code of a project is for, or why nobody can tell.

    A lock goes before an exact pin, and that before the dependency matrix: the newest of the `published` releases that
    was uploaded by `as_of`, that all specifiers allow whose markers hold, and that runs on a Python that existed then
    and that the project admits. `published` is what the index has (`published_of`); without it the lake's `releases`
    are taken for all there are, so that of a lake with gaps the answer is wrong. `file` is the path of the code: what
    is stated in the nearest folder above it goes before what is stated further up; without it what stands highest
    counts. `narrow` has the matrix resolved together with the other requirements of the project. `rules` are by default
    those of the settings.

    The key of a reject is the library. Errors: those of `narrow`.
    """
    name = canonicalize_name(library)
    near = in_scope(statements, file)
    requirements = [statement for statement in near if statement.library == name]
    if file is None:
        requirements = nearest(requirements)  # what stands further down is for other code
    if not requirements:
        return _unknown(name, "no requirement, pin or lock names it")
    interpreters = nearest(statement for statement in near if statement.library == PYTHON and statement.group is None)
    pythons = admitted((statement.specifier for statement in interpreters), as_of)
    if not pythons:
        return _unknown(name, f"the project admits no Python that existed on {as_of:%Y-%m-%d}")
    pinned = _by_pin(requirements, pythons, rules or pin_rules())
    if pinned:
        return _covered(name, pinned, releases)
    index_releases = published if published is not None else published_in(releases)
    chosen = by_matrix(requirements, near, pythons, index_releases, as_of, narrow)
    if isinstance(chosen, str):
        return _unknown(name, chosen)
    return _covered(name, ResolvedVersion(chosen.version, chosen.evidence, chosen.words), releases)


def _by_pin(requirements: Sequence[Statement], pythons: Sequence[str], rules: PinRules) -> ResolvedVersion | None:
    """Return what a lock names, else what is pinned by the project itself, else by all of its groups alike."""
    main = nearest(
        statement for statement in requirements if statement.group is None and statement.kind is not StatementKind.LOCK
    )
    locks = [statement for statement in requirements if statement.kind is StatementKind.LOCK]
    pins = [statement for statement in requirements if statement.kind is StatementKind.EXACT_PIN]
    for statements, evidence in (
        ([statement for statement in locks if statement.group is None], VersionEvidence.LOCK),
        ([statement for statement in locks if statement.group is not None], VersionEvidence.LOCK),
        ([statement for statement in pins if statement in main], VersionEvidence.EXACT_PIN),
        (
            [statement for statement in pins if statement.group is not None and not _is_aside(statement, main, rules)],
            VersionEvidence.EXACT_PIN,
        ),
    ):
        pin = _agreed(nearest(statements), main, pythons)
        if pin and pin.version:
            return ResolvedVersion(pin.version, evidence, pin.words)
    return None


def _is_aside(pin: Statement, main: Sequence[Statement], rules: PinRules) -> bool:
    """Whether the pin of a group says nothing of the project's code, which has a requirement of its own.

    A group that pins the lower bound of the project's range tries the oldest release, where the code is written for
    newer ones; others say by their name that they do so, or that they are for the documentation or for linting.
    """
    lower = {
        Version(clause.version)
        for statement in main
        for alternative in statement.specifier.split("||")
        for clause in SpecifierSet(alternative)
        if clause.operator in (">=", "~=")
    }
    names = f"{pin.group} {basename(pin.file)}"  # a file says what it is for, whichever group takes it in
    return bool(main) and (Version(pin.version or "0") in lower or rules.aside.matches(names))


def _agreed(statements: Sequence[Statement], main: Sequence[Statement], pythons: Sequence[str]) -> Statement | None:
    """Return the one pin that holds on the newest Python on which all that hold name the same release.

    A lock or pin that the project's own requirements exclude, those beside or below it, is stale, and not believed.
    """
    beside = [
        statement for statement in main if statements and len(scope(statement.file)) >= len(scope(statements[0].file))
    ]
    for python in pythons:
        allowed = bounds(beside, python)
        versions: dict[Version, Statement] = {}
        for statement in statements:
            if (
                statement.version
                and holds(statement.marker, python, statement.group)
                and allows(allowed, statement.version)
            ):
                versions.setdefault(Version(statement.version), statement)
        if len(versions) == 1:
            return first(versions.values())
    return None


def _covered(library: str, resolved: ResolvedVersion, releases: Sequence[ReleaseRow]) -> ResolvedVersion | Reject:
    """Spell a release as the lake does; a build of it (`1.13.0+cu117`) has the same API."""
    public_version = Version(Version(resolved.version).public)
    for row in releases:
        if _parsed(row["version"]) == public_version:
            return resolved._replace(version=row["version"])
    detail = f"{library} {resolved.version} ({resolved.words}) is not among the {len(releases)} releases of the lake"
    return Reject(library, RejectReason.VERSION_NOT_COVERED, detail)


def _parsed(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _unknown(library: str, detail: str) -> Reject:
    return Reject(library, RejectReason.VERSION_UNKNOWN, detail)
