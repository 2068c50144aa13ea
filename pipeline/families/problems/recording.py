"""What the reference and its mutants make of inputs, recorded by running each in its own environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pipeline.core.syntax_trees import literal_eval
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.running import Outcome as RunOutcome
from pipeline.execution.mutation.operators import mutants_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import hurried
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.program import ProblemProgram
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.running import OpenEnvironment
from pipeline.families.problems.selecting import Arguments
from pipeline.families.problems.stated_values import Outcome, is_builtin_exception, outcome_of_literal
from pipeline.families.problems.tasks import CaseOf, Task
from pipeline.lake.guard import attempt, parted
from pipeline.lake.stage import Reject

_MARK = "driftline-recorded "
_RECORDED_CHARACTERS = 1 << 19
# Runs after the program, in its namespace. A result is kept if a literal makes an equal one of the same kind, or if its
# representation tells more than an address; of an exception the nearest class that is built in. Arguments that cannot
# be made say nothing of the function.
_RECORDER = """
def _record(number, function, given):
    import ast, json
    try:
        arguments = given()
    except Exception:
        return
    try:
        value = function(*arguments)
    except Exception as error:
        raised = next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")
        print("\\n" + %r + json.dumps({"number": number, "raises": raised}), flush=True)
        return
    try:
        told = {"number": number, "shown": repr(value), "is_literal": False, "type": type(value).__name__}
    except Exception:
        return
    try:
        again = ast.literal_eval(told["shown"])
        told["is_literal"] = type(again) is type(value) and bool(again == value)
    except Exception:
        pass
    print("\\n" + %r + json.dumps(told), flush=True)
"""


def recorder(task: Task, written: ProblemProgram, inputs: Sequence[tuple[str, ...]]) -> str:
    """Return a script that calls the function with inputs, and prints what each gives."""
    calls = [
        f"_record({number}, {written.function}, lambda: [{', '.join(arguments)}])"
        for number, arguments in enumerate(inputs)
    ]
    return "\n".join([*task.argument_imports, _RECORDER % (_MARK, _MARK), *calls, ""])


@dataclass(frozen=True, slots=True)
class Tried:
    """A program, and inputs of its function, of which it is to be seen what they give."""

    id: str
    task: Task
    written: ProblemProgram
    inputs: Sequence[tuple[str, ...]]


def record(tried: Sequence[Tried], place: OpenEnvironment, runner: Runner) -> list[Result]:
    """Run recorders in an environment; what they printed is the output of each result, in the order of `tried`."""
    names = place.row["import_names"]
    cases = [
        Case(one.id, "", one.written.program, import_names=names, test=recorder(one.task, one.written, one.inputs))
        for one in tried
    ]
    talkative = runner.rules.model_copy(update={"output_tail": _RECORDED_CHARACTERS, "repeats": 1})
    return run_cases(place.environment, cases, runner.sandbox, talkative, runner.workers, memory=runner.memory)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the reference made of an input: a value of a type, by its bare name, or an exception."""

    case: CaseOf
    type: str | None


def read_recorded(output: str, inputs: Sequence[tuple[str, ...]], rules: ProblemRules) -> list[CaseOf]:
    """Read what a recorder printed: the cases with values that the rules keep."""
    records = read_records(output, inputs, rules.max_recorded_characters)
    return [record.case for record in records if not record.case.outcome.raises]


def read_records(output: str, inputs: Sequence[tuple[str, ...]], max_characters: int) -> list[Recorded]:
    """Read everything that a recorder printed, in its order; longer representations are left out."""
    records: list[Recorded] = []
    for line in output.splitlines():
        record = _record_of(line)
        if record is None or not 0 <= record["number"] < len(inputs):
            continue
        outcome = _outcome(record)
        if outcome is not None and len(record.get("shown", "")) <= max_characters:
            records.append(Recorded(CaseOf(inputs[record["number"]], outcome), _type(record)))
    return records


def gives(outcome: Outcome | None, case: CaseOf) -> bool:
    """Say whether a recorded outcome is the stated one: equal values, or the same representation but for blanks."""
    if outcome is None:
        return False
    if case.outcome.raises is not None:
        return outcome.raises == case.outcome.raises
    if case.outcome.value is not None and outcome.value is not None:
        return bool(literal_eval(case.outcome.value) == literal_eval(outcome.value))
    expected = case.outcome.representation or case.outcome.value or ""
    return (outcome.representation or outcome.value or "").split() == expected.split()


def choose(recorded: Sequence[CaseOf], documented: Sequence[CaseOf], limit: int) -> list[CaseOf]:
    """Choose recorded cases to be tested: not what is stated, and new results first."""
    covered = {case.arguments for case in documented}
    results = {case.outcome for case in documented}
    fresh: list[CaseOf] = []
    same: list[CaseOf] = []
    for case in recorded:
        if case.arguments in covered:
            continue
        (same if case.outcome in results else fresh).append(case)
        covered.add(case.arguments)
        results.add(case.outcome)
    return [*fresh, *same][:limit]


def _record_of(line: str) -> Mapping[str, Any] | None:
    if not line.startswith(_MARK):
        return None
    try:
        record = json.loads(line.removeprefix(_MARK))
        text = record["raises"] if "raises" in record else record["shown"]
        fits = isinstance(record["number"], int) and isinstance(text, str)
    except (ValueError, TypeError, KeyError):
        return None
    return record if fits else None


def _outcome(record: Mapping[str, Any]) -> Outcome | None:
    if "raises" in record:
        return Outcome(raises=record["raises"]) if is_builtin_exception(record["raises"]) else None
    return outcome_of_literal(record["shown"]) if record.get("is_literal") else _outcome_of(record["shown"])


def _type(record: Mapping[str, Any]) -> str | None:
    name = record.get("type")
    return name if isinstance(name, str) and name.isidentifier() else None


def _outcome_of(text: str) -> Outcome | None:
    vague = not text or text.startswith("<") or "0x" in text or "…" in text
    return None if vague else Outcome(representation=text)


@dataclass(frozen=True, slots=True)
class Mutated:
    """A program whose mutants are to run: what the reference gave for each input."""

    id: str
    task: Task
    written: ProblemProgram
    cases: Sequence[CaseOf]


def kills_of(
    programs: Sequence[Mutated], family: Family, place: OpenEnvironment, runner: Runner, rules: MutationRules
) -> list[list[frozenset[Arguments]] | Reject]:
    """Run the mutants of programs, and return for each mutant the arguments for which it differs from the reference.

    An input counts as different if the mutant crashed or timed out before it. Mutants that the harness could not run
    are left out. A program at which an exception is raised has its reject INTERNAL_ERROR.
    """
    mutants = [attempt(one.id, _mutants, one, rules.mutants[family]) for one in programs]
    able, _ = parted(mutants)
    results = iter(record([mutant for of_program in able for mutant in of_program], place, hurried(runner, rules)))
    return [
        of_program
        if isinstance(of_program, Reject)
        else attempt(one.id, _kills, one.cases, list(islice(results, len(of_program))))
        for one, of_program in zip(programs, mutants, strict=True)
    ]


def _mutants(program: Mutated, limit: int) -> list[Tried]:
    """Return the requests to run the mutants of a program on its inputs."""
    written, inputs = program.written, [case.arguments for case in program.cases]
    offset = written.starting_code.count("\n")
    lines = range(offset + 1, written.program.count("\n") + 2)
    mutants = enumerate(mutants_of(written.program, lines, limit))
    return [
        Tried(
            f"{program.id} mutant {number}",
            program.task,
            replace(written, starting_code="", solution=mutant.text),
            inputs,
        )
        for number, mutant in mutants
    ]


def _kills(cases: Sequence[CaseOf], results: Iterable[Result]) -> list[frozenset[Arguments]]:
    inputs, kills = [case.arguments for case in cases], []
    for output in (result.output for result in results if result.outcome is not RunOutcome.HARNESS_ERROR):
        records = read_records(output, inputs, _RECORDED_CHARACTERS)
        outcomes = {record.case.arguments: record.case.outcome for record in records}
        kills.append(frozenset(case.arguments for case in cases if not gives(outcomes.get(case.arguments), case)))
    return kills
