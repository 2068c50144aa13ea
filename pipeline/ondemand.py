"""Answers from the index for libraries that were never crawled: a diff of two releases, the lives of all APIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.crawl import BadAnswer, Period, Unreachable, Wanted, finals_of, project, releases_stage
from pipeline.house import House
from pipeline.lake import Output, Reject, Row
from pipeline.lifecycle import Index, compare, lifecycle_stage
from pipeline.rules import LibraryRule, Profile
from pipeline.settings import index_url, settings
from pipeline.surface import Surface, surface_stage
from pipeline.terms import RejectReason

DOWNLOADS = 4
"""Releases fetched at once. Each has several requests of its own; more at once fetch the same file twice."""

NEWEST = 6
"""Versions that an error names when the one asked for does not exist."""

Tell = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and how much there is."""


class NoAnswerError(Exception):
    """What was asked for is not there; the message says what is."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What all final releases of a library come to, and what had to be left out."""

    releases: tuple[Row, ...]
    symbols: tuple[Row, ...]
    importable: tuple[Row, ...]
    changes: tuple[Row, ...]
    lifecycles: tuple[Row, ...]
    rejects: tuple[Reject, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The public paths that any release has."""
        return tuple(sorted({row["path"] for row in self.lifecycles}))


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two releases, and what each of them offers."""

    changes: tuple[Row, ...]
    old: Index
    new: Index

    def states(self, path: str) -> tuple[Row, Row] | None:
        """Return what a path that both releases have is in each of them."""
        before, after = self.old.find(path), self.new.find(path)
        return (before, after) if before is not None and after is not None else None


def diff_releases(library: str, old: str, new: str) -> Diff:
    """Return the changes between two final releases of a library, which need not be neighbours.

    Errors: NoAnswerError where one of them cannot be had; those of the index.
    """
    house = _house(library)
    releases = [_release(house, house.profile.libraries[0].library, version) for version in (old, new)]
    surfaces = [house.surface_of(release) for release in releases]
    before, after = (Index(surface.symbols.values(), surface.importable.values()) for surface in surfaces)
    changes = compare(
        before,
        after,
        library=releases[0]["library"],
        old_version=releases[0]["version"],
        new_version=releases[1]["version"],
        rules=house.rules.lifecycle,
    )
    return Diff(tuple(changes), before, after)


def tables_from_index(library: str, tell: Tell) -> Tables:
    """Read all final releases of a library.

    Errors: NoAnswerError for a library without releases; those of the index.
    """
    house = _house(library)
    name = house.profile.libraries[0].library
    tell(f"asking for {name}", 0, 1)
    found = _crawl(house, name, SpecifierSet(""))
    releases = list(found.tables["releases"])
    if not releases:
        raise _no_answer(name, found.rejects)
    house.prepare(releases, lambda done, total: tell(f"parsing {name}", done, total))
    done: list[str] = []

    def read(release: Row) -> Surface:
        done.append(release["version"])
        tell(f"reading {name}", len(done), len(releases))
        return house.surface_of(release)

    made = surface_stage(releases, read, at_gap=house.surfaces.forget)
    lived = lifecycle_stage(releases, made.tables["symbols"], made.tables["importable"], house.rules.lifecycle)
    return Tables(
        tuple(releases),
        tuple(made.tables["symbols"]),
        tuple(made.tables["importable"]),
        tuple(lived.tables["changes"]),
        tuple(lived.tables["lifecycles"]),
        (*found.rejects, *made.rejects),
    )


def _house(library: str) -> House:
    try:
        rule = LibraryRule(library=canonicalize_name(library, validate=True))
    except InvalidName:
        raise NoAnswerError(f"{library!r} is not a name that a package index can have (PEP 508)") from None
    return House(settings(), Profile(name="ondemand", libraries=(rule,)), Period())


def _crawl(house: House, library: str, versions: SpecifierSet) -> Output:
    wanted = Wanted(library, versions, None, Period())
    return releases_stage(
        wanted, [], index_url(), house.artifacts, house.rules.licences, DOWNLOADS, house.wanted_sources
    )


def _release(house: House, library: str, version: str) -> Row:
    try:
        wanted = Version(version)
    except InvalidVersion:
        raise NoAnswerError(f"{version!r} is not a version by PEP 440; write for example 2.3.0") from None
    found = _crawl(house, library, SpecifierSet(f"=={wanted}"))
    rows = [row for row in found.tables["releases"] if Version(row["version"]) == wanted]
    if rows:
        return rows[0]
    about = [reject for reject in found.rejects if reject.key == library or _is_version(reject.key, wanted)]
    if [reject.reason for reject in about] == [RejectReason.NO_RELEASES]:
        raise NoAnswerError(f"{library} {version}: the index has no such release; {_newest(house, library)}")
    raise _no_answer(f"{library} {version}", about)


def _is_version(text: str, wanted: Version) -> bool:
    try:
        return Version(text) == wanted
    except InvalidVersion:
        return False


def _newest(house: House, library: str) -> str:
    """Say which final releases are the newest, so that nobody has to look them up."""
    finals, _ = finals_of(project(house.artifacts.fetcher, index_url(), library), SpecifierSet(""))
    newest = [final.version for final in finals[-NEWEST:]]
    return f"the newest are {', '.join(newest)}" if newest else "it has no final release"


def _no_answer(what: str, rejects: Sequence[Reject]) -> Exception:
    """Return the error that says why: an index that cannot be asked is no fault of the question."""
    reasons = "; ".join(f"{reject.key}: {reject.reason.meaning} ({reject.detail})" for reject in rejects[:3])
    message = f"{what}: {reasons or 'the index has no such release'}"
    errors = {RejectReason.INDEX_UNREACHABLE: Unreachable, RejectReason.BAD_INDEX_ANSWER: BadAnswer}
    return next((errors[reject.reason] for reject in rejects if reject.reason in errors), NoAnswerError)(message)
