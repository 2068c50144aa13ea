"""Proof of problems: the reference and the code of the other version, run in pinned environments."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.environments import Environment
from pipeline.lake import Reject, Row, content_id
from pipeline.problems.drafts import Draft
from pipeline.problems.inputs import other_inputs
from pipeline.problems.program import hidden_tests, visible_test
from pipeline.problems.recording import choose, read_recorded, recorder
from pipeline.problems.rules import ProblemRules
from pipeline.problems.stated import Outcome as Made
from pipeline.problems.tasks import CaseOf
from pipeline.terms import Outcome, ProblemRun, RejectReason
from pipeline.validation import Case, Result, Runner, run_cases

_RECORDED_CHARACTERS = 1 << 19


@dataclass(frozen=True, slots=True)
class Place:
    """An environment that problems are run in, with its row."""

    row: Row
    environment: Environment


@dataclass(slots=True)
class Trial:
    """A draft on its way: its tests as they came to be, and the runs that it has had."""

    draft: Draft
    stated: tuple[CaseOf, ...] = ()
    recorded: tuple[CaseOf, ...] = ()
    runs: list[Row] = field(default_factory=list)

    @property
    def version(self) -> str:
        """The version that the problem is for."""
        return str(self.draft.row["version"])

    @property
    def passed(self) -> bool:
        """Whether the reference passed the hidden tests."""
        return any(run["role"] == ProblemRun.HIDDEN and run["outcome"] == Outcome.PASSED for run in self.runs)

    @property
    def module(self) -> str:
        """Under what name the hidden tests import the program."""
        return f"sample_{self.draft.id}"

    @property
    def shown(self) -> CaseOf:
        """What the visible test shows: the first stated case that gives a value."""
        return next(case for case in self.stated if not case.outcome.raises)

    @property
    def visible(self) -> str:
        """The visible test."""
        return visible_test(self.draft.candidate.task, self.draft.written, self.shown)

    @property
    def hidden(self) -> str:
        """The hidden tests."""
        return hidden_tests(self.draft.candidate.task, self.draft.written, self.stated, self.recorded, self.module)


def prove(
    drafts: Sequence[Draft], places: Mapping[str, Place], runner: Runner, rules: ProblemRules
) -> Iterator[Trial | Reject]:
    """Run drafts; those whose reference does what the example states come back with their tests and runs.

    Where the reference fails hidden tests, it has those alone that the example states: what was recorded of it was not
    the same again.

    Rejects: NO_ENVIRONMENT where the version has none, NOT_PROVEN where the reference gives no stated value.
    """
    trials: list[Trial] = []
    for version, group in _by_version(drafts):
        if version not in places:
            yield from (Reject(draft.id, RejectReason.NO_ENVIRONMENT, f"{version}: not built") for draft in group)
            continue
        for result in _record(group, places[version], runner, rules):
            if isinstance(result, Trial):
                trials.append(result)
            else:
                yield result
    _run(trials, places, runner)
    unsure = [trial for trial in trials if trial.recorded and not trial.passed]
    for trial in unsure:
        trial.recorded, trial.runs = (), []
    _run(unsure, places, runner)
    yield from trials


def _record(drafts: Sequence[Draft], place: Place, runner: Runner, rules: ProblemRules) -> Iterator[Trial | Reject]:
    """Let the reference say what it makes of the stated inputs, and of others."""
    inputs = [_inputs(draft, rules) for draft in drafts]
    cases = [
        Case(
            draft.id,
            "",
            draft.written.program,
            import_names=place.row["import_names"],
            test=recorder(draft.candidate.task, draft.written, tried),
        )
        for draft, tried in zip(drafts, inputs, strict=True)
    ]
    talkative = runner.rules.model_copy(update={"output_tail": _RECORDED_CHARACTERS, "repeats": 1})
    results = run_cases(place.environment, cases, runner.sandbox, talkative, runner.workers)
    for draft, tried, result in zip(drafts, inputs, results, strict=True):
        recorded = read_recorded(result.output, tried, rules)
        made = {case.arguments: case.outcome for case in recorded}
        stated = tuple(case for case in draft.stated if case.outcome.raises or _same(made.get(case.arguments), case))
        if any(not case.outcome.raises for case in stated):
            yield Trial(draft, stated, tuple(choose(recorded, draft.stated, rules.max_recorded)))
        else:
            said = result.detail or "the reference gives none of the stated values where it is called alone"
            yield Reject(draft.id, RejectReason.NOT_PROVEN, f"{draft.row['version']}: {result.outcome}: {said}")


def _inputs(draft: Draft, rules: ProblemRules) -> list[tuple[str, ...]]:
    stated = [case.arguments for case in draft.stated]
    made = [others for arguments in stated for others in other_inputs(arguments, rules.changes)]
    return [*stated, *list(dict.fromkeys(made))[: rules.max_tried]]


def _same(made: Made | None, case: CaseOf) -> bool:
    """Say whether a recorded outcome is the stated one: equal values, or the same representation but for blanks."""
    if made is None:
        return False
    if case.outcome.value is not None and made.value is not None:
        return bool(ast.literal_eval(case.outcome.value) == ast.literal_eval(made.value))
    stated = case.outcome.shown or case.outcome.value or ""
    return (made.shown or made.value or "").split() == stated.split()


@dataclass(frozen=True, slots=True)
class _Asked:
    """One run of a trial; `code` is what runs in place of the solution, None where it is the solution."""

    trial: Trial
    role: ProblemRun
    code: str | None = None

    def case(self, place: Place) -> Case:
        written, names = self.trial.draft.written, place.row["import_names"]
        program = written.program if self.code is None else written.starting_code + self.code
        key = f"{self.trial.draft.id} {self.role}"
        if self.role is ProblemRun.VISIBLE:
            return Case(key, "", program, import_names=names, test=self.trial.visible)
        module, cover = self.trial.module, self.role is ProblemRun.HIDDEN
        return Case(key, "", program, import_names=names, test_file=self.trial.hidden, module=module, cover=cover)


def _run(trials: Iterable[Trial], places: Mapping[str, Place], runner: Runner) -> None:
    """Run all that trials ask for, once through each environment."""
    by_version: dict[str, list[_Asked]] = defaultdict(list)
    for trial in trials:
        for version, asked in _asked(trial):
            by_version[version].append(asked)
    for version, group in sorted(by_version.items()):
        if version not in places:
            continue
        place = places[version]
        cases = [asked.case(place) for asked in group]
        results = run_cases(place.environment, cases, runner.sandbox, runner.rules, runner.workers)
        for asked, result in zip(group, results, strict=True):
            asked.trial.runs.append(_row(asked, place, result))


def _asked(trial: Trial) -> Iterator[tuple[str, _Asked]]:
    """Yield the runs of a trial with their versions: the reference here and there, and the other version's code."""
    other, solution = trial.draft.candidate.other, trial.draft.other_solution
    elsewhere = trial.draft.row["other_version"]
    yield trial.version, _Asked(trial, ProblemRun.VISIBLE)
    yield trial.version, _Asked(trial, ProblemRun.HIDDEN)
    if elsewhere is not None:
        yield elsewhere, _Asked(trial, ProblemRun.REFERENCE_ELSEWHERE)
    if elsewhere is not None and other is not None and solution is not None:
        yield trial.version, _Asked(trial, other.role, solution)
        yield elsewhere, _Asked(trial, ProblemRun.OTHER_THERE, solution)


def _row(asked: _Asked, place: Place, result: Result) -> Row:
    key, covered = asked.trial.draft.id, result.coverage
    return {
        "id": content_id(key, asked.role, place.row["version"], place.row["lock_id"]),
        "problem_id": key,
        "library": place.row["library"],
        "version": place.row["version"],
        "role": asked.role,
        "code": asked.code,
        "outcome": result.outcome,
        "python": place.row["python"],
        "lock_id": place.row["lock_id"],
        "detail": result.detail,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
        "duration_s": round(result.duration_s, 4),
    }


def _by_version(drafts: Iterable[Draft]) -> list[tuple[str, list[Draft]]]:
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.row["version"]].append(draft)
    return sorted(groups.items())
