"""Tests that a model wrote, judged by running them: what is wrong with them, in words that the model can use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.environments import Environment, Sandbox
from pipeline.terms import Outcome
from pipeline.validation import Case, Coverage, Result, ValidationRules, run_cases


@dataclass(frozen=True, slots=True)
class Trial:
    """Tests on trial: a pytest module that imports a program as `module`, and the programs that it must tell apart.

    `reference` must pass. `emptied` does nothing, and must fail. `other` is right for another version and must fail, if
    it is given.
    """

    id: str
    environment: Environment
    module: str
    tests: str
    reference: str
    other: str | None = None


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
            cases = [case for trial in group for case in _cases(trial)]
            results = iter(run_cases(environment, cases, self.sandbox, self.rules, self.workers))
            for trial in group:
                ran = {case.id: next(results) for case in _cases(trial)}
                judged[trial.id] = self._judgement(trial, ran)
        return [judged[trial.id] for trial in trials]

    def _judgement(self, trial: Trial, ran: Mapping[str, Result]) -> Judgement:
        reference, emptied, other = (ran.get(f"{trial.id} {role}") for role in ("reference", "emptied", "other"))
        assert reference is not None
        discriminating = other is not None and other.outcome in self.fails
        problem = None
        if reference.outcome is not Outcome.PASSED:
            problem = f"with the reference the tests end as {reference.outcome}:\n{reference.detail or ''}".strip()
        elif emptied is not None and emptied.outcome not in self.fails:
            problem = f"where every function does nothing and returns None the tests end as {emptied.outcome}"
        elif reference.coverage is not None and reference.coverage.share < self.min_coverage:
            problem = _uncovered(trial.reference, reference.coverage)
        elif other is not None and not discriminating:
            problem = "the tests do not fail for the code that is right for the other version: test what differs"
        return Judgement(problem, reference.coverage, discriminating)


def emptied(program: str) -> str | None:
    """Return a program whose functions do nothing and return None; None where it has no function."""
    tree = ast.parse(program)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        function.body = [ast.Return(ast.Constant(None))]
    return ast.unparse(ast.fix_missing_locations(tree)) if functions else None


def _cases(trial: Trial) -> list[Case]:
    programs = {"reference": trial.reference, "emptied": emptied(trial.reference), "other": trial.other}
    return [
        Case(
            f"{trial.id} {role}",
            "",
            program,
            test_file=trial.tests,
            module=trial.module,
            cover=role == "reference",
        )
        for role, program in programs.items()
        if program is not None
    ]


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
