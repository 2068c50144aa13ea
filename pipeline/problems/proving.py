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
    for version, tried in _trials_by(trials, "version"):
        _run_reference(tried, places[version], runner)
        _run_others(tried, places[version], runner)
    for version, tried in _trials_by(trials, "other_version"):
        if version in places:
            _run_elsewhere(tried, places[version], runner)
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


def _run_reference(trials: Sequence[Trial], place: Place, runner: Runner) -> None:
    """Run the reference with its visible test and its hidden tests; with the stated ones alone where others fail."""
    visible = [_script(trial, place) for trial in trials]
    for trial, result in zip(trials, _run(visible, place, runner), strict=True):
        trial.runs.append(_row(trial, ProblemRun.VISIBLE, place, result))
    hidden = _run([_module(trial, trial.draft.written.program, place) for trial in trials], place, runner)
    unsure = [n for n, result in enumerate(hidden) if result.outcome is not Outcome.PASSED and trials[n].recorded]
    for number in unsure:
        trials[number].recorded = ()
    again = _run([_module(trials[n], trials[n].draft.written.program, place) for n in unsure], place, runner)
    for number, result in zip(unsure, again, strict=True):
        hidden[number] = result
    for trial, result in zip(trials, hidden, strict=True):
        trial.runs.append(_row(trial, ProblemRun.HIDDEN, place, result))


def _run_others(trials: Sequence[Trial], place: Place, runner: Runner) -> None:
    """Run in this version what is right for the other one."""
    found = _with_others(trials)
    cases = [_module(trial, trial.draft.written.starting_code + solution, place) for trial, _, solution in found]
    for (trial, role, solution), result in zip(found, _run(cases, place, runner), strict=True):
        trial.runs.append(_row(trial, role, place, result, solution))


def _run_elsewhere(trials: Sequence[Trial], place: Place, runner: Runner) -> None:
    """Run in the other version the reference, and what is taken to be right there."""
    cases = [_module(trial, trial.draft.written.program, place) for trial in trials]
    found = _with_others(trials)
    cases += [_module(trial, trial.draft.written.starting_code + solution, place) for trial, _, solution in found]
    results = iter(_run(cases, place, runner))
    for trial in trials:
        trial.runs.append(_row(trial, ProblemRun.REFERENCE_ELSEWHERE, place, next(results)))
    for trial, _, solution in found:
        trial.runs.append(_row(trial, ProblemRun.OTHER_THERE, place, next(results), solution))


def _with_others(trials: Sequence[Trial]) -> list[tuple[Trial, ProblemRun, str]]:
    """Return the trials that have code for the other version, with the role of its run and the code."""
    found = []
    for trial in trials:
        other, solution = trial.draft.candidate.other, trial.draft.other_solution
        if other is not None and solution is not None:
            found.append((trial, other.role, solution))
    return found


def _script(trial: Trial, place: Place) -> Case:
    names = place.row["import_names"]
    return Case(trial.draft.id, "", trial.draft.written.program, import_names=names, test=trial.visible)


def _module(trial: Trial, program: str, place: Place) -> Case:
    return Case(
        trial.draft.id,
        "",
        program,
        import_names=place.row["import_names"],
        test_file=trial.hidden,
        module=trial.module,
        cover=True,
    )


def _run(cases: Sequence[Case], place: Place, runner: Runner) -> list[Result]:
    return run_cases(place.environment, cases, runner.sandbox, runner.rules, runner.workers) if cases else []


def _row(trial: Trial, role: ProblemRun, place: Place, result: Result, code: str | None = None) -> Row:
    covered = result.coverage if role is ProblemRun.HIDDEN else None
    return {
        "id": content_id(trial.draft.id, role, place.row["version"], place.row["lock_id"]),
        "problem_id": trial.draft.id,
        "library": place.row["library"],
        "version": place.row["version"],
        "role": role,
        "code": code,
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


def _trials_by(trials: Iterable[Trial], column: str) -> list[tuple[str, list[Trial]]]:
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.draft.row[column]:
            groups[trial.draft.row[column]].append(trial)
    return sorted(groups.items())
