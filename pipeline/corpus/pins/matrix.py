"""The dependency matrix: the newest release that a project's requirements allowed on a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.pins.pythons import admits, holds
from pipeline.corpus.pins.scopes import nearest, scope
from pipeline.corpus.pins.statements import PYTHON, Statement, StatementKind
from pipeline.index.index import Project
from pipeline.index.release_selection import finals_of
from pipeline.lake.rows import ReleaseRow

Narrow = Callable[[str, Sequence[str], str, datetime], str | None]
"""(library, all requirements of the project, Python X.Y, as of) to the release that a resolver takes; None if none."""

_TRIED = 3
"""A compiled dependency may take a year until it has wheels for a new Python."""


@dataclass(frozen=True, slots=True)
class Published:
    """A final release that the index has, and when its first file was uploaded."""

    version: str
    uploaded: datetime
    requires_python: str | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The release that a project's requirements led to, and for which Python; `words` say how."""

    version: str
    evidence: VersionEvidence
    words: str


def published_of(project: Project) -> tuple[Published, ...]:
    """Return the final releases of a library that are not yanked, in PEP 440 order."""
    finals, _ = finals_of(project, SpecifierSet())
    files = ((final, final.file) for final in finals)
    return tuple(Published(final.version, final.uploaded, file.requires_python) for final, file in files if file)


def published_in(releases: Iterable[ReleaseRow]) -> tuple[Published, ...]:
    """Return the releases of the lake."""
    return tuple(Published(row["version"], row["release_time"], row["requires_python"]) for row in releases)


def by_matrix(
    requirements: Sequence[Statement],
    near: Sequence[Statement],
    pythons: Sequence[str],
    published: Sequence[Published],
    as_of: datetime,
    narrow: Narrow | None,
) -> Chosen | str:
    """Return the newest release that was there by then and that the `requirements` of a library allow, or why none.

    Where the project itself does not ask for the library, its groups do. Of the Pythons that the project admits that
    counts which has the newest release. A prefix that only one release has (`==1.3.5.*`) is as good as a pin.
    """
    ranges = [statement for statement in requirements if statement.kind is not StatementKind.LOCK]
    main = nearest([statement for statement in ranges if statement.group is None] or ranges)
    if not main:
        return "a lock names it in more than one version"
    if any(statement.kind is StatementKind.ADDRESS for statement in main):
        return f"{listing(main)}: which release that is cannot be told"
    there = sorted(
        (release for release in published if release.uploaded <= as_of),
        key=lambda release: Version(release.version),
        reverse=True,
    )
    allowed = [(Version(best), best, python) for python in pythons if (best := _newest(there, main, python))]
    if not allowed:
        return f"{listing(main)}: no release that was there on {as_of:%Y-%m-%d} is allowed by that"
    newest, spelled, python = max(allowed, key=lambda candidate: candidate[0])
    if _alone(main, python, published):
        return Chosen(spelled, VersionEvidence.EXACT_PIN, listing(main))
    words = f"{listing(main)}, newest on {as_of:%Y-%m-%d} for Python {python}"
    chosen = _narrowed(near, main, pythons[pythons.index(python) :], as_of, narrow) if narrow else None
    if chosen and Version(chosen) != newest:
        return Chosen(chosen, VersionEvidence.DEPENDENCY_MATRIX, f"{words}, narrowed by the other requirements")
    return Chosen(spelled, VersionEvidence.DEPENDENCY_MATRIX, words)


def _narrowed(
    near: Sequence[Statement], main: Sequence[Statement], pythons: Sequence[str], as_of: datetime, narrow: Narrow
) -> str | None:
    """Return what a resolver takes on the newest Python on which it finds anything; a few are tried."""
    for python in pythons[:_TRIED]:
        chosen = narrow(main[0].library, _requirements(near, main, python), python, as_of)
        if chosen:
            return chosen
    return None


def bounds(statements: Iterable[Statement], python: str) -> list[str]:
    """Return the specifiers of those statements that hold on a Python."""
    return [statement.specifier for statement in statements if holds(statement.marker, python, statement.group)]


def allows(specifiers: Iterable[str], version: str) -> bool:
    """Whether all specifiers allow a release; alternatives stand beside `||`."""
    return all(
        any(SpecifierSet(alternative).contains(version, prereleases=True) for alternative in specifier.split("||"))
        for specifier in specifiers
    )


def listing(statements: Iterable[Statement]) -> str:
    """Return what is stated and where, each requirement once."""
    once: dict[tuple[str, str | None], str] = {}
    for statement in statements:
        once.setdefault((statement.specifier, statement.marker), statement.words)
    return ", ".join(once.values())


def _newest(there: Sequence[Published], main: Sequence[Statement], python: str) -> str | None:
    """Return the newest of the releases, which stand from new to old, that is allowed on a Python."""
    specifiers = bounds(main, python)
    if not specifiers:
        return None
    fitting = (release.version for release in there if admits(release.requires_python or "", python))
    return next((version for version in fitting if allows(specifiers, version)), None)


def _alone(main: Sequence[Statement], python: str, published: Sequence[Published]) -> bool:
    """Whether a prefix is asked for that only one of all releases has."""
    specifiers = bounds(main, python)
    prefixed = any(specifier.strip().startswith("==") and specifier.strip().endswith(".*") for specifier in specifiers)
    return prefixed and sum(allows(specifiers, release.version) for release in published) == 1


def _requirements(near: Sequence[Statement], main: Sequence[Statement], python: str) -> list[str]:
    """Return what the project asks for on a Python, the library first, as lines that a resolver reads."""
    place = scope(main[0].file)
    others = (
        statement
        for statement in near
        if statement.group is None
        and statement.kind in (StatementKind.RANGE, StatementKind.EXACT_PIN)
        and statement.library != PYTHON
        and scope(statement.file) == place
    )
    lines = (
        f"{statement.library}{statement.specifier}"
        for statement in [*main, *others]
        if holds(statement.marker, python, statement.group)
    )
    return list(dict.fromkeys(line for line in lines if "||" not in line))
