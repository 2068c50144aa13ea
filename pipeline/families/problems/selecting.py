"""Which inputs become hidden tests: so that every parameter is varied, and changed references fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from pipeline.execution.mutation.score import MutationScore
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
    is_known = len(set(inputs) - own) >= further
    return MutationScore(len(killing), killed, unkilled if is_known else 0)
