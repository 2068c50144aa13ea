"""Downstream code: what releases of dependents use of a library, at the version that they were released for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.code_source import CodeSample
from pipeline.corpus.dependents.about import read_about
from pipeline.corpus.dependents.choosing import Days, DependentRelease, choose
from pipeline.corpus.dependents.dependents import dependents_of
from pipeline.corpus.dependents.pieces import pieces
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.corpus.dependents.sdists import SdistStore, TooLarge
from pipeline.corpus.pins.matrix import Narrow, published_of
from pipeline.corpus.python_files import PythonFileRules, Target
from pipeline.index.archives import BadArchive, UnsafeArchive
from pipeline.index.http import BadAnswer, BrokenOff, Fetcher, NotFound, Unreachable, WrongHash
from pipeline.index.index import project
from pipeline.index.licences import LicenceRules
from pipeline.index.release_selection import Period
from pipeline.index.sources import SourceStore
from pipeline.lake.guard import attempt, guarded
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.stage import Reject

_REASONS: dict[type[Exception], RejectReason] = {
    Unreachable: RejectReason.INDEX_UNREACHABLE,
    BrokenOff: RejectReason.INDEX_UNREACHABLE,
    NotFound: RejectReason.VANISHED,
    BadAnswer: RejectReason.BAD_ANSWER,
    WrongHash: RejectReason.WRONG_HASH,
    BadArchive: RejectReason.BAD_ARCHIVE,
    UnsafeArchive: RejectReason.UNSAFE_ARCHIVE,
    TooLarge: RejectReason.TOO_LARGE,
}


@dataclass(frozen=True)
class Downstream:
    """The source of code from the package index: a CodeSource.

    What was read of distributions is kept under `cache`; `crawled` are stores of what was crawled before, which are
    searched for dependents that the rules do not name. `workers` distributions are read at a time. `narrow` resolves
    a version together with the other requirements of the dependent.
    """

    index_url: str
    fetcher: Fetcher
    cache: Path
    rules: DependentRules
    files: PythonFileRules
    licences: LicenceRules
    crawled: Sequence[SourceStore] = ()
    workers: int = 1
    narrow: Narrow | None = None

    @property
    def name(self) -> SnippetSource:
        """The source that its code is said to be of."""
        return SnippetSource.DOWNSTREAM

    def unavailable(self) -> str | None:
        """Return None: the index that gave the library can be asked for its dependents too."""
        return None

    @cached_property
    def sdists(self) -> SdistStore:
        """The source distributions that were read."""
        return SdistStore(self.cache, self.fetcher, self.rules)

    def find(self, library: str, releases: Sequence[ReleaseRow], period: Period) -> Iterator[CodeSample | Reject]:
        """Yield the files of dependents that import a library, a dependent at a time, or what of them was refused.

        A release of a dependent is a reject where it cannot be read, nothing in it imports the library, or its version
        of the library cannot be told or is not in the lake; so is a file that imports it and is no example.

        Errors: Unreachable where the index does not answer for the library itself; SourcesError, OSError of the cache.
        """
        if not releases:
            return
        try:
            published = published_of(project(self.fetcher, self.index_url, library))
        except (NotFound, BadAnswer) as error:
            yield self._reject(f"pkg:pypi/{library}", error)
            return
        target = Target(library, tuple(releases), published, self.narrow)
        days = Days(published)
        # Not what was read of dependents: each refresh would find some more by those of the one before.
        crawled = chain.from_iterable(store.manifests() for store in self.crawled)
        with ThreadPoolExecutor(self.workers) as pool:
            choose_of = partial(self._choose, target=target, days=days, period=period)
            for dependent in dependents_of(library, self.rules, crawled):
                chosen = list(guarded([dependent], "pkg:pypi/{}".format, choose_of))
                for read in pool.map(partial(self._read, target), chosen):
                    yield from [read] if isinstance(read, Reject) else read

    def _choose(self, dependent: str, target: Target, days: Days, period: Period) -> list[DependentRelease | Reject]:
        key = f"pkg:pypi/{dependent}"
        try:
            index_project = project(self.fetcher, self.index_url, dependent)
        except (NotFound, BadAnswer, Unreachable) as error:
            return [self._reject(key, error)]
        covered = {row["version"] for row in target.releases}
        chosen = choose(index_project, target.library, days, covered, period, self.rules.releases_per_dependent)
        detail = f"none came out, as far as the index tells, in the days of the lake's releases of {target.library}"
        return chosen or [Reject(key, RejectReason.NO_RELEASES, detail)]

    def _read(self, target: Target, release: DependentRelease | Reject) -> list[CodeSample | Reject] | Reject:
        if isinstance(release, Reject):
            return release
        return attempt(release.purl, self._pieces, target, release)

    def _pieces(self, target: Target, release: DependentRelease) -> list[CodeSample | Reject]:
        try:
            sdist = self.sdists.read(release.sdist)
            about = read_about(sdist.metadata, self.licences)
            # The index is asked here too, by what resolves a version with others.
            return list(pieces(release, sdist, about, target, self.files))
        except tuple(_REASONS) as error:
            return [self._reject(release.purl, error, release.sdist.url)]

    def _reject(self, key: str, error: Exception, url: str = "") -> Reject:
        """Say what was wrong without the mirror's address, so that the row is the same wherever it was made."""
        detail = str(error)
        for address in filter(None, (url, self.index_url, self.index_url.removesuffix("/simple"))):
            detail = detail.replace(f"{address}: ", "").replace(address, "")
        return Reject(key, _REASONS[type(error)], detail)
