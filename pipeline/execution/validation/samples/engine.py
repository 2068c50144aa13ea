"""Run samples in the pinned environments that they ask for: built ahead while others run, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from pipeline.core.rules.fingerprint import plain
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.execution.environments.missing import MissingRules, missing_rules
from pipeline.execution.environments.resolution.failures import IndexUnreachable, StepFailed
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import MODULE, Case, Result, parted_or_none
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.run_cache import of_judging
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.samples.planning import Job, by_environment, digest_of
from pipeline.execution.validation.samples.samples import Sample, SampleError
from pipeline.execution.validation.samples.verdict_file import Verdict
from pipeline.execution.validation.splitting import unparted
from pipeline.lake.rows import EnvironmentRow

CHUNK = 16
"""Cases of one environment that one worker runs before another one may take over: a fork server serves them all."""

# Both ways of running come out alike, and which snippets are run is no matter of samples.
_NOT_OF_RUNS = frozenset({"process", "fork_from", "executable_sources"})
_AHEAD = 4  # environments for each worker that may be built and wait to be used
_ATTEMPT = frozenset({"python", "rung", "moved", "outcome", "detail"})
_MAY_LACK = frozenset({Outcome.IMPORT_ERROR, Outcome.WRONG_EXCEPTION, Outcome.BAD_SAMPLE, Outcome.API_MISSING})
_TRANSIENT = frozenset({EnvironmentOutcome.NO_SPACE})


class Samples(Protocol):
    """Where a sample is had by the number of its line."""

    def __getitem__(self, line: int, /) -> Sample: ...


@dataclass(frozen=True)
class Engine:
    """What running samples takes; `workers` environments are built and as many cases run at a time.

    Tests that can be parted are judged apart from the code; `apart` True refuses others, and False runs all beside it.
    """

    store: EnvironmentStore
    sandbox: Sandbox
    rules: ValidationRules
    workers: int = 1
    cover: bool = False
    apart: bool | None = None
    missing: MissingRules = field(default_factory=missing_rules)

    @cached_property
    def settings(self) -> tuple[Any, ...]:
        """What decides beside a sample how it comes out."""
        of_runs = {name: rule for name, rule in plain(self.rules).items() if name not in _NOT_OF_RUNS}
        return (of_runs, plain(self.store.rules), plain(self.missing), self.cover, self.apart, *of_judging())


@dataclass(frozen=True, slots=True)
class Built:
    """What came of building the environment of a group of jobs, and the environment if it is there to be used.

    Its row is None where nothing came of it at all.
    """

    row: EnvironmentRow | None
    outcome: str | None
    detail: str | None
    environment: Environment | None = None
    transient: bool = False


Progress = Callable[[str], None]


def run_jobs(
    engine: Engine,
    jobs: Iterable[Job],
    samples: Samples,
    on_verdict: Callable[[Verdict], None],
    report: Progress = lambda step: None,
) -> None:
    """Run jobs and hand over each verdict as soon as it is known, from the thread that found it.

    Environments are built in the order of their first jobs, only a few ahead of those in use. What fails for want of a
    module or fixture that the rules know is run again with the requirement that has it.
    """
    flow = _Flow(engine, samples, on_verdict, report)
    with ThreadPoolExecutor(engine.workers) as builders, ThreadPoolExecutor(engine.workers) as runners:
        try:
            flow.drive(iter(by_environment(jobs).items()), builders, runners)
            while flow.incomplete:
                more, flow.incomplete = flow.incomplete, {}
                flow.before.update({job.key: verdict for job, verdict in more.items()})
                flow.drive(iter(by_environment(more).items()), builders, runners)
        except BaseException:
            builders.shutdown(wait=False, cancel_futures=True)
            runners.shutdown(wait=False, cancel_futures=True)
            raise


class _Flow:
    """One call of `run_jobs`: what is being built, what is being run."""

    def __init__(
        self, engine: Engine, samples: Samples, on_verdict: Callable[[Verdict], None], report: Progress
    ) -> None:
        self.engine = engine
        self.samples = samples
        self.on_verdict = on_verdict
        self.report = report
        self.building: dict[Future[Built], list[Job]] = {}
        self.running: set[Future[None]] = set()
        self.incomplete: dict[Job, Verdict] = {}
        self.before: dict[str, Verdict] = {}

    def drive(
        self,
        groups: Iterator[tuple[EnvironmentRequest, list[Job]]],
        builders: ThreadPoolExecutor,
        runners: ThreadPoolExecutor,
    ) -> None:
        """Keep builders and runners busy until every group is done."""
        pending = True
        while pending or self.building or self.running:
            while pending and len(self.building) + len(self.running) < _AHEAD * self.engine.workers:
                group = next(groups, None)
                pending = group is not None
                if group is not None:
                    self.building[builders.submit(self._build, group[0])] = group[1]
            under_way: list[Future[Any]] = [*self.building, *self.running]
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done & self.running:
                self.running.remove(future)
                future.result()
            for future in done & self.building.keys():
                self._start(future, runners)

    def _start(self, future: Future[Built], runners: ThreadPoolExecutor) -> None:
        """Run what waited for an environment, or say that there is none."""
        jobs, built = self.building.pop(future), future.result()
        if built.environment is None:
            for job in jobs:
                self.on_verdict(self._without_environment(job, built))
            return
        for chunk in chunks(jobs, self.engine.workers, self.engine.rules.fork_from):
            self.running.add(runners.submit(self._run, chunk, built, built.environment))

    def _build(self, request: EnvironmentRequest) -> Built:
        self.report(f"environment of {request.library} {request.version}")
        row: EnvironmentRow | None = None
        outcome: str | None = None
        try:
            row = self.engine.store.build(request)
            outcome = row["outcome"]
            if outcome != EnvironmentOutcome.BUILT:
                return Built(row, outcome, row["detail"], transient=outcome in _TRANSIENT)
            return Built(row, outcome, row["detail"], self.engine.store.open(row))
        except StepFailed as error:
            return Built(row, error.outcome, error.detail)
        except (IndexUnreachable, OSError, ValueError) as error:
            return Built(row, outcome, str(error), transient=not isinstance(error, ValueError))
        except Exception as error:  # noqa: BLE001 - told in the verdict of each sample that it kept from running
            return Built(row, outcome, f"{type(error).__name__}: {error}", transient=True)

    def _without_environment(self, job: Job, built: Built) -> Verdict:
        """Return the verdict of a job that cannot be run; one that lacked something keeps that it had before."""
        outcome, detail = built.outcome, built.detail
        reason = f"{outcome}: {detail}" if outcome and detail else str(outcome or detail)
        if missing := built.row and built.row["missing"]:
            reason += f"\n{self.engine.missing.lacks(missing)}"
        if before := self.before.get(job.key):
            why = f"{before.detail}\n{job.added[-1]} has it, and cannot be added: {reason}"
            return replace(before, detail=why, transient=built.transient)
        return _head(job, Outcome.NO_ENVIRONMENT, built, reason, transient=built.transient)

    def _run(self, jobs: Sequence[Job], built: Built, environment: Environment) -> None:
        """Run some jobs of one environment; what goes wrong with the running itself is a verdict of each too."""
        self.report(f"{jobs[0].request.library} {jobs[0].request.version}: {len(jobs)} samples")
        waiting = {str(index): job for index, job in enumerate(jobs)}
        apart: dict[str, bool | None] = {}

        def hear(result: Result) -> None:
            job, missing = waiting[result.id], self.engine.missing
            present = [job.request.library, *job.request.pins, *job.request.undeclared, *job.request.tools]
            lacks = missing.requirement(result.detail or "", present) if result.outcome in _MAY_LACK else None
            verdict = _verdict(job, built, result, missing.explain(f"{result.detail}\n{result.output}"))
            verdict = replace(verdict, apart=apart[result.id])
            if lacks:
                self.incomplete[job.adding(lacks)] = verdict
            else:
                self.on_verdict(verdict)
            del waiting[result.id]

        try:
            cases = [case for number in list(waiting) if (case := self._read(number, waiting, built, environment))]
            apart |= {case.id: is_apart(case) for case in cases}
            run_cases(environment, cases, self.engine.sandbox, self.engine.rules, 1, hear)
        except Exception as error:  # noqa: BLE001 - told in the verdict of each sample that it kept from running
            detail = f"the run itself failed: {type(error).__name__}: {error}"
            for job in waiting.values():
                self.on_verdict(_head(job, Outcome.HARNESS_ERROR, built, detail, transient=True))

    def _read(self, number: str, waiting: dict[str, Job], built: Built, environment: Environment) -> Case | None:
        """Return the case of a job; one that is not to be run has its verdict, and waits no longer."""
        try:
            case = self._case(number, waiting[number], environment)
        except SampleError as error:
            self.on_verdict(_head(waiting.pop(number), Outcome.HARNESS_ERROR, built, str(error), transient=True))
            return None
        if self.engine.apart and is_apart(case) is not True:
            why = f"line {waiting[number].line}: {_why_beside(case)}"
            self.on_verdict(_head(waiting.pop(number), Outcome.BAD_SAMPLE, built, why))
            return None
        return case

    def _case(self, number: str, job: Job, environment: Environment) -> Case:
        sample, rules = self.samples[job.line], self.engine.rules
        if digest_of(sample) != job.digest:
            raise SampleError("the file of the samples changed during the run; run them again", code="samples_changed")
        return Case(
            id=number,
            preamble="",
            code=sample.code,
            import_names=environment.import_names,
            test=sample.test,
            test_file=sample.test_file,
            module=sample.module,
            apart=self.engine.apart is not False,
            cover=self.engine.cover,
            limits=replace(rules.limits, time_s=sample.timeout_s or rules.sample_time_s),
        )


def is_apart(case: Case) -> bool | None:
    """Say whether all tests of a case are judged apart from its code; None where it has no tests."""
    tests = [(case.test, None), (case.test_file, case.module or MODULE)]
    parted = [case.apart and parted_or_none(text, module) is not None for text, module in tests if text is not None]
    return all(parted) if parted else None


def _why_beside(case: Case) -> str:
    """Return why the tests of a case have to run beside its code."""
    tests = [(case.test, None), (case.test_file, case.module or MODULE)]
    whys = [why for text, module in tests if text is not None and (why := unparted(text, module))]
    return f"cannot be judged apart from the code: {whys[0] if whys else 'it has no tests'}"


def chunks(jobs: Sequence[Job], workers: int, at_least: int = 1) -> Iterator[Sequence[Job]]:
    """Part the jobs of one environment among the workers: at most CHUNK together, not fewer than `at_least`."""
    size = min(CHUNK, max(at_least, -(-len(jobs) // workers)))
    return (jobs[start : start + size] for start in range(0, len(jobs), size))


def _verdict(job: Job, built: Built, result: Result, explained: str | None) -> Verdict:
    is_bad, passed = result.outcome is Outcome.BAD_SAMPLE, result.outcome is Outcome.PASSED
    detail = f"line {job.line}: {result.detail}" if is_bad else result.detail
    verdict = _head(job, result.outcome, built, f"{detail}\n{explained}" if explained and not passed else detail)
    return replace(
        verdict,
        duration_s=round(result.duration_s, 4),
        peak_memory_bytes=result.peak_memory_bytes,
        repeats=result.repeats,
        output=result.output or None,
        coverage=asdict(result.coverage) | {"share": round(result.coverage.share, 4)} if result.coverage else None,
    )


def _head(job: Job, outcome: Outcome, built: Built, detail: str | None, transient: bool = False) -> Verdict:
    """Return a verdict with what is known of job and environment."""
    row = built.row
    return Verdict(
        id=job.id,
        outcome=outcome,
        detail=detail,
        line=job.line,
        key=job.key,
        library=job.request.library,
        version=job.request.version,
        python=(row and row["python"]) or job.request.python,
        lock_id=row and row["lock_id"],
        rung=row and row["rung"],
        moved=row and row["moved"],
        attempts=[
            {name: value for name, value in attempt.items() if name in _ATTEMPT}
            for attempt in (row["attempts"] if row else ())
        ],
        build_s=row and row["build_s"],
        added=job.added,
        transient=transient,
    )
