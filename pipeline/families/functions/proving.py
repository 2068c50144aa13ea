"""Proof of task functions: their reference, a program that does nothing, and the code of another version, run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter
from pipeline.corpus.usages.uses import Use
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.history import Tagging
from pipeline.families.functions.choosing import Choice
from pipeline.families.functions.function import Function, Tests
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.functions.testing import Evidence, Inputs, evidence_of, inputs_of, tested_cases, write_tests
from pipeline.families.problems.apis.needs import NEEDS_API, without_api_test
from pipeline.families.problems.apis.siblings import SiblingProgram, Siblings, find_siblings
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import visible_test
from pipeline.families.problems.recording import Mutated, Tried, kills_of, read_records, record
from pipeline.families.problems.running import OpenEnvironment
from pipeline.families.problems.selecting import constant_parameters, put_together, score_of, unused
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.rows import EnvironmentRow, FunctionRunRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.judging import emptied
from pipeline.llm.writers import Text


@dataclass(frozen=True, slots=True)
class OtherProgram:
    """A program that is right for another version, and in which role it runs in the function's own."""

    role: FunctionRun
    program: str


@dataclass(frozen=True, slots=True)
class By:
    """The author of a function's code, or of its tests; a model's have the tokens and nano-dollars of all attempts."""

    drafter: Drafter = Drafter.OFFLINE
    model: str | None = None
    prompt_sha256: str | None = None
    tokens: int = 0
    nano_usd: int = 0


OFFLINE = By()


@dataclass(slots=True)
class Trial:
    """A function in work: its tests so far, and its runs.

    `use` is the use of the core API that is masked; `apis` are the public paths of those of which the tests want one
    called; `description` is set where it came with the code.
    """

    function: Function
    snippet: SnippetRow
    tags: Tagging
    use: Use
    tests: Tests
    apis: tuple[str, ...] = ()
    other_version: str | None = None
    other: OtherProgram | None = None
    recorded_tests: int = 0
    code_by: By = OFFLINE
    tests_by: By = OFFLINE
    description: Text | None = None
    score: MutationScore = field(default_factory=MutationScore)
    runs: list[FunctionRunRow] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether the reference passed its tests."""
        return any(run["role"] == FunctionRun.TESTS and run["outcome"] == Outcome.PASSED for run in self.runs)

    @property
    def apart(self) -> bool:
        """Whether code that is right for the other version passes the tests there, and not here."""
        ended = {run["role"]: run["outcome"] for run in self.runs}
        if self.other is None or ended.get(FunctionRun.OTHER_THERE) != Outcome.PASSED:
            return False
        return bool(ended.get(self.other.role, Outcome.PASSED) != Outcome.PASSED)


def coverage_of(trial: Trial) -> float:
    """Return the share of the program's statements that the tests execute; 0 where that was not measured."""
    run = next((run for run in trial.runs if run["role"] == FunctionRun.TESTS), None)
    return (run["executed"] or 0) / run["statements"] if run is not None and run["statements"] else 0.0


@dataclass(frozen=True, slots=True)
class Checked:
    """A choice, and the evidence on its function from runs of the reference.

    `siblings` are the paths of APIs that are right in the place of the core API.
    """

    choice: Choice
    evidence: Evidence
    siblings: tuple[str, ...] = ()

    def sibling_program(self, rules: FunctionRules, mutation: MutationRules, roots: Iterable[str]) -> SiblingProgram:
        """Return the program in which siblings of its core API are to be tried."""
        choice, first = self.choice, self.evidence.values[0]
        function, apart = choice.function, choice.apart
        return SiblingProgram(
            *(choice.key, function.version, apart.other_version if apart is not None else None, function.path),
            *(choice.written.program, first.outcome.value, visible_test(choice.example.task, choice.written, first)),
            *(self.trial(rules, mutation, roots).tests.text, function.module),
        )

    def trial(
        self,
        rules: FunctionRules,
        mutation: MutationRules,
        roots: Iterable[str],
        *,
        example_cases_only: bool = False,
        apis: Sequence[str] = (),
    ) -> Trial:
        """Return the function with the tests that the evidence gives, or those that the example states.

        A body that avoids all of `apis` fails; without any, one that avoids the library, its modules `roots`.
        """
        choice, evidence = self.choice, self.evidence
        inputs = [case.arguments for case in evidence.all]
        if example_cases_only:
            evidence = Evidence(evidence.documented, (), (), None, evidence.killing)
        task, written, module = choice.example.task, choice.written, choice.function.module
        tests = write_tests(task, written, evidence, rules, module, roots, apis)
        cases = [case for of_kind in tested_cases(evidence, rules).values() for case in of_kind]
        program, role = choice.other_program, choice.other_role
        return Trial(
            function=choice.function,
            snippet=choice.example.snippet,
            tags=choice.tags,
            use=choice.use,
            tests=tests,
            apis=tuple(apis) if f"def {NEEDS_API}(" in tests.text else (),
            other_version=choice.apart.other_version if choice.apart is not None else None,
            other=OtherProgram(role, program) if role is not None and program is not None else None,
            recorded_tests=len(tests.kinds) - len(set(cases) & set(evidence.documented)),
            score=score_of(cases, inputs, evidence.killing, mutation.min_further_inputs),
        )


def try_siblings(
    references: Sequence[Checked],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
    rules: FunctionRules,
    mutation: MutationRules,
) -> Iterator[Checked | Reject]:
    """Find the APIs that are right in the place of the core API of functions whose tests want it called.

    Rejects: SEVERAL_ANSWERS as in `Siblings.answers`, also for an API of the other version: a description excludes an
    older one, but beside a program with its import that is one answer of several.
    """
    asking = [each for each in references if each.choice.apart is not None]
    programs, broken = parted(
        guarded(
            asking,
            lambda each: each.choice.key,
            lambda each: [each.sibling_program(rules, mutation, places[each.choice.function.version].roots)],
        )
    )
    unfit = {reject.key: reject for reject in broken}
    siblings = find_siblings(programs, library, places, runner, mutation)
    for each in references:
        result = unfit.get(each.choice.key) or siblings.get(each.choice.key)
        answers = result.answers(without_older=False) if isinstance(result, Siblings) else result
        yield answers if isinstance(answers, Reject) else replace(each, siblings=answers or ())


def ask_references(
    choices: Sequence[Choice],
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
    rules: FunctionRules,
    mutation: MutationRules,
) -> Iterator[Checked | Reject]:
    """Run the reference of each choice, and its mutants, on the inputs of the example and on others.

    Rejects: NO_ENVIRONMENT where the version has none, NOT_PROVEN where the reference gives no stated value,
    INPUT_UNUSED where a function that ignores a parameter would pass whatever tests are made of the inputs, NO_CHECK
    where one of a witness that only puts its parameters together would.
    """
    by_version: dict[str, list[Choice]] = defaultdict(list)
    for choice in choices:
        by_version[choice.function.version].append(choice)
    for version, group in sorted(by_version.items()):
        if version not in places:
            yield from (Reject(each.key, RejectReason.NO_ENVIRONMENT, f"{version}: not built") for each in group)
            continue
        requests, failed = parted(
            guarded(group, lambda each: each.key, lambda each: [(each, inputs_of(each.example.task, rules))])
        )
        yield from failed
        tried = [Tried(each.function.id, each.example.task, each.written, inputs.all) for each, inputs in requests]
        results = record(tried, places[version], runner)
        answered = [(each, inputs, result) for (each, inputs), result in zip(requests, results, strict=True)]
        checked, refused = parted(
            guarded(answered, lambda answer: answer[0].key, lambda answer: [_checked(*answer, rules)])
        )
        yield from refused
        mutated = [
            Mutated(
                reference.choice.function.id,
                reference.choice.example.task,
                reference.choice.written,
                reference.evidence.all,
            )
            for reference in checked
        ]
        kills = kills_of(mutated, Family.FUNCTION, places[version], runner, mutation)
        for reference, killing in zip(checked, kills, strict=True):
            if isinstance(killing, Reject):
                yield replace(killing, key=reference.choice.key)
            else:
                yield Checked(reference.choice, replace(reference.evidence, killing=killing))


def _checked(choice: Choice, inputs: Inputs, result: Result, rules: FunctionRules) -> Checked | Reject:
    recorded = read_records(result.output, inputs.all, rules.max_recorded_characters)
    evidence = evidence_of(choice.example.task, inputs, recorded, rules)
    constant = constant_parameters(evidence.all, choice.written.parameters)
    if evidence.values and constant:
        detail = unused(choice.function.version, constant, len(evidence.all))
        return Reject(choice.key, RejectReason.INPUT_UNUSED, detail)
    body = put_together(evidence.all, choice.written.parameters) if choice.example.witnessed is not None else None
    if body is not None:
        detail = f"{choice.function.version}: for all inputs tried it gives {body}"
        return Reject(choice.key, RejectReason.NO_CHECK, detail)
    if evidence.values:
        return Checked(choice, evidence)
    problem = result.detail or "the reference gives none of the stated values where it is called alone"
    return Reject(choice.key, RejectReason.NOT_PROVEN, f"{choice.function.version}: {result.outcome}: {problem}")


def prove(trials: Sequence[Trial], places: Mapping[str, OpenEnvironment], runner: Runner) -> None:
    """Run functions, once through each environment; their runs are added to them."""
    groups: dict[tuple[str, bool], list[_RunRequest]] = defaultdict(list)
    for trial in trials:
        for version, requests in runs_of(trial):
            # An empty body is to fail: run like all others, it would take most of the stage's time.
            groups[version, requests.role is FunctionRun.EMPTIED].append(requests)
    for (version, is_to_fail), group in sorted(groups.items()):
        if version not in places:
            continue
        place, rules = places[version], runner.rules.once if is_to_fail else runner.rules
        cases = [requests.case(place) for requests in group]
        results = run_cases(place.environment, cases, runner.sandbox, rules, runner.workers, memory=runner.memory)
        for requests, result in zip(group, results, strict=True):
            key = requests.trial.function.id
            requests.trial.runs.append(function_run_row(key, requests.role, place.row, result, requests.program))


@dataclass(frozen=True, slots=True)
class _RunRequest:
    """One run of a function's tests; `program` runs in place of the reference; None for the reference itself."""

    trial: Trial
    role: FunctionRun
    program: str | None = None

    def case(self, place: OpenEnvironment) -> Case:
        function, tests = self.trial.function, self.trial.tests.text
        if self.role in (FunctionRun.OTHER_THERE, FunctionRun.OTHER_ANY_API):
            tests = without_api_test(tests, function.name, function.module, place.roots)
        return Case(
            f"{function.id} {self.role}",
            "",
            function.program if self.program is None else self.program,
            import_names=place.row["import_names"],
            test_file=tests,
            module=function.module,
            cover=self.role is FunctionRun.TESTS,
        )


def runs_of(trial: Trial) -> Iterable[tuple[str, _RunRequest]]:
    """Yield the runs of a function with their versions."""
    version, elsewhere, other = trial.function.version, trial.other_version, trial.other
    yield version, _RunRequest(trial, FunctionRun.TESTS)
    yield version, _RunRequest(trial, FunctionRun.EMPTIED, emptied(trial.function.program))
    if elsewhere is not None:
        yield elsewhere, _RunRequest(trial, FunctionRun.REFERENCE_ELSEWHERE)
    if elsewhere is not None and other is not None:
        yield version, _RunRequest(trial, other.role, other.program)
        yield elsewhere, _RunRequest(trial, FunctionRun.OTHER_THERE, other.program)
        if f"def {NEEDS_API}(" in trial.tests.text:
            yield version, _RunRequest(trial, FunctionRun.OTHER_ANY_API, other.program)


def function_run_row(
    function_id: str, role: FunctionRun, environment: EnvironmentRow, result: Result, program: str | None = None
) -> FunctionRunRow:
    """Return a row of `function_runs`; `program` is what ran in place of the reference."""
    covered = result.coverage
    return {
        "id": content_id(function_id, role, environment["version"], environment["lock_id"]),
        "function_id": function_id,
        "library": environment["library"],
        "version": environment["version"],
        "role": role,
        "program": program,
        "outcome": result.outcome,
        "python": environment["python"] or "",
        "lock_id": environment["lock_id"] or "",
        "detail": result.detail,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
        "duration_s": round(result.duration_s, 4),
    }
