"""Which of the tests that reach a piece of code judge it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_SHORT = 4
"""Names of at most so many letters have to be words of a test's name: `get` is a part of `target`."""


def draw_tests(reached: Mapping[str, Collection[int]], lines: Collection[int], limit: int, name: str = "") -> list[str]:
    """Return at most `limit` tests that reach some of the lines, the most telling first; `reached` has lines by test.

    First come tests that reach further lines, or reach known ones in another combination, which is another branch. Of
    these, and of the others, each test function has its turn before one has a second set of parameters. In each turn
    those named after the function `name` come first: others may pass through it by the way.
    """
    within = frozenset(lines)
    remaining = {test: within.intersection(own) for test, own in reached.items() if not within.isdisjoint(own)}
    drawn: list[str] = []
    covered: set[int] = set()
    combinations: set[frozenset[int]] = set()
    turns: Counter[str] = Counter()

    def rank(test: str) -> tuple[bool, int, bool, int, int, str]:
        own = remaining[test]
        is_covered = own <= covered and own in combinations
        return (
            is_covered,
            turns[_function(test)],
            not _is_named_after(_function(test).partition("::")[2], name),
            -len(own - covered),
            -len(own),
            test,
        )

    while remaining and len(drawn) < limit:
        best = min(remaining, key=rank)
        drawn.append(best)
        turns[_function(best)] += 1
        combinations.add(remaining[best])
        covered.update(remaining.pop(best))
    return drawn


def _is_named_after(test: str, name: str) -> bool:
    letters = _letters(name)
    if len(letters) > _SHORT:
        return letters in _letters(test)
    return letters in {word.casefold() for word in _WORD.findall(test)}


def _letters(name: str) -> str:
    """Return the letters and digits of a name, so that `RemoveTagsTest` is of `remove_tags`."""
    return "".join(filter(str.isalnum, name)).casefold()


def _function(test: str) -> str:
    """Return the test function of a pytest node id, which is what stands before the parameters."""
    return test.partition("[")[0]
