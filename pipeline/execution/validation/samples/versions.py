"""The same code over the releases of its library: the matrix of where it works, and the release where that changes."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, pairwise

import more_itertools
from packaging.version import Version

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.resolution.interpreters import preference
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.validation.samples.engine import Engine, run_jobs
from pipeline.execution.validation.samples.pins import loosened
from pipeline.execution.validation.samples.planning import Catalogue, Need, Release, job_of, need_of
from pipeline.execution.validation.samples.samples import Sample
from pipeline.execution.validation.samples.verdict_file import Verdict

# These say nothing about whether the code works in a release.
_UNKNOWN = frozenset({Outcome.NO_ENVIRONMENT, Outcome.HARNESS_ERROR, Outcome.FLAKY, Outcome.BAD_SAMPLE})

_ANY_TIME = datetime.max.replace(tzinfo=UTC)

Outcomes = Mapping[str, Outcome]
Asking = Generator[tuple[str, ...], Outcomes, "Bisection"]


@dataclass(frozen=True, slots=True)
class Bisection:
    """Where a sample breaks, or starts to work, within some releases.

    `last` and `first` are the neighbours, both run, between which that happens: `last` passes and `first` does not, or
    the other way round if `starts`; both None: it came out alike wherever it was run. `unknown` are releases between
    the two that could not be judged. Not `monotone`: what was run passes, fails and passes again, or the other way
    round, so that there is more than one such place.
    """

    last: str | None
    first: str | None
    starts: bool
    monotone: bool
    unknown: tuple[str, ...]
    outcomes: Outcomes


def in_release(need: Need, release: Release, store: EnvironmentStore) -> Need:
    """Return what a sample needs in another release: its own Python where the release allows that.

    Elsewhere the rules choose the Python. What is pinned exactly beside the library belongs to the sample's own
    release; in others only the names hold, and are resolved as of the day of the release.
    """
    if Version(release.version) == Version(need.version):
        return need
    own = [interpreter for interpreter in store.interpreters if interpreter.python == need.python]
    fits = not own or preference(own, release.requires_python, _ANY_TIME, store.rules)
    return replace(need, pins=loosened(need.pins), python=need.python if fits else None)


def matrix(sample: Sample, versions: Sequence[str], engine: Engine, catalogue: Catalogue) -> list[Verdict]:
    """Run a sample in each of some releases of its library and return the verdicts in the order of the versions.

    Errors: SampleError for a version that does not exist; those of the index.
    """
    need = need_of(0, sample)
    releases = [catalogue.find(sample.library, version) for version in versions]
    jobs = [job_of(in_release(need, release, engine.store), release, engine.settings) for release in releases]
    by_key: dict[str, Verdict] = {}
    run_jobs(engine, jobs, [sample], lambda verdict: by_key.update({verdict.key: verdict}))
    return [by_key[job.key] for job in jobs]


def bisect(sample: Sample, versions: Sequence[str], engine: Engine, catalogue: Catalogue) -> Bisection:
    """Find where among some releases a sample breaks or starts to work, without running it in all of them.

    Errors: as `matrix`; ValueError without releases.
    """
    asking = bisection(versions, sample.version)
    batch = more_itertools.first(asking)
    while True:
        verdicts = matrix(sample, batch, engine, catalogue)
        try:
            batch = asking.send({version: verdict.outcome for version, verdict in zip(batch, verdicts, strict=True)})
        except StopIteration as end:
            result: Bisection = end.value
            return result


def bisection(versions: Sequence[str], own: str | None = None) -> Asking:
    """Yield versions to run, be sent their outcomes, and return the bisection.

    Both ends are run first, and the sample's own release if it is among them: code that also fails in an older one
    is not said to break there. Where they differ, halving finds two neighbours that differ; where they do not, three
    points between are looked at. Then the releases on either side of the neighbours are run too, so that a pattern
    that goes back and forth there is told.
    """
    points = _Points(versions)
    place = next((place for place, version in enumerate(versions) if own and Version(version) == Version(own)), None)
    yield from points.run_ends(place)
    if points.change() is None and len(points.judged()) > 1:
        low, high = points.judged()[0], points.judged()[-1]
        yield from points.run({low + (high - low) * part // 4 for part in (1, 2, 3)})
    while (change := points.change()) and (between := points.untried(*change)):
        middle = (change[0] + change[1]) / 2
        yield from points.run({min(between, key=lambda place: abs(place - middle))})
    if change:
        yield from points.run({change[0] - 1, change[1] + 1})
    return points.result(change)


class _Points:
    """Releases in their order, and how the sample came out in those where it was run."""

    def __init__(self, versions: Sequence[str]) -> None:
        self.versions = versions
        self.outcomes: dict[int, Outcome] = {}

    def run(self, places: Iterable[int]) -> Generator[tuple[str, ...], Outcomes, None]:
        """Have those run that exist and were not run."""
        pending = sorted(place for place in set(places) - set(self.outcomes) if 0 <= place < len(self.versions))
        if pending:
            outcomes = yield tuple(self.versions[place] for place in pending)
            self.outcomes |= {place: outcomes[self.versions[place]] for place in pending}

    def run_ends(self, beside: int | None) -> Generator[tuple[str, ...], Outcomes, None]:
        """Run the first and last release and one `beside`; for an end that cannot be judged, find the next inwards."""
        last = len(self.versions) - 1
        yield from self.run({0, last} if beside is None else {0, beside, last})
        for start, inwards in ((0, 1), (last, -1)):
            if self.outcomes.get(start) in _UNKNOWN:
                yield from self._run_inwards(start, inwards)

    def _run_inwards(self, start: int, inwards: int) -> Generator[tuple[str, ...], Outcomes, None]:
        """Go inwards by growing steps until a release can be judged, then back by halving: it takes few builds."""
        last = len(self.versions) - 1
        unknown, place, step = start, start, 1
        while self.outcomes.get(place) in _UNKNOWN and 0 <= place + inwards <= last:
            unknown, place, step = place, min(max(place + inwards * step, 0), last), step * 2
            yield from self.run({place})
        while self.outcomes[place] not in _UNKNOWN and abs(place - unknown) > 1:
            middle = (unknown + place) // 2
            yield from self.run({middle})
            unknown, place = (middle, place) if self.outcomes[middle] in _UNKNOWN else (unknown, middle)

    def judged(self) -> list[int]:
        """Return the places whose outcome tells something, in order."""
        return sorted(place for place, outcome in self.outcomes.items() if outcome not in _UNKNOWN)

    def passes(self, place: int) -> bool:
        """Whether the sample passed there."""
        return self.outcomes[place] is Outcome.PASSED

    def changes(self) -> list[tuple[int, int]]:
        """Return the pairs of judged places next to each other of which one passes and one does not."""
        judged = self.judged()
        return [pair for pair in pairwise(judged) if self.passes(pair[0]) != self.passes(pair[1])]

    def change(self) -> tuple[int, int] | None:
        """Return the closest of these pairs, the first of several, so that halving goes on where it began."""
        return min(self.changes(), key=lambda pair: pair[1] - pair[0], default=None)

    def untried(self, low: int, high: int) -> list[int]:
        """Return the places between two that were not run."""
        return [place for place in range(low + 1, high) if place not in self.outcomes]

    def result(self, change: tuple[int, int] | None) -> Bisection:
        """Return what has been found, given the neighbours between which nothing is left to run."""
        low, high = change or (-1, len(self.versions))
        unknown = (place for place in range(low + 1, high) if self.outcomes.get(place) in _UNKNOWN)
        return Bisection(
            last=self.versions[low] if change else None,
            first=self.versions[high] if change else None,
            starts=bool(change) and self.passes(high),
            monotone=len(self.changes()) <= 1,
            unknown=tuple(self.versions[place] for place in unknown),
            outcomes={self.versions[place]: self.outcomes[place] for place in sorted(self.outcomes)},
        )


@dataclass(frozen=True, slots=True)
class Span:
    """Releases next to each other in which a sample came out alike."""

    first: str
    last: str
    count: int
    outcome: Outcome


def spans(outcomes: Outcomes) -> list[Span]:
    """Return outcomes by version, which are in order, as the spans that they form."""
    result = []
    for outcome, group in groupby(outcomes, key=lambda version: outcomes[version]):
        versions = list(group)
        result.append(Span(versions[0], versions[-1], len(versions), outcome))
    return result
