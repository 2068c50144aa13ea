"""Answers from the index for libraries that were never crawled: a diff of two releases, the life of an API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.crawl import BadAnswer, Period, Unreachable, Wanted, finals_of, project, releases_stage
from pipeline.lake import Output, Reject, Row
from pipeline.lifecycle import History, compare, history_of, lifecycle_stage
from pipeline.rules import LibraryRule, Profile
from pipeline.settings import index_url, settings
from pipeline.stages import House
from pipeline.surface import Surface, state_rows, surface_stage
from pipeline.terms import RejectReason

DOWNLOADS = 8
"""Files fetched at once; they are small, and waiting for them is all it costs."""

NEWEST = 6
"""Versions that an error names when the one asked for does not exist."""


class NoAnswerError(Exception):
    """What was asked for is not there; the message says what is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a history was read from: the releases, and what had to be left out."""

    history: History
    releases: tuple[Row, ...]
    rejects: tuple[Reject, ...]
    paths: tuple[str, ...]


def diff_releases(library: str, old: str, new: str) -> list[Row]:
    """Return the `changes` rows between two final releases of a library, which need not be neighbours.

    Errors: NoAnswerError where one of them cannot be had; those of the index.
    """
    house = _house(library)
    releases = [_release(house, house.profile.libraries[0].library, version) for version in (old, new)]
    surfaces = {release["version"]: house.surface_of(release) for release in releases}
    rows = state_rows(surfaces)
    before, after = (release["version"] for release in releases)
    return compare(
        rows[before],
        rows[after],
        library=releases[0]["library"],
        old_version=before,
        new_version=after,
        rules=house.rules.lifecycle,
    )


def history_from_index(library: str, path: str, tell: Callable[[int, int], None]) -> Answer:
    """Return the history of a public path over all final releases; `tell` hears of (done, total) surfaces.

    Errors: NoAnswerError for a library without releases; those of the index.
    """
    house = _house(library)
    name = house.profile.libraries[0].library
    found = _crawl(house, name, SpecifierSet(""))
    releases = list(found.tables["releases"])
    if not releases:
        raise _no_answer(name, found.rejects)
    surfaces: dict[str, Surface] = {}
    for release, surface in _surfaces(house, releases):
        surfaces[release["version"]] = surface
        tell(len(surfaces), len(releases))
    read = surface_stage(releases, lambda release: surfaces[release["version"]])
    lived = lifecycle_stage(releases, read.tables["symbols"], house.rules.lifecycle)
    history = history_of(read.tables["symbols"], lived.tables["lifecycles"], lived.tables["changes"], path)
    paths = sorted({row["path"] for row in lived.tables["lifecycles"]})
    return Answer(history, tuple(releases), (*found.rejects, *read.rejects), tuple(paths))


def _house(library: str) -> House:
    try:
        rule = LibraryRule(library=canonicalize_name(library, validate=True))
    except InvalidName:
        raise NoAnswerError(f"{library!r} is not a name that a package index can have (PEP 508)") from None
    return House(settings(), Profile(name="ondemand", libraries=(rule,)), Period())


def _crawl(house: House, library: str, versions: SpecifierSet) -> Output:
    wanted = Wanted(library, versions, None, Period())
    return releases_stage(wanted, [], index_url(), house.artifacts, house.rules.licences, DOWNLOADS)


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


def _surfaces(house: House, releases: Sequence[Row]) -> Iterator[tuple[Row, Surface]]:
    """Read the surfaces on all cores; what is in the cache costs nothing."""
    if house.settings.workers == 1 or len(releases) == 1:
        for release in releases:
            yield release, house.surface_of(release)
        return
    with ProcessPoolExecutor(house.settings.workers, mp_context=get_context("fork")) as pool:
        packed = pool.map(_packed_surface, releases, chunksize=1)
        for release, content in zip(releases, packed, strict=True):
            yield release, Surface.from_bytes(content)


def _packed_surface(release: Row) -> bytes:
    return _house(release["library"]).surface_of(release).to_bytes()
