"""What changed references give for the inputs of a task, each run in a process of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.operators import mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import hurried
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.program import ProblemProgram
from pipeline.families.problems.recording import Tried, gives, read_records, record
from pipeline.families.problems.running import OpenEnvironment
from pipeline.families.problems.selecting import Arguments
from pipeline.families.problems.tasks import CaseOf, Task

_ANY_LENGTH = 1 << 19


@dataclass(frozen=True, slots=True)
class Mutated:
    """A program whose mutants are to run: what the reference gave for each input."""

    id: str
    task: Task
    written: ProblemProgram
    cases: Sequence[CaseOf]


def kills_of(
    programs: Sequence[Mutated], family: Family, place: OpenEnvironment, runner: Runner, rules: MutationRules
) -> list[list[frozenset[Arguments]]]:
    """Run the mutants of programs, and return for each mutant the arguments for which it differs from the reference.

    An input counts as different if the mutant crashed or timed out before it. Mutants that the harness could not run
    are left out.
    """
    tried = [
        (number_of, Tried(f"{one.id} mutant {number}", one.task, mutant, [case.arguments for case in one.cases]))
        for number_of, one in enumerate(programs)
        for number, mutant in enumerate(_mutants(one.written, rules.mutants[family]))
    ]
    killing: list[list[frozenset[Arguments]]] = [[] for _ in programs]
    results = record([mutant for _, mutant in tried], place, hurried(runner, rules))
    for (number_of, _), result in zip(tried, results, strict=True):
        if result.outcome is not Outcome.HARNESS_ERROR:
            killing[number_of].append(_kills(programs[number_of].cases, result.output))
    return killing


def _mutants(written: ProblemProgram, limit: int) -> Iterable[ProblemProgram]:
    offset = written.starting_code.count("\n")
    lines = range(offset + 1, written.program.count("\n") + 2)
    for mutant in mutants_of(written.program, lines, limit):
        yield replace(written, starting_code="", solution=mutant.text)


def _kills(cases: Sequence[CaseOf], output: str) -> frozenset[Arguments]:
    inputs = [case.arguments for case in cases]
    outcomes = {record.case.arguments: record.case.outcome for record in read_records(output, inputs, _ANY_LENGTH)}
    return frozenset(case.arguments for case in cases if not gives(outcomes.get(case.arguments), case))
