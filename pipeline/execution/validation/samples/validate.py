"""Validate a file of samples: plan it, run what no earlier run has settled, write a verdict for each line."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from more_itertools import first
from packaging.specifiers import SpecifierSet

from pipeline.core.errors import CodedError
from pipeline.core.progress import ReportProgress
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.validation.samples.engine import Engine, run_jobs
from pipeline.execution.validation.samples.planning import Catalogue, Job, Need, Release, job_of, need_of
from pipeline.execution.validation.samples.sample_file import BadSample, SampleFile
from pipeline.execution.validation.samples.samples import SampleError
from pipeline.execution.validation.samples.verdict_file import Verdict, VerdictFile
from pipeline.execution.validation.samples.versions import Bisection, bisection, in_release
from pipeline.index.http import BadAnswer, Unreachable
from pipeline.lake.ids import content_id

_REQUESTS = 8

"""Hears what is being done, how many samples are done, and how many there are."""


class NothingToValidate(CodedError, ValueError):
    """The file has no sample that is wanted; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Range:
    """The releases in which each sample is run in place of its own; `bisect`: only as many as it takes."""

    versions: SpecifierSet
    prereleases: bool = False
    bisect: bool = False


@dataclass(frozen=True, slots=True)
class ValidationRequest:
    """What is to be validated: all samples or `only` those ids.

    Of verdicts that are there already `again` keeps those that passed, `restart` none.
    """

    samples: Path
    out: Path
    only: frozenset[str] = frozenset()
    again: bool = False
    restart: bool = False
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """How a file came out: verdicts by outcome and the keys of all in their order; how many were kept from before.

    `bisections` is by line; `unknown` counts fields that no sample has.
    """

    outcomes: Mapping[Outcome, int]
    order: Sequence[str]
    reused: int
    environments: int
    seconds: float
    unknown: Mapping[str, int]
    bisections: Mapping[int, Bisection] = field(default_factory=dict)


def validate_file(request: ValidationRequest, engine: Engine, catalogue: Catalogue, report: ReportProgress) -> Summary:
    """Run the samples of a file and leave a verdict for each in another, in the order of the samples.

    A verdict that is there already, of the same sample run in the same way, is not made again.

    Errors: NoVerdicts for a file that holds something else, NothingToValidate, OSError.
    """
    started = time.monotonic()
    report("reading", 0, 0)
    with SampleFile(request.samples) as samples, VerdictFile(request.out, forget=request.restart) as verdicts:
        work = _Work(request, engine, catalogue, verdicts, samples, report)
        planned = list(work.plan(work.needs()))
        bisections = {}
        if request.range and request.range.bisect:
            bisections = work.halve(planned)
        else:
            work.run(planned)
        order = work.order()
        verdicts.finish((key, work.places[key][0]) for key in order)
        counts = Counter(verdicts.outcomes[key] for key in order)
    seconds = round(time.monotonic() - started, 2)
    return Summary(counts, order, len(work.reused), len(work.environments), seconds, samples.unknown, bisections)


@dataclass(frozen=True, slots=True)
class Planned:
    """A sample and the releases that it is to be run in, in their order."""

    need: Need
    releases: Sequence[Release]


class _Work:
    """One call of `validate_file`: what is to be run, and at which place of the output each verdict belongs."""

    def __init__(
        self,
        request: ValidationRequest,
        engine: Engine,
        catalogue: Catalogue,
        verdicts: VerdictFile,
        samples: SampleFile,
        report: ReportProgress,
    ) -> None:
        self.request = request
        self.engine = engine
        self.catalogue = catalogue
        self.verdicts = verdicts
        self.samples = samples
        self.report = report
        self.places: dict[str, tuple[int, int]] = {}
        self.reused: set[str] = set()
        self.environments: set[EnvironmentRequest] = set()
        self.counting = threading.Lock()
        self.done = 0
        self.total = 0

    def needs(self) -> list[Need]:
        """Read the file; a line that is no sample has its verdict now.

        Errors: NothingToValidate.
        """
        needs: list[Need] = []
        ids: set[str] = set()
        for line, sample in self.samples.read():
            ids.add(str(sample.id))
            if isinstance(sample, BadSample):
                self._settle(line, sample.id, Outcome.BAD_SAMPLE, sample.detail)
            else:
                needs.append(need_of(line, sample))
        if not ids:
            raise NothingToValidate(
                f"{self.request.samples}: no samples; write one JSON object on each line", code="samples_empty"
            )
        if missing := self.request.only - ids:
            raise NothingToValidate(
                f"--only: no sample of {self.request.samples} has the id {sorted(missing)[0]!r}", code="sample_unknown"
            )
        return needs

    def plan(self, needs: Sequence[Need]) -> Iterator[Planned]:
        """Yield the samples whose releases exist; another one has its verdict now."""
        self.report("asking the index", 0, len(needs))
        with ThreadPoolExecutor(_REQUESTS) as pool:
            list(pool.map(self._ask, dict.fromkeys(need.library for need in needs)))
        for need in needs:
            try:
                yield Planned(need, self._releases(need))
            except SampleError as error:
                self._settle(need.line, need.id, Outcome.BAD_SAMPLE, f"line {need.line}: {error}", need)
            except (Unreachable, BadAnswer) as error:
                if self.request.range is None:  # the environment may be there from before, or its files in the cache
                    yield Planned(need, [Release(need.version, None, False)])
                    continue
                self._settle(need.line, need.id, Outcome.NO_ENVIRONMENT, f"the index: {error}", need, transient=True)

    def _ask(self, library: str) -> None:
        with suppress(SampleError, Unreachable, BadAnswer):
            self.catalogue.releases(library)

    def _releases(self, need: Need) -> list[Release]:
        range_ = self.request.range
        if range_ is None:
            return [self.catalogue.find(need.library, need.version)]
        versions = self.catalogue.within(need.library, range_.versions, range_.prereleases)
        if not versions:
            raise SampleError(
                f"library: {need.library} has no release in {range_.versions or 'any range'}",
                code="sample_no_release_in_range",
            )
        return [self.catalogue.find(need.library, version) for version in versions]

    def run(self, planned: Iterable[Planned]) -> None:
        """Run each sample in each of its releases."""
        jobs = [
            self._job(sample.need, release, rank) for sample in planned for rank, release in enumerate(sample.releases)
        ]
        self._run(jobs)

    def halve(self, planned: Iterable[Planned]) -> dict[int, Bisection]:
        """Bisect each sample: what all of them ask for next is run together, since they share environments."""
        bisections: dict[int, Bisection] = {}
        planned = list(planned)
        for sample in planned:  # whatever an earlier run has found of a release keeps its place
            self._jobs_in(sample, [release.version for release in sample.releases])
        asking = [
            (sample, bisection([release.version for release in sample.releases], sample.need.version))
            for sample in planned
        ]
        batch = [(sample, steps, first(steps)) for sample, steps in asking if self._is_requested(sample.need.id)]
        while batch:
            jobs = [self._jobs_in(sample, versions) for sample, _, versions in batch]
            self._run([job for group in jobs for job in group.values()])
            further = []
            for (sample, steps, _), group in zip(batch, jobs, strict=True):
                outcomes = {version: self._outcome(job.key) for version, job in group.items()}
                try:
                    further.append((sample, steps, steps.send(outcomes)))
                except StopIteration as end:
                    bisections[sample.need.line] = end.value
            batch = further
        return dict(sorted(bisections.items()))

    def _jobs_in(self, sample: Planned, versions: Sequence[str]) -> dict[str, Job]:
        """Return the jobs of a sample in some of its releases, by version."""
        ranked = enumerate(sample.releases)
        return {r.version: self._job(sample.need, r, rank) for rank, r in ranked if r.version in versions}

    def _job(self, need: Need, release: Release, rank: int) -> Job:
        needed = in_release(need, release, self.engine.store) if self.request.range else need
        job = job_of(needed, release, self.engine.settings)
        self.places[job.key] = (need.line, rank)
        return job

    def _run(self, jobs: Sequence[Job]) -> None:
        """Run the jobs that are wanted and that no verdict is there of."""
        new = [job for job in jobs if self._is_requested(job.id) and not self._is_settled(job.key)]
        self.reused.update({job.key for job in jobs if job.key in self.verdicts.outcomes} - {job.key for job in new})
        self.environments.update(job.request for job in new)
        self.total += len(new)
        run_jobs(self.engine, new, self.samples, self._receive, lambda step: self.report(step, self.done, self.total))

    def _is_requested(self, of: str | int | None) -> bool:
        return not self.request.only or str(of) in self.request.only

    def _is_settled(self, key: str) -> bool:
        outcome = self.verdicts.outcomes.get(key)
        return outcome is not None and (outcome is Outcome.PASSED or not self.request.again)

    def _outcome(self, key: str) -> Outcome:
        return self.verdicts.outcomes.get(key, Outcome.NO_ENVIRONMENT)

    def _receive(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        with self.counting:
            self.done += 1
        self.report(f"{verdict.library} {verdict.version}", self.done, self.total)

    def _settle(
        self,
        line: int,
        of: str | int | None,
        outcome: Outcome,
        detail: str,
        need: Need | None = None,
        transient: bool = False,
    ) -> None:
        """Give a line that is wanted its verdict without running it."""
        key = content_id(line, of, outcome, detail)
        self.places[key] = (line, 0)
        if key in self.verdicts.outcomes or not self._is_requested(of):
            return
        verdict = Verdict(of, outcome, detail=detail, line=line, key=key, transient=transient)
        self.verdicts.append(replace(verdict, library=need.library, version=need.version) if need else verdict)

    def order(self) -> list[str]:
        """Return the keys of all verdicts in the order of the samples and of their releases."""
        return sorted((key for key in self.places if key in self.verdicts.outcomes), key=self.places.__getitem__)
