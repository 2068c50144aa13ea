"""Proof of problems that an example states: what of it holds, and what more the reference says of other inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from more_itertools import first

from pipeline.lake import Reject, Row, guarded, parted
from pipeline.problems.drafts import Draft
from pipeline.problems.inputs import other_inputs
from pipeline.problems.program import hidden_tests, visible_test
from pipeline.problems.recording import Tried, choose, gives, read_recorded, record
from pipeline.problems.rules import ProblemRules
from pipeline.problems.running import OtherCode, Place, Tested, run_tested
from pipeline.problems.tasks import CaseOf
from pipeline.terms import Outcome, ProblemRun, RejectReason
from pipeline.validation import Result, Runner


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
        return first(case for case in self.stated if not case.outcome.raises)

    @property
    def visible(self) -> str:
        """The visible test."""
        return visible_test(self.draft.candidate.task, self.draft.written, self.shown)

    @property
    def hidden(self) -> str:
        """The hidden tests."""
        return hidden_tests(self.draft.candidate.task, self.draft.written, self.stated, self.recorded, self.module)

    @property
    def tested(self) -> Tested:
        """The problem with the tests that it has by now."""
        draft, other = self.draft, self.draft.candidate.other
        code = draft.other_solution
        return Tested(
            id=draft.id,
            version=self.version,
            other_version=draft.row["other_version"],
            starting_code=draft.written.starting_code,
            solution=draft.written.solution,
            visible=self.visible,
            hidden=self.hidden,
            module=self.module,
            other=OtherCode(other.role, code) if other is not None and code is not None else None,
        )


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
    failed = _run(trials, places, runner)
    unsure = [trial for trial in trials if trial.recorded and not trial.passed]
    for trial in unsure:
        trial.recorded = ()
    failed |= _run(unsure, places, runner)
    yield from (failed.get(trial.draft.id, trial) for trial in trials)


def _record(drafts: Sequence[Draft], place: Place, runner: Runner, rules: ProblemRules) -> Iterator[Trial | Reject]:
    """Let the reference say what it makes of the stated inputs, and of others."""
    asked, failed = parted(guarded(drafts, lambda draft: draft.id, lambda draft: [(draft, _inputs(draft, rules))]))
    yield from failed
    wanted = [Tried(draft.id, draft.candidate.task, draft.written, tried) for draft, tried in asked]
    results = record(wanted, place, runner)

    def judged(one: tuple[Draft, list[tuple[str, ...]], Result]) -> Iterator[Trial | Reject]:
        draft, tried, result = one
        recorded = read_recorded(result.output, tried, rules)
        made = {case.arguments: case.outcome for case in recorded}
        stated = tuple(case for case in draft.stated if case.outcome.raises or gives(made.get(case.arguments), case))
        if any(not case.outcome.raises for case in stated):
            yield Trial(draft, stated, tuple(choose(recorded, draft.stated, rules.max_recorded)))
        else:
            said = result.detail or "the reference gives none of the stated values where it is called alone"
            yield Reject(draft.id, RejectReason.NOT_PROVEN, f"{draft.row['version']}: {result.outcome}: {said}")

    answered = [(draft, tried, result) for (draft, tried), result in zip(asked, results, strict=True)]
    yield from guarded(answered, lambda one: one[0].id, judged)


def _inputs(draft: Draft, rules: ProblemRules) -> list[tuple[str, ...]]:
    stated = [case.arguments for case in draft.stated]
    made = [others for arguments in stated for others in other_inputs(arguments, rules.changes)]
    return [*stated, *list(dict.fromkeys(made))[: rules.max_tried]]


def _run(trials: Sequence[Trial], places: Mapping[str, Place], runner: Runner) -> dict[str, Reject]:
    """Run trials; return those that cannot be written as tests, by their ids."""
    tested, failed = parted(guarded(trials, lambda trial: trial.draft.id, lambda trial: [trial.tested]))
    runs = run_tested(tested, places, runner)
    for trial in trials:
        trial.runs = runs[trial.draft.id]
    return {reject.key: reject for reject in failed}


def _by_version(drafts: Iterable[Draft]) -> list[tuple[str, list[Draft]]]:
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.row["version"]].append(draft)
    return sorted(groups.items())
