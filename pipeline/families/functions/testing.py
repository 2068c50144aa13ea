"""Tests of a task function from the cases of its example and recorded values of the reference."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.functions import TestKind
from pipeline.families.functions.function import Tests, name_of
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.apis.needs import with_api_test, with_library_test
from pipeline.families.problems.inputs import further_inputs
from pipeline.families.problems.program import ProblemProgram, asserts, call, pytest_module
from pipeline.families.problems.recording import Recorded, choose, gives
from pipeline.families.problems.selecting import Arguments, select_cases
from pipeline.families.problems.tasks import CaseOf, Task


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs for the reference: those of the example, boundary ones, and ordinary ones."""

    documented: tuple[tuple[str, ...], ...]
    boundary: tuple[tuple[str, ...], ...]
    others: tuple[tuple[str, ...], ...]

    @property
    def all(self) -> tuple[tuple[str, ...], ...]:
        """All of them, in this order."""
        return (*self.documented, *self.boundary, *self.others)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on a function: confirmed cases of its example, and further recorded ones.

    `type` is the bare name of the type of the first stated result. What gives None is left out: a body that does
    nothing gives it too. `killing` has for each mutant of the function the inputs for which it gives something else.
    """

    documented: tuple[CaseOf, ...]
    boundary: tuple[CaseOf, ...]
    others: tuple[CaseOf, ...]
    type: str | None
    killing: Sequence[frozenset[Arguments]] = ()

    @property
    def all(self) -> tuple[CaseOf, ...]:
        """All cases, each input once."""
        return tuple({case.arguments: case for case in (*self.others, *self.boundary, *self.documented)}.values())

    @property
    def values(self) -> tuple[CaseOf, ...]:
        """The cases of the example with a value."""
        return tuple(case for case in self.documented if not case.outcome.raises)


def inputs_of(task: Task, rules: FunctionRules) -> Inputs:
    """Return the inputs to try, each once."""
    expected = tuple(case.arguments for case in task.cases)
    half = rules.max_tried // 2
    boundary = further_inputs(expected, rules.boundary, half)
    others = [value for value in further_inputs(expected, rules.others, rules.max_tried) if value not in set(boundary)]
    return Inputs(expected, tuple(boundary), tuple(others[: rules.max_tried - half]))


def evidence_of(task: Task, inputs: Inputs, recorded: Iterable[Recorded], rules: FunctionRules) -> Evidence:
    """Split recorded cases into those of the example and further ones."""
    by_arguments = {record.case.arguments: record for record in recorded}
    cases = {arguments: record.case for arguments, record in by_arguments.items()}
    expected = tuple(case for case in task.cases if _is_conclusive(case) and _holds(case, cases))
    first = next((case for case in expected if not case.outcome.raises), None)
    return Evidence(
        expected,
        tuple(_usable(inputs.boundary, cases, rules.errors)),
        tuple(_usable(inputs.others, cases, ())),
        by_arguments[first.arguments].type if first is not None else None,
    )


def _holds(case: CaseOf, recorded: Mapping[tuple[str, ...], CaseOf]) -> bool:
    value = recorded.get(case.arguments)
    return value is not None and gives(value.outcome, case)


def _usable(
    inputs: Iterable[tuple[str, ...]], cases: Mapping[tuple[str, ...], CaseOf], errors: Collection[str]
) -> Iterator[CaseOf]:
    """Yield the conclusive cases of inputs, those with a value before those that raise one of `errors`."""
    usable = [cases[arguments] for arguments in inputs if arguments in cases and _is_conclusive(cases[arguments])]
    yield from (case for case in usable if not case.outcome.raises)
    yield from (case for case in usable if case.outcome.raises in errors)


def _is_conclusive(case: CaseOf) -> bool:
    return "None" not in (case.outcome.value, case.outcome.representation)


def write_tests(
    task: Task,
    written: ProblemProgram,
    evidence: Evidence,
    rules: FunctionRules,
    module: str,
    roots: Iterable[str],
    apis: Sequence[str] = (),
) -> Tests:
    """Write the tests of a function, as many of each kind as the rules take and the evidence gives.

    One more is passed only by a program that fails where each use of the core API raises, or of another that is right
    too, at their public paths `apis`; without such paths, where each use of the library does, its modules `roots`.
    """
    cases = tested_cases(evidence, rules)
    by_kind = {kind: [asserts(written, case) for case in of_kind] for kind, of_kind in cases.items()}
    if evidence.values and evidence.type and rules.tests[TestKind.RETURN_TYPE]:
        by_kind[TestKind.RETURN_TYPE] = [_of_type(written, evidence.values[0], evidence.type)]
    tests = {
        name_of(kind, number): (kind, lines)
        for kind in TestKind
        for number, lines in enumerate(by_kind.get(kind, []), 1)
    }
    text = pytest_module(task, written, {name: lines for name, (_, lines) in tests.items()}, module)
    kinds = {name: kind for name, (kind, _) in tests.items()}
    needing = (
        with_api_test(text, written.function, module, apis, written.program)
        if apis
        else with_library_test(text, written.function, module, roots)
    )
    return Tests(needing or text, kinds)


def tested_cases(evidence: Evidence, rules: FunctionRules) -> Mapping[TestKind, list[CaseOf]]:
    """Return the cases that are tested, by kind; stated exceptions are boundaries, other stated values functionality.

    Of functionality there are more than the rules take where parameters would not be varied otherwise.
    """
    expected, values = list(evidence.documented), evidence.values
    normal = list(values[:1])[: rules.tests[TestKind.NORMAL_INPUT]]
    raising = [case for case in expected if case.outcome.raises]
    edges = [*raising, *choose(evidence.boundary, expected, rules.max_tried)]
    boundary = edges[: rules.tests[TestKind.BOUNDARY_VALUES]]
    others = [*values[1:], *choose(evidence.others, expected, rules.max_tried), *edges]
    further = [case for case in others if case not in boundary]
    limit = rules.tests[TestKind.FUNCTIONALITY]
    chosen = select_cases([*normal, *boundary], further, evidence.killing, limit)
    return {
        TestKind.NORMAL_INPUT: normal,
        TestKind.BOUNDARY_VALUES: boundary,
        TestKind.FUNCTIONALITY: chosen,
    }


def _of_type(written: ProblemProgram, case: CaseOf, type_name: str) -> list[str]:
    """Return the statement that a result has its type; of a type that needs an import, that this has its name."""
    if isinstance(getattr(builtins, type_name, None), type):
        return [f"assert isinstance({call(written, case)}, {type_name})"]
    return [f"assert type({call(written, case)}).__name__ == {type_name!r}"]
