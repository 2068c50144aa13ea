"""Which inputs become hidden tests: every parameter is varied, changed references fail, and no trivial body passes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from pipeline.core.syntax_trees import parse_python
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.problems.apis.needs import has_contents
from pipeline.families.problems.lifting import replaced
from pipeline.families.problems.tasks import CaseOf

Arguments = tuple[str, ...]


def constant_parameters(cases: Iterable[CaseOf], names: Sequence[str]) -> list[str]:
    """Return the parameters that a function may ignore and still do what all cases say.

    A parameter is none of them where two cases differ in it alone, and in the outcome.
    """
    tested = list(cases)
    return [name for number, name in enumerate(names) if not any(_pairs(tested, number))]


def unused(version: str, parameters: Iterable[str], inputs: int) -> str:
    """Return the detail of a reject INPUT_UNUSED; `inputs` is how many were tried."""
    return f"{version}: {', '.join(parameters)}: no two of {inputs} inputs differ in it alone, and in the result"


def _pairs(cases: Sequence[CaseOf], number: int) -> Iterator[tuple[CaseOf, CaseOf]]:
    """Yield pairs of cases that differ in one argument alone, and in the outcome: the earlier one first."""
    groups: dict[Arguments, list[CaseOf]] = defaultdict(list)
    for case in cases:
        others = (*case.arguments[:number], *case.arguments[number + 1 :])
        yield from ((each, case) for each in groups[others] if each.outcome != case.outcome)
        groups[others].append(case)


def put_together(cases: Sequence[CaseOf], names: Sequence[str]) -> str | None:
    """Return an expression that only puts parameters together and gives what all cases say; None where there is none.

    `(None, text)` is one: such a function does nothing that a test could tell from it.
    """
    values = [case for case in cases if case.outcome.raises is None]
    if any(case.outcome.value is None for case in values):
        return None
    # Of None, say, nobody knows whether it is the argument or itself, so that one case gives the template of all.
    templates = dict.fromkeys(_template(case, names) for case in values if has_contents(case.arguments))
    return next(
        (each for each in templates if len(values) > 1 and all(_fills(each, case, names) for case in values)), None
    )


def _template(case: CaseOf, names: Sequence[str]) -> str:
    """Return the value of a case with the names of parameters in place of their arguments."""
    names_by_argument = {_plain(argument): name for argument, name in zip(case.arguments, names, strict=True)}
    return replaced(case.outcome.value or "None", names_by_argument)


def _fills(template: str, case: CaseOf, names: Sequence[str]) -> bool:
    filled = replaced(template, dict(zip(names, case.arguments, strict=True)))
    return _plain(filled) == _plain(case.outcome.value or "None")


def _plain(source: str) -> str:
    return ast.unparse(parse_python(source, mode="eval"))


def select_cases(
    tested: Sequence[CaseOf], others: Sequence[CaseOf], killing: Sequence[Collection[Arguments]], limit: int
) -> list[CaseOf]:
    """Return the cases to be tested beside those that are: at most `limit`, more only where parameters need them.

    `killing` has for each mutant the arguments for which it gives something else. First come cases that vary a
    parameter, then those that kill most mutants, then the first of the others.
    """
    chosen: list[CaseOf] = []
    for number in range(len(others[0].arguments) if others else 0):
        have = [*tested, *chosen]
        if not any(_pairs(have, number)):
            # The pair that needs fewest new cases: one with a case that is tested anyway, else the first.
            pairs = _pairs([*have, *(case for case in others if case not in have)], number)
            best = min(pairs, key=lambda pair: sum(case not in have for case in pair), default=())
            chosen += [case for case in best if case not in have]
    while len(chosen) < limit:
        have = [*tested, *chosen]
        left = [kills for kills in killing if not any(case.arguments in kills for case in have)]
        rest = [case for case in others if case not in have]
        if not rest:
            break
        chosen.append(max(rest, key=lambda case: sum(case.arguments in kills for kills in left)))
    return chosen


def score_of(
    tested: Iterable[CaseOf], inputs: Collection[Arguments], killing: Sequence[Collection[Arguments]], further: int
) -> MutationScore:
    """Return which mutants the tested cases kill; one that no input kills is equivalent.

    That needs at least `further` inputs beside those tested.
    """
    own = {case.arguments for case in tested}
    killed = sum(not own.isdisjoint(kills) for kills in killing)
    unkilled = sum(not kills for kills in killing)
    is_decided = len(set(inputs) - own) >= further
    return MutationScore(len(killing), killed, unkilled if is_decided else 0)


def passed_by(tests: str) -> str | None:
    """Return a body that passes a pytest module whatever the task is; None where that cannot be said.

    Such a body returns one value, or a parameter.

    All that counts are asserts of the form `f(…) == value` and `f(…) is value`, also `repr(f(…)).split() == …`.
    """
    module = parse_python(tests)
    asserts = [node for node in ast.walk(module) if isinstance(node, ast.Assert)]
    read = [pair for node in asserts if (pair := _compared(node)) is not None]
    if not asserts or len(read) < len(asserts) or any(isinstance(node, ast.With) for node in ast.walk(module)):
        return None
    if len({value for _, value in read}) == 1:
        return f"return {read[0][1]}"
    fewest = min(len(call.args) for call, _ in read)
    same = (n for n in range(fewest) if all(ast.unparse(call.args[n]) == value for call, value in read))
    return next((f"return parameter {n + 1}" for n in same), None)


def _compared(node: ast.Assert) -> tuple[ast.Call, str] | None:
    """Return the call of an assert, and the source of the value that it is to give."""
    match node.test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            return call, ast.unparse(value)
    return None
