"""Tests of a task function from what its example states and what the reference was recorded to give."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.functions import TestKind
from pipeline.families.functions.function import Tests, name_of
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.inputs import further_inputs
from pipeline.families.problems.program import Written, asserts, call, pytest_module
from pipeline.families.problems.recording import Recorded, choose, gives
from pipeline.families.problems.selecting import Arguments, select_cases
from pipeline.families.problems.tasks import CaseOf, Task


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the reference is called with: the stated inputs, others at an edge, and others that are ordinary."""

    stated: tuple[tuple[str, ...], ...]
    boundary: tuple[tuple[str, ...], ...]
    others: tuple[tuple[str, ...], ...]

    @property
    def all(self) -> tuple[tuple[str, ...], ...]:
        """All of them, in this order."""
        return (*self.stated, *self.boundary, *self.others)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a function: the cases that its example states and that hold, and what else was recorded.

    `type` is the bare name of the type of the first stated result. What gives None is left out: a body that does
    nothing gives it too. `killing` has for each mutant of the function the inputs for which it gives something else.
    """

    stated: tuple[CaseOf, ...]
    boundary: tuple[CaseOf, ...]
    others: tuple[CaseOf, ...]
    type: str | None
    killing: Sequence[frozenset[Arguments]] = ()

    @property
    def all(self) -> tuple[CaseOf, ...]:
        """All cases, each input once."""
        return tuple({case.arguments: case for case in (*self.others, *self.boundary, *self.stated)}.values())

    @property
    def values(self) -> tuple[CaseOf, ...]:
        """The stated cases that give a value."""
        return tuple(case for case in self.stated if not case.outcome.raises)


def inputs_of(task: Task, rules: FunctionRules) -> Inputs:
    """Return the inputs to try, each once."""
    stated = tuple(case.arguments for case in task.cases)
    half = rules.max_tried // 2
    boundary = further_inputs(stated, rules.boundary, half)
    others = [made for made in further_inputs(stated, rules.others, rules.max_tried) if made not in set(boundary)]
    return Inputs(stated, tuple(boundary), tuple(others[: rules.max_tried - half]))


def evidence_of(task: Task, inputs: Inputs, recorded: Iterable[Recorded], rules: FunctionRules) -> Evidence:
    """Part what was recorded into what bears out the example, and what is more than it states."""
    told = {one.case.arguments: one for one in recorded}
    cases = {arguments: one.case for arguments, one in told.items()}
    stated = tuple(case for case in task.cases if _tells(case) and _holds(case, cases))
    first = next((case for case in stated if not case.outcome.raises), None)
    return Evidence(
        stated,
        tuple(_usable(inputs.boundary, cases, rules.errors)),
        tuple(_usable(inputs.others, cases, ())),
        told[first.arguments].type if first is not None else None,
    )


def _holds(case: CaseOf, recorded: Mapping[tuple[str, ...], CaseOf]) -> bool:
    made = recorded.get(case.arguments)
    return made is not None and gives(made.outcome, case)


def _usable(
    inputs: Iterable[tuple[str, ...]], cases: Mapping[tuple[str, ...], CaseOf], errors: Collection[str]
) -> Iterator[CaseOf]:
    """Yield the cases of inputs that tell something, those with a value before those that raise one of `errors`."""
    found = [cases[arguments] for arguments in inputs if arguments in cases and _tells(cases[arguments])]
    yield from (case for case in found if not case.outcome.raises)
    yield from (case for case in found if case.outcome.raises in errors)


def _tells(case: CaseOf) -> bool:
    return "None" not in (case.outcome.value, case.outcome.shown)


def write_tests(task: Task, written: Written, evidence: Evidence, rules: FunctionRules, module: str) -> Tests:
    """Write the tests of a function, as many of each kind as the rules take and the evidence gives."""
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
    return Tests(text, {name: kind for name, (kind, _) in tests.items()})


def tested_cases(evidence: Evidence, rules: FunctionRules) -> Mapping[TestKind, list[CaseOf]]:
    """Return the cases that are tested, by kind; stated exceptions are boundaries, other stated values functionality.

    Of functionality there are more than the rules take where parameters would not be varied otherwise.
    """
    stated, values = list(evidence.stated), evidence.values
    normal = list(values[:1])[: rules.tests[TestKind.NORMAL_INPUT]]
    raising = [case for case in stated if case.outcome.raises]
    edges = [*raising, *choose(evidence.boundary, stated, rules.max_tried)]
    boundary = edges[: rules.tests[TestKind.BOUNDARY_VALUES]]
    others = [*values[1:], *choose(evidence.others, stated, rules.max_tried), *edges]
    further = [case for case in others if case not in boundary]
    limit = rules.tests[TestKind.FUNCTIONALITY]
    chosen = select_cases([*normal, *boundary], further, evidence.killing, limit)
    return {
        TestKind.NORMAL_INPUT: normal,
        TestKind.BOUNDARY_VALUES: boundary,
        TestKind.FUNCTIONALITY: chosen,
    }


def _of_type(written: Written, case: CaseOf, type_name: str) -> list[str]:
    """Return the statement that a result has its type; of a type that needs an import, that this has its name."""
    if isinstance(getattr(builtins, type_name, None), type):
        return [f"assert isinstance({call(written, case)}, {type_name})"]
    return [f"assert type({call(written, case)}).__name__ == {type_name!r}"]
