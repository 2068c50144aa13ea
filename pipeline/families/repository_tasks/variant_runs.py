"""Runs of a project's tests with one server after the other, and how each came out; verifiers have this much of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation import harness
from pipeline.execution.validation.judging import judge
from pipeline.execution.validation.server import Server
from pipeline.families.repository_tasks.copies import hidden_copies
from pipeline.families.repository_tasks.project import ARCHIVE, Project, Variant, specification
from pipeline.families.repository_tasks.report import BadReport, RunReport, TestTrace, read_report

_DETAIL = 500
_PROGRAMS = "pipeline.families.repository_tasks.inside"
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

    @property
    def verdict(self) -> Outcome:
        """The outcome of the run as that of one case; a run with failing tests came to its end."""
        if self.outcome is not Outcome.PASSED or self.worst is TestOutcome.PASSED:
            return self.outcome
        return Outcome.TIMED_OUT if self.worst is TestOutcome.TIMED_OUT else Outcome.FAILED_ASSERTION


def worst(outcomes: Iterable[TestOutcome]) -> TestOutcome:
    """Return the worst of some outcomes; NOT_RUN where there is none."""
    return max(outcomes, key=_WORST.index, default=TestOutcome.NOT_RUN)


def run_share(project: Project, variants: Sequence[Variant], repeat: int) -> list[TestRun]:
    """Run variants one after the other, with one server for as many as it is good for.

    A server has the tree without the files that its variants replace, so that what they hold is nowhere to be read.
    """
    runs: list[TestRun] = []
    server: Server | None = None
    masked: tuple[str, ...] = ()
    try:
        for variant in sorted(variants, key=_replaced):
            spec = specification(project, variant, repeat)
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
    modules = {path.name: path for path in files(_PROGRAMS).iterdir() if path.name.endswith(".py")}
    names = sorted(modules.keys() - {"__init__.py"})
    return {name.removesuffix(".py"): modules[name].read_text("utf-8") for name in names}


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
    details = [*report.broken, *(f"{test}: {report.messages[test]}" for test in outcomes if test in report.messages)]
    detail = "; ".join(details)[:_DETAIL] or None
    return TestRun(variant.id, Outcome.PASSED, detail, outcomes, report.collected, report.trace, duration_s)


def _broken(variant: Variant, outcome: Outcome, detail: str, duration_s: float = 0.0) -> TestRun:
    """Return a run that did not come to its end: none of its tests is known to have run."""
    outcomes = dict.fromkeys(
        variant.tests, TestOutcome.TIMED_OUT if outcome is Outcome.TIMED_OUT else TestOutcome.NOT_RUN
    )
    return TestRun(variant.id, outcome, detail, outcomes, 0, None, duration_s)
