"""Proof of problems that an example states: what of it holds, and what more the reference says of other inputs.

Hidden tests are chosen so that every parameter is varied and changed references fail; the visible test is none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.apis.siblings import SiblingProgram, Siblings, find_siblings
from pipeline.families.problems.drafts import Draft
from pipeline.families.problems.inputs import further_inputs, paired_inputs
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import hidden_tests, visible_test
from pipeline.families.problems.recording import Mutated, Tried, choose, gives, kills_of, read_recorded, record
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.running import OpenEnvironment, Tested, run_tested
from pipeline.families.problems.selecting import (
    Arguments,
    constant_parameters,
    put_together,
    score_of,
    select_cases,
    unused,
)
from pipeline.families.problems.tasks import CaseOf
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.rows import ProblemRunRow
from pipeline.lake.stage import Reject


@dataclass(slots=True)
class Trial:
    """A draft on its way: its tests as they came to be, and the runs that it has had.

    `visible_case` is that of the visible test; `documented` and `recorded` are those of the hidden ones. `cases` are
    all inputs for which the reference was run; `killing` has for each mutant those for which it gives something else.
    `siblings` are the paths of APIs that are right in the place of the one that has to be called.
    """

    draft: Draft
    roots: frozenset[str]
    visible_case: CaseOf
    documented: tuple[CaseOf, ...]
    cases: tuple[CaseOf, ...]
    recorded: tuple[CaseOf, ...] = ()
    killing: Sequence[frozenset[Arguments]] = ()
    siblings: tuple[str, ...] = ()
    runs: list[ProblemRunRow] = field(default_factory=list)

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
    def hideable(self) -> tuple[CaseOf, ...]:
        """The cases that a hidden test may have: all but that of the visible one."""
        return tuple(case for case in self.cases if case != self.visible_case)

    @property
    def visible(self) -> str:
        """The visible test."""
        return visible_test(self.draft.candidate.task, self.draft.written, self.visible_case)

    @property
    def hidden(self) -> str:
        """The hidden tests."""
        return self._hidden(self.required)

    @property
    def hidden_values(self) -> str:
        """The hidden tests as they are where any API of the library will do."""
        return self._hidden(())

    def _hidden(self, required: Sequence[str]) -> str:
        task, written = self.draft.candidate.task, self.draft.written
        cases = self.documented, self.recorded
        new_parameter = self.draft.candidate.new_parameter
        return hidden_tests(task, written, *cases, self.module, self.roots, required, new_parameter)

    @property
    def required(self) -> tuple[str, ...]:
        """The paths of the APIs of which the hidden tests want one called."""
        required = self.draft.candidate.required
        return (required, *self.siblings) if required is not None else ()

    @property
    def sibling_program(self) -> SiblingProgram:
        """The program in which siblings of its API are to be tried."""
        candidate = self.draft.candidate
        return SiblingProgram(
            *(self.draft.id, self.version, self.draft.row["other_version"], candidate.path),
            *(self.draft.written.program, self.visible_case.outcome.value),
            *(self.visible, self.hidden_values, self.module),
        )

    def score(self, rules: MutationRules) -> MutationScore:
        """Return which mutants the hidden tests kill."""
        inputs = [case.arguments for case in self.cases]
        return score_of([*self.documented, *self.recorded], inputs, self.killing, rules.min_further_inputs)

    @property
    def tested(self) -> Tested:
        """The problem with the tests that it has by now."""
        draft = self.draft
        return Tested(
            id=draft.id,
            version=self.version,
            other_version=draft.row["other_version"],
            starting_code=draft.written.starting_code,
            solution=draft.written.solution,
            visible=self.visible,
            hidden=self.hidden,
            any_api=self.hidden_values,
            module=self.module,
            other=draft.other,
        )


def prove(
    drafts: Sequence[Draft],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
    rules: ProblemRules,
    mutation: MutationRules,
) -> Iterator[Trial | Reject]:
    """Run drafts; those whose reference does what the example states come back with their tests and runs.

    Where the reference fails hidden tests, those are left out of what was recorded that do not come out the same again.

    Rejects: NO_ENVIRONMENT where the version has none, NOT_PROVEN where the reference gives no stated value,
    INPUT_UNUSED where a function that ignores a parameter would pass the hidden tests, whichever inputs are chosen,
    NO_CHECK where one of a witness that only puts its parameters together would, SEVERAL_ANSWERS as in `try_siblings`.
    """
    trials: list[Trial] = []
    for version, group in _by_version(drafts):
        if version not in places:
            yield from (Reject(draft.id, RejectReason.NO_ENVIRONMENT, f"{version}: not built") for draft in group)
            continue
        recorded, refused = parted(_record(group, places[version], runner, rules))
        yield from refused
        paired, broken = parted(_record_pairs(recorded, places[version], runner, rules))
        varied, unfit = parted(_select(paired, places[version], runner, rules, mutation))
        able, ambiguous = parted(try_siblings(varied, library, places, runner, mutation))
        yield from (*broken, *unfit, *ambiguous)
        trials += able
    failed = _run(trials, places, runner)
    unsure = [trial for trial in trials if trial.recorded and not trial.passed and trial.draft.id not in failed]
    for trial in unsure:
        repeatable = attempt(_id(trial), _repeatable, trial, places[trial.version], runner)
        if isinstance(repeatable, Reject):
            failed[_id(trial)] = repeatable
        else:
            trial.recorded = repeatable
    again = [trial for trial in unsure if _id(trial) not in failed]
    failed |= _run(again, places, runner)
    for trial in again:
        if detail := _unused(trial, [*trial.documented, *trial.recorded]):
            failed.setdefault(_id(trial), Reject(_id(trial), RejectReason.INPUT_UNUSED, detail))
    yield from (failed.get(trial.draft.id, trial) for trial in trials)


def _record(
    drafts: Sequence[Draft], place: OpenEnvironment, runner: Runner, rules: ProblemRules
) -> Iterator[Trial | Reject]:
    """Let the reference say what it makes of the stated inputs, and of others."""
    inputs, failed = parted(guarded(drafts, lambda draft: draft.id, lambda draft: [(draft, _inputs(draft, rules))]))
    yield from failed
    requests = [Tried(draft.id, draft.candidate.task, draft.written, tried) for draft, tried in inputs]
    results = record(requests, place, runner)

    def judged(one: tuple[Draft, list[Arguments], Result]) -> Iterator[Trial | Reject]:
        draft, tried, result = one
        recorded = read_recorded(result.output, tried, rules)
        outcomes = {case.arguments: case.outcome for case in recorded}
        documented = [
            case for case in draft.documented if case.outcome.raises or gives(outcomes.get(case.arguments), case)
        ]
        example = next((case for case in documented if not case.outcome.raises), None)
        if example is not None:
            covered = {case.arguments for case in draft.documented}
            cases = [*documented, *(case for case in recorded if case.arguments not in covered)]
            yield Trial(
                draft, place.roots, example, tuple(case for case in documented if case != example), tuple(cases)
            )
        else:
            detail = result.detail or "the reference gives none of the stated values where it is called alone"
            yield Reject(draft.id, RejectReason.NOT_PROVEN, f"{draft.row['version']}: {result.outcome}: {detail}")

    answered = [(draft, tried, result) for (draft, tried), result in zip(inputs, results, strict=True)]
    yield from guarded(answered, lambda answer: answer[0].id, judged)


def _record_pairs(
    trials: Sequence[Trial], place: OpenEnvironment, runner: Runner, rules: ProblemRules
) -> Iterator[Trial | Reject]:
    """Let the references of trials with a parameter that no hidden pair varies answer inputs that differ twice."""
    requests, failed = parted(guarded(trials, _id, lambda trial: [(trial, _paired(trial, rules))]))
    yield from failed
    yield from (trial for trial, tried in requests if not tried.inputs)
    requests = [(trial, tried) for trial, tried in requests if tried.inputs]
    results = record([tried for _, tried in requests], place, runner)

    def extended(answer: tuple[Trial, Tried, Result]) -> Iterator[Trial]:
        trial, tried, result = answer
        recorded = {case.arguments for case in trial.cases}
        cases = read_recorded(result.output, tried.inputs, rules)
        trial.cases += tuple(case for case in cases if case.arguments not in recorded)
        yield trial

    answered = [(*request, result) for request, result in zip(requests, results, strict=True)]
    yield from guarded(answered, lambda answer: _id(answer[0]), extended)


def _id(trial: Trial) -> str:
    return trial.draft.id


def _paired(trial: Trial, rules: ProblemRules) -> Tried:
    draft, names = trial.draft, trial.draft.written.parameters
    constant = [names.index(name) for name in constant_parameters(trial.hideable, names)]
    documented = [case.arguments for case in draft.documented]
    inputs = paired_inputs(documented, constant, rules.changes, rules.max_tried)
    return Tried(draft.id, draft.candidate.task, draft.written, inputs)


def _inputs(draft: Draft, rules: ProblemRules) -> list[Arguments]:
    documented = [case.arguments for case in draft.documented]
    return [*documented, *further_inputs(documented, rules.changes, rules.max_tried)]


def _select(
    trials: Sequence[Trial], place: OpenEnvironment, runner: Runner, rules: ProblemRules, mutation: MutationRules
) -> Iterator[Trial | Reject]:
    """Choose the hidden tests of trials by what they notice of the reference's mutants."""
    able, unfit = parted(guarded(trials, _id, lambda trial: [_unfit(trial) or trial]))
    yield from unfit
    mutated = [Mutated(trial.draft.id, trial.draft.candidate.task, trial.draft.written, trial.cases) for trial in able]
    kills = kills_of(mutated, Family.PROBLEM, place, runner, mutation)

    def chosen(killed: tuple[Trial, Sequence[frozenset[Arguments]] | Reject]) -> Iterator[Trial | Reject]:
        trial, killing = killed
        if isinstance(killing, Reject):
            yield killing
            return
        others = choose(trial.hideable, [*trial.documented, trial.visible_case], len(trial.cases))
        trial.killing = killing
        trial.recorded = tuple(select_cases(trial.documented, others, killing, rules.max_recorded))
        yield trial

    yield from guarded(zip(able, kills, strict=True), lambda killed: _id(killed[0]), chosen)


def _unfit(trial: Trial) -> Reject | None:
    """Return why no inputs make hidden tests of a trial that only its task passes."""
    if unused := _unused(trial, trial.hideable):
        return Reject(trial.draft.id, RejectReason.INPUT_UNUSED, unused)
    is_witness = trial.draft.candidate.example.witnessed is not None
    body = put_together(trial.cases, trial.draft.written.parameters) if is_witness else None
    if body is None:
        return None
    return Reject(trial.draft.id, RejectReason.NO_CHECK, f"{trial.version}: for all inputs tried it gives {body}")


def try_siblings(
    trials: Sequence[Trial],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
    mutation: MutationRules,
) -> Iterator[Trial | Reject]:
    """Run trials of one version that want an API called with its siblings, which a solver may call with equal right.

    A statement that wants an API for being new excludes those that pass in the other version. Rejects: SEVERAL_ANSWERS
    as in `Siblings.answers`.
    """
    programs, broken = parted(guarded(trials, _id, lambda trial: [trial.sibling_program] if trial.required else []))
    siblings = find_siblings(programs, library, places, runner, mutation)
    unfit = {reject.key: reject for reject in broken}
    for trial in trials:
        result = unfit.get(_id(trial)) or siblings.get(_id(trial))
        is_new = trial.draft.candidate.introduced is not None
        answers = result.answers(without_older=is_new) if isinstance(result, Siblings) else result
        if isinstance(answers, Reject):
            yield answers
        else:
            trial.siblings = answers or ()
            yield trial


def _repeatable(trial: Trial, place: OpenEnvironment, runner: Runner) -> tuple[CaseOf, ...]:
    """Return the recorded cases that come out the same on every repeat."""
    task, written, module = trial.draft.candidate.task, trial.draft.written, trial.module
    cases = [
        Case(
            f"{trial.draft.id} {number}",
            "",
            written.program,
            import_names=place.row["import_names"],
            test_file=hidden_tests(task, written, (), (case,), module, trial.roots),
            module=module,
        )
        for number, case in enumerate(trial.recorded)
    ]
    results = run_cases(place.environment, cases, runner.sandbox, runner.rules, runner.workers, memory=runner.memory)
    compared = zip(trial.recorded, results, strict=True)
    return tuple(case for case, result in compared if result.outcome is Outcome.PASSED)


def _unused(trial: Trial, cases: Sequence[CaseOf]) -> str:
    """Say which parameters a function may ignore and still do what cases say; nothing where there is none."""
    constant = constant_parameters(cases, trial.draft.written.parameters)
    return unused(trial.version, constant, len(cases)) if constant else ""


def _run(trials: Sequence[Trial], places: Mapping[str, OpenEnvironment], runner: Runner) -> dict[str, Reject]:
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
