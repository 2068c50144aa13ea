"""Answers from the index for libraries that were never crawled: a diff of two releases, the lives of all APIs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.api.history.compare import Comparison, changes_of
from pipeline.api.history.index import Index
from pipeline.api.surface.reader import Surface
from pipeline.api.surface.stage import in_order
from pipeline.core.errors import CodedError
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.review import RejectReason
from pipeline.index.http import BadAnswer, Unreachable
from pipeline.index.index import project
from pipeline.index.release_selection import Period, ReleaseRequest, finals_of
from pipeline.index.releases import releases_stage
from pipeline.index.suggestions import did_you_mean, nearest_versions
from pipeline.lake.damage import Damaged
from pipeline.lake.delta import LakeError
from pipeline.lake.rows import BehaviourRow, ChangeRow, LifecycleRow, ReleaseRow, SymbolRow, SymbolState
from pipeline.lake.runner import Stage, run_stage
from pipeline.lake.stage import Output, Reject
from pipeline.lake.tables import Lake, one_of
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.analysis import analysis

DOWNLOADS = 4
"""Releases fetched at once. Each has several requests of its own; more at once fetch the same file twice."""

_STAGES = frozenset({"surface", "lifecycle"})

Reporter = Callable[[str, int, int], None]
"""Hears what is being done, how much of it is done, and how much there is."""


class NoAnswerError(CodedError):
    """What was asked for is not there; the message says what is."""

    code = "release_unreadable"


class Tables:
    """What all final releases of a library come to, each table read when it is looked at, and what was left out."""

    def __init__(self, lake: Lake, library: str, resources: Resources) -> None:
        self._lake = lake
        self._library = library
        # as long as it lives, nobody takes files out of the cache
        self._house = resources

    @cached_property
    def releases(self) -> list[ReleaseRow]:
        """The releases of which something was read, in order of version."""
        unread = {reject.key for reject in self._of("lifecycle") if reject.reason is RejectReason.NOTHING_READ}
        releases = self._lake.read("releases", self._library)
        return in_order([release for release in releases if release["version"] not in unread])

    @property
    def uncompared(self) -> frozenset[str]:
        """The versions of releases that could not be compared with the ones before them."""
        return frozenset(reject.key for reject in self._of("lifecycle"))

    @cached_property
    def symbols(self) -> list[SymbolRow]:
        """The states of public paths."""
        return self._lake.read("symbols", self._library)

    @cached_property
    def importable_names(self) -> list[SymbolRow]:
        """The states of paths that can be imported without being public."""
        return self._lake.read("importable_names", self._library)

    @cached_property
    def changes(self) -> list[ChangeRow]:
        """What changed from release to release."""
        return self._lake.read("changes", self._library)

    @cached_property
    def lifecycles(self) -> list[LifecycleRow]:
        """When each public path came and went."""
        return self._lake.read("lifecycles", self._library)

    @cached_property
    def rejects(self) -> list[Reject]:
        """The releases, files and statements that had to be left out."""
        return self._of("crawl", "surface")

    def _of(self, *stages: str) -> list[Reject]:
        """Return what stages have left out."""
        rows = self._lake.read("rejects", self._library, one_of("stage", stages))
        return [Reject(row["key"], RejectReason(row["reason"]), row["detail"]) for row in rows]

    @property
    def paths(self) -> tuple[str, ...]:
        """The public paths that any release has."""
        return tuple(sorted({row["path"] for row in self.lifecycles}))


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two releases, what each of them offers, and what of them could not be read."""

    changes: tuple[ChangeRow, ...]
    old: Index
    new: Index
    rejects: tuple[Reject, ...]
    held_back: Mapping[str, str]
    """Paths of the old release that the new one may lack, each with the reason why nothing tells."""

    def states(self, path: str) -> tuple[SymbolState, SymbolState] | None:
        """Return what a path that both releases have is in each of them."""
        before, after = self.old.find(path), self.new.find(path)
        return (before, after) if before is not None and after is not None else None


def behaviours_of(library: str, report_problem: Callable[[str], None]) -> list[BehaviourRow]:
    """Return the changes of behaviour in the lake; none for a library that was not refreshed.

    The commands that show them answer without a lake too: one that cannot be read is reported, and is no error.
    """
    try:
        return Lake(settings().lake_root).read("behaviours", canonicalize_name(library))
    except (Damaged, LakeError) as error:
        report_problem(f"changes of behaviour are left out: {error}")
        return []


def diff_releases(library: str, old: str, new: str, report: Reporter = lambda step, done, total: None) -> Diff:
    """Return the changes between two releases of a library, which need not be neighbours; any that is named is taken.

    Errors: NoAnswerError where one of them cannot be had, or nothing of it can be read; those of the index.
    """
    resources = Resources(settings(), profile_of(library), Period())
    releases, surfaces = [], []
    for version in (old, new):
        report(f"fetching {library} {version}", 0, 0)
        releases.append(_release(resources, resources.profile.libraries[0].library, version))
    for release in releases:
        report(f"reading {library} {release['version']}", 0, 0)
        surfaces.append(resources.surface_of(release))
    report(f"comparing {library} {old} and {new}", 0, 0)
    rejects: dict[Reject, None] = {}
    for version, surface in zip((release["version"] for release in releases), surfaces, strict=True):
        if surface.unread:
            raise _no_answer(f"{library} {version}", [Reject(version, RejectReason.NOTHING_READ, surface.unread)])
        rejects |= dict.fromkeys(_left_out(version, surface))
    before, after = (Index(surface.symbols.values(), surface.importable_names.values()) for surface in surfaces)
    comparison = Comparison(before, after, resources.rules.lifecycle)
    versions = [release["version"] for release in releases]
    changes = changes_of(comparison, releases[0]["library"], *versions)
    return Diff(tuple(changes), before, after, tuple(rejects), comparison.held_back())


def _left_out(version: str, surface: Surface) -> Iterator[Reject]:
    """Yield what could not be read of a release."""
    for part in (*surface.problems, *surface.notes):
        yield replace(part, key=f"{version} {part.key}")
    if surface.compiled:
        yield Reject(version, RejectReason.COMPILED, surface.unread_compiled)


def tables_from_index(
    library: str, report: Reporter, named: Sequence[str] = (), since: Sequence[Version] = ()
) -> Tables:
    """Read all final releases of a library and those that are named, going on from what an earlier question has read.

    One of `since` may be no release at all.

    Errors: NoAnswerError for a library without releases, and where one that is named cannot be had; those of the index.
    """
    versions = [_version(text) for text in named]
    resources = _Reporting(profile_of(library), report)
    name = resources.profile.libraries[0].library
    root = resources.settings.cache / "history_tables"
    lake = Lake(root)
    tables = Tables(lake, name, resources)
    report(f"asking for {name}", 0, 1)
    crawl = Stage(
        "crawl",
        1,
        (),
        ("releases",),
        lambda: None,
        lambda *_: _crawl(resources, name, SpecifierSet(""), [*versions, *since]),
    )
    run_stage(crawl, name, lake, root / "_counts")
    had = {Version(row["version"]) for row in lake.read("releases", name)}
    if not had:
        raise _no_answer(name, tables.rejects)
    for version in versions:
        if version not in had:
            raise _no_release(resources, name, str(version), tables.rejects)
    for stage in analysis(resources):
        if stage.name in _STAGES:
            run_stage(stage, name, lake, root / "_counts")
    if not tables.releases:
        raise _no_answer(name, tables.rejects)
    return tables


class _Reporting(Resources):
    """The stages over a library, which tell how many files are parsed and how many releases are read."""

    def __init__(self, profile: Profile, report: Reporter) -> None:
        super().__init__(settings(), profile, Period())
        self._library = profile.libraries[0].library
        self._report = report
        self._new: dict[str, int] = {}

    def prepare(self, releases: Iterable[ReleaseRow], report: Callable[[int, int], None] | None = None) -> None:
        rows = list(releases)
        self._new = {release["version"]: number for number, release in enumerate(in_order(rows), 1)}
        super().prepare(rows, report or (lambda done, total: self._report(f"parsing {self._library}", done, total)))

    def surface_of(self, release: ReleaseRow) -> Surface:
        # the last one of an earlier question is read too, to go on from
        if number := self._new.get(release["version"]):
            self._report(f"reading {self._library}", number, len(self._new))
        return super().surface_of(release)


def profile_of(library: str) -> Profile:
    """Return the profile that has one library. Errors: NoAnswerError for what is no name."""
    try:
        rule = LibraryRule(library=canonicalize_name(library, validate=True))
    except InvalidName:
        raise NoAnswerError(
            f"{library!r} is not a name that a package index can have (PEP 508)", code="library_name_invalid"
        ) from None
    return Profile(name="ondemand", libraries=(rule,))


def _crawl(resources: Resources, library: str, versions: SpecifierSet, named: Iterable[Version] = ()) -> Output:
    request = ReleaseRequest(library, versions, None, Period(), frozenset(named))
    return releases_stage(
        request,
        {"releases": []},
        index_url(),
        resources.artifacts,
        resources.rules.licences,
        DOWNLOADS,
        resources.needed_sources,
    )


def _release(resources: Resources, library: str, version: str) -> ReleaseRow:
    exact = _version(version)
    output = _crawl(resources, library, SpecifierSet(f"=={exact}"), [exact])
    rows = [row for row in output.tables["releases"] if Version(row["version"]) == exact]
    if rows:
        return rows[0]
    raise _no_release(resources, library, version, output.rejects)


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        raise NoAnswerError(
            f"{text!r} is not a version by PEP 440; write for example 2.3.0", code="version_invalid"
        ) from None


def _no_release(resources: Resources, library: str, version: str, rejects: Sequence[Reject]) -> Exception:
    """Return the error that says why a release cannot be had."""
    exact = Version(version)
    about = [reject for reject in rejects if reject.key == library or _is_version(reject.key, exact)]
    if {reject.reason for reject in about} <= {RejectReason.NO_RELEASES}:
        return NoAnswerError(
            f"{library} {version}: the index has no such release; {_nearest(resources, library, version)}",
            code="release_unknown",
        )
    return _no_answer(f"{library} {version}", about)


def _is_version(text: str, version: Version) -> bool:
    try:
        return Version(text) == version
    except InvalidVersion:
        return False


def _nearest(resources: Resources, library: str, version: str) -> str:
    """Say which final releases are the nearest, so that nobody has to look them up."""
    finals, _ = finals_of(project(resources.artifacts.fetcher, index_url(), library), SpecifierSet(""))
    nearest = nearest_versions(version, [final.version for final in finals])
    return f"the nearest are {', '.join(nearest)}" if nearest else "it has no final release"


def _no_answer(request: str, rejects: Sequence[Reject]) -> Exception:
    """Return the error that says why: an index that cannot be asked is no fault of the question."""
    if [reject.reason for reject in rejects] == [RejectReason.NO_SUCH_LIBRARY]:
        library = rejects[0].key
        return NoAnswerError(f"the index does not know {library}{did_you_mean(library)}", code="library_unknown")
    reasons = []
    for reject in rejects[:3]:
        about = "" if reject.key in request.split() else f"{reject.key}: "
        detail = "" if reject.detail == reject.reason.meaning else f" ({reject.detail})"
        reasons.append(f"{about}{reject.reason.meaning}{detail}")
    message = f"{request}: {'; '.join(reasons) or 'the index has no such release'}"
    errors = {RejectReason.INDEX_UNREACHABLE: Unreachable, RejectReason.BAD_INDEX_ANSWER: BadAnswer}
    return next((errors[reject.reason] for reject in rejects if reject.reason in errors), NoAnswerError)(message)
