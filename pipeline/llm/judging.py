"""Tests that a model wrote, judged by running them: what is wrong with them, in words that the model can use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Coverage, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases


@dataclass(frozen=True, slots=True)
class Trial:
    """Tests on trial: a pytest module that imports a program as `module`, and the programs that it must tell apart.

    `reference` must pass. Where its functions do nothing the module must fail; or, if `apart` is given, each of the
    modules there, by the name of the one test that it holds. `other` is right for another version and must fail, if it
    is given. By `import_names`, those of the library, an import that fails is told to be for want of its API.
    """

    id: str
    environment: Environment
    module: str
    tests: str
    reference: str
    other: str | None = None
    apart: Mapping[str, str] = field(default_factory=dict)
    import_names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What running tests came to: what is wrong with them, if anything, and what they cover of the reference."""

    problem: str | None
    coverage: Coverage | None
    discriminating: bool


@dataclass(frozen=True)
class RunJudge:
    """Runs tests in the sandbox; they must execute `min_coverage` of the reference's lines with statements.

    A program is told apart if it ends in one of `fails`: time and memory, which may be the machine's, tell nothing.
    """

    sandbox: Sandbox
    rules: ValidationRules
    min_coverage: float
    fails: Collection[Outcome]
    workers: int = 1

    def judge(self, trials: Sequence[Trial]) -> list[Judgement]:
        """Return the judgement of each trial, in their order."""
        judged: dict[str, Judgement] = {}
        for environment, group in _by_environment(trials):
            ran = self._run(environment, [_reference(trial) for trial in group], self.rules)
            good = [trial for trial in group if ran[_reference(trial).id].outcome is Outcome.PASSED]
            ran |= self._run(environment, [case for trial in good for case in _other(trial)], self.rules)
            ran |= self.run_once(environment, [case for trial in good for case in _emptied(trial)])
            judged |= {trial.id: self._judgement(trial, ran) for trial in group}
        return [judged[trial.id] for trial in trials]

    def run_once(self, environment: Environment, cases: Sequence[Case]) -> dict[str, Result]:
        """Run what is to fail, by id: once is enough, and what fails is not confirmed in another process."""
        return self._run(environment, cases, self.rules.once)

    def _run(self, environment: Environment, cases: Sequence[Case], rules: ValidationRules) -> dict[str, Result]:
        results = run_cases(environment, cases, self.sandbox, rules, self.workers) if cases else []
        return {result.id: result for result in results}

    def _judgement(self, trial: Trial, ran: Mapping[str, Result]) -> Judgement:
        reference, other = ran[f"{trial.id} reference"], ran.get(f"{trial.id} other")
        discriminating = other is not None and other.outcome in self.fails
        problem = None
        if reference.outcome is not Outcome.PASSED:
            problem = f"with the reference the tests end as {reference.outcome}:\n{reference.detail or ''}".strip()
        elif emptied(trial.reference) is None:
            problem = "the reference has no function that could be left empty"
        elif idle := self._idle(trial, ran):
            problem = f"where every function does nothing and returns None, {idle}"
        elif reference.coverage is None:
            problem = "which lines of the reference the tests execute could not be seen: leave its file alone"
        elif reference.coverage.share < self.min_coverage:
            problem = _uncovered(trial.reference, reference.coverage)
        elif other is not None and not discriminating:
            problem = "the tests do not fail for the code that is right for the other version: test what differs"
        return Judgement(problem, reference.coverage, discriminating)

    def _idle(self, trial: Trial, ran: Mapping[str, Result]) -> str:
        """Say which tests do not fail for functions that do nothing."""
        whole = {"the tests": ran.get(f"{trial.id} emptied")}
        alone = {name: ran.get(f"{trial.id} emptied {name}") for name in trial.apart}
        ended = {name: result.outcome for name, result in (alone or whole).items() if result is not None}
        return ", ".join(f"{name} end as {outcome}" for name, outcome in ended.items() if outcome not in self.fails)


def emptied(program: str) -> str | None:
    """Return a program whose functions do nothing and return None; None where it has no function."""
    tree = parse_python(program)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        function.body = [ast.Return(ast.Constant(None))]
    return ast.unparse(ast.fix_missing_locations(tree)) if functions else None


def _reference(trial: Trial) -> Case:
    return _case(trial, "reference", trial.reference, trial.tests)


def _other(trial: Trial) -> list[Case]:
    return [_case(trial, "other", trial.other, trial.tests)] if trial.other is not None else []


def _emptied(trial: Trial) -> list[Case]:
    program = emptied(trial.reference)
    if program is None:
        return []
    alone = [_case(trial, f"emptied {name}", program, tests) for name, tests in trial.apart.items()]
    return alone or [_case(trial, "emptied", program, trial.tests)]


def _case(trial: Trial, role: str, program: str, tests: str) -> Case:
    key, cover = f"{trial.id} {role}", role == "reference"
    names = trial.import_names
    return Case(key, "", program, import_names=names, test_file=tests, module=trial.module, cover=cover)


def _uncovered(program: str, covered: Coverage) -> str:
    lines = program.splitlines()
    missing = "\n".join(f"  line {number}: {lines[number - 1].strip()}" for number in covered.missing)
    done = len(covered.executed)
    return f"the tests execute {done} of {covered.statements} lines of the reference, and never:\n{missing}"


def _by_environment(trials: Iterable[Trial]) -> list[tuple[Environment, list[Trial]]]:
    groups: dict[str, tuple[Environment, list[Trial]]] = {}
    for trial in trials:
        groups.setdefault(trial.environment.lock_id, (trial.environment, []))[1].append(trial)
    return [groups[name] for name in sorted(groups)]
