"""Run tests of a project in the sandbox, on its own tree or with some of its files replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from pipeline.core.rules.fingerprint import plain
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation import harness
from pipeline.execution.validation.judging import judge
from pipeline.execution.validation.run_cache import remembered, run_key, sources_sha256
from pipeline.execution.validation.server import Server
from pipeline.families.repository_tasks.copies import hidden_copies
from pipeline.families.repository_tasks.project import ARCHIVE, Project, Variant, specification
from pipeline.families.repository_tasks.report import BadReport, RunReport, TestTrace, read_report
from pipeline.lake.ids import sha256_json

_DETAIL = 500
_INSIDE = Path(__file__).with_name("inside")
_WORST = (
    TestOutcome.PASSED,
    TestOutcome.SKIPPED,
    TestOutcome.FAILED,
    TestOutcome.ERROR,
    TestOutcome.TIMED_OUT,
    TestOutcome.NOT_RUN,
)
"""Outcomes of tests from the best to the worst."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """How the tests of a variant came out, by node id, in the order in which they ran.

    `outcome` is how the run as a whole ended: PASSED where pytest came to its end, whatever the tests said; `detail`
    says what was in the way. `collected` counts the tests that were found before any were picked. `trace` is what they
    executed, as the program inside reports it.
    """

    __test__ = False  # for pytest

    id: str
    outcome: Outcome
    detail: str | None
    outcomes: Mapping[str, TestOutcome]
    collected: int
    trace: Mapping[str, TestTrace] | None
    duration_s: float

    @property
    def judged(self) -> Mapping[str, TestOutcome]:
        """How tests came out; one that was not there, in a run that came to its end, is an ERROR: it did not import."""
        lost = TestOutcome.ERROR if self.outcome is Outcome.PASSED else TestOutcome.NOT_RUN
        return {test: lost if outcome is TestOutcome.NOT_RUN else outcome for test, outcome in self.outcomes.items()}

    @property
    def worst(self) -> TestOutcome:
        """The worst outcome of its tests, which is that of the variant: PASSED means that all passed."""
        return worst(self.outcomes.values())


def worst(outcomes: Iterable[TestOutcome]) -> TestOutcome:
    """Return the worst of some outcomes; NOT_RUN where there is none."""
    return max(outcomes, key=_WORST.index, default=TestOutcome.NOT_RUN)


def run_tests(
    project: Project, tests: Sequence[str], replacements: Mapping[str, str] | None = None, repeat: int = 0
) -> dict[str, TestOutcome]:
    """Run tests of a project with some files replaced, in a sandbox of their own, and say how each came out.

    A test that is not there, or that the run did not come to, is NOT_RUN. `repeat` seeds Python's hashes.

    Errors: ValueError where a replaced file is not in the tree, or no test is named.
    """
    if not tests:
        raise ValueError(f"no tests of {project.tree.root} to run: name them by their pytest node ids")
    return dict(run_variants(project, [Variant("", tests, replacements or {})], repeat=repeat)[0].outcomes)


def run_variants(project: Project, variants: Sequence[Variant], workers: int = 1, repeat: int = 0) -> list[TestRun]:
    """Run the tests of many variants of a project, `workers` at a time; results in the order of the variants.

    Each has a tree and a process of its own, forked from one that has imported pytest where the sandbox has a user for
    the cases; after one that breaks that process the next has another sandbox. Only what the program under test
    itself cannot write is believed (see `validation.inside.guard`). What the project's memory has of the same
    variant is not run.
    """

    def run(places: list[int]) -> list[TestRun]:
        return _run_variants(project, [variants[place] for place in places], workers, repeat)

    if project.memory is None:
        return run(list(range(len(variants))))
    basis = _basis(project, repeat)
    keys = [sha256_json([basis, specification(project, one) | {"site_packages": None}]) for one in variants]
    runs = remembered(project.memory, keys, TestRun, run)
    return [replace(done, id=variant.id) for done, variant in zip(runs, variants, strict=True)]


def _basis(project: Project, repeat: int) -> str:
    """Return the hash of all that decides how tests come out beside what is asked of a variant."""
    where = run_key(project.environment), project.sandbox.kind, sha256(project.tree.archive).hexdigest()
    return sha256_json(["project", _programs(), *where, repeat, plain(project.rules)])


@cache
def _programs() -> list[str]:
    return [sources_sha256(_INSIDE), sources_sha256(Path(harness.__file__).parent / "inside")]


def _run_variants(project: Project, variants: Sequence[Variant], workers: int, repeat: int) -> list[TestRun]:
    shares = [variants[start::workers] for start in range(max(1, min(workers, len(variants))))]
    with ThreadPoolExecutor(len(shares)) as pool:
        done = {
            run.id: run for share in pool.map(lambda share: _run_share(project, share, repeat), shares) for run in share
        }
    return [done[variant.id] for variant in variants]


def _run_share(project: Project, variants: Sequence[Variant], repeat: int) -> list[TestRun]:
    """Run variants one after the other, with one server for as many as it is good for.

    A server has the tree without the files that its variants replace, so that what they hold is nowhere to be read.
    """
    runs: list[TestRun] = []
    server: Server | None = None
    masked: tuple[str, ...] = ()
    try:
        for variant in sorted(variants, key=_replaced):
            spec = specification(project, variant)
            if server is not None and masked != _replaced(variant):
                server.end()
                server = None
            masked = _replaced(variant)
            server, run = _run(project, variant, spec, server, repeat)
            runs.append(run)
    finally:
        if server is not None:
            server.end()
    return runs


def _replaced(variant: Variant) -> tuple[str, ...]:
    return tuple(sorted(variant.replacements))


def _run(
    project: Project, variant: Variant, spec: Mapping[str, Any], server: Server | None, repeat: int
) -> tuple[Server | None, TestRun]:
    """Run one variant; return the server if it is good for another.

    A harness that was ready, and then is gone, was ended by the case, unless what an earlier one did is the reason.
    """
    limits, is_used = project.rules.limits, server is not None
    try:
        server = server or _start(project, _replaced(variant), repeat)
    except (harness.NoAnswer, OSError) as error:
        return None, _broken(variant, Outcome.HARNESS_ERROR, str(error))
    try:
        reply = server.run(spec, limits)
    except (harness.NoAnswer, OSError) as error:
        server.end()
        if is_used:
            return _run(project, variant, spec, None, repeat)
        outcome = Outcome.SANDBOX_VIOLATION if variant.replacements else Outcome.HARNESS_ERROR
        return None, _broken(variant, outcome, f"it ended the harness: {error}")
    if not (reply.clean and project.sandbox.two_users):
        server.end()
        server = None
    attempt = judge(reply)
    if attempt.outcome is not Outcome.PASSED:
        return server, _broken(variant, attempt.outcome, attempt.message, attempt.duration_s)
    try:
        report = read_report(attempt.message, spec["files"], len(spec["sources"]), len(variant.tests) or spec["quota"])
    except BadReport as error:
        # code that stands in the place of the project's own has written it: that is its fault, and no open question
        outcome = Outcome.SANDBOX_VIOLATION if variant.replacements else Outcome.HARNESS_ERROR
        return server, _broken(variant, outcome, str(error), attempt.duration_s)
    return server, _test_run(variant, report, attempt.duration_s)


def _start(project: Project, masked: Sequence[str], repeat: int) -> Server:
    """Start a server that has imported pytest, and nothing of the project; `masked` files are not in its tree.

    Errors: NoAnswer.
    """
    limits = project.rules.limits
    files = {ARCHIVE: project.tree.archive_without(masked)}
    variables = {"PYTHONHASHSEED": str(repeat)}
    contents = {path: project.tree.files[path] for path in masked}
    hide = tuple(hidden_copies(project.environment, contents, project.packages))
    server = Server(project.environment, project.sandbox, limits, variables, files, hide)
    try:
        ready = server.start(
            harness.opening((), ["pytest", harness.module("tests")], last=not project.sandbox.two_users, own=_sources())
        )
        if ready.problem:
            raise harness.NoAnswer(ready.problem)
    except BaseException:
        server.end()
        raise
    return server


@cache
def _sources() -> dict[str, str]:
    """Return the sources of the program that runs inside."""
    return {path.stem: path.read_text() for path in sorted(_INSIDE.glob("*.py")) if path.stem != "__init__"}


def _test_run(variant: Variant, report: RunReport, duration_s: float) -> TestRun:
    if report.problem is not None:
        is_theirs = report.begun and variant.replacements
        return _broken(
            variant, Outcome.WRONG_EXCEPTION if is_theirs else Outcome.HARNESS_ERROR, report.problem, duration_s
        )
    ran = {test: report.outcomes.get(test, TestOutcome.NOT_RUN) for test in report.chosen}
    outcomes_by_test = dict.fromkeys(variant.tests, TestOutcome.NOT_RUN)
    outcomes = outcomes_by_test | {
        test: outcome for test, outcome in ran.items() if not outcomes_by_test or test in outcomes_by_test
    }
    details = [*report.broken, *(f"{test}: {report.said[test]}" for test in outcomes if test in report.said)]
    detail = "; ".join(details)[:_DETAIL] or None
    return TestRun(variant.id, Outcome.PASSED, detail, outcomes, report.collected, report.trace, duration_s)


def _broken(variant: Variant, outcome: Outcome, detail: str, duration_s: float = 0.0) -> TestRun:
    """Return a run that did not come to its end: none of its tests is known to have run."""
    outcomes = dict.fromkeys(
        variant.tests, TestOutcome.TIMED_OUT if outcome is Outcome.TIMED_OUT else TestOutcome.NOT_RUN
    )
    return TestRun(variant.id, outcome, detail, outcomes, 0, None, duration_s)
