"""How alike two pieces of code are: by the runs of tokens that they have in common, whatever the layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rensa import RMinHash, RMinHashLSH  # type: ignore[import-untyped]

from pipeline.corpus.snippets.code_sample_rules import DuplicateRules

_ASIDE = re.compile(r"(?m)^\s*(?:#|//|import\b|from\b.*\bimport\b).*$")
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Likeness:
    """Pieces of code by number, and which of them are almost the same as another one."""

    def __init__(self, rules: DuplicateRules) -> None:
        self._rules = rules
        self._codes: dict[int, Sequence[str]] = {}
        self._index: RMinHashLSH = RMinHashLSH(rules.similarity, rules.permutations, rules.bands)

    def add(self, number: int, code: Sequence[str]) -> None:
        """Keep the tokens of a piece of code under a number."""
        self._codes[number] = code
        self._index.insert(number, self._sketch(code))

    def near(self, code: Sequence[str]) -> list[int]:
        """Return the numbers of what is almost the same: found by sketches, then compared for certain."""
        return sorted(number for number in self._index.query(self._sketch(code)) if self._is_near(code, number))

    def _is_near(self, code: Sequence[str], number: int) -> bool:
        mine, theirs = set(self._runs(code)), set(self._runs(self._codes[number]))
        return len(mine & theirs) >= self._rules.similarity * len(mine | theirs)

    def _sketch(self, code: Sequence[str]) -> RMinHash:
        sketch = RMinHash(self._rules.permutations, self._rules.seed)
        sketch.update(list(self._runs(code)))
        return sketch

    def _runs(self, code: Sequence[str]) -> Iterator[str]:
        """Yield the runs of tokens of a text, or all of it where it is shorter than one."""
        run = self._rules.run
        for start in range(max(len(code) - run, 0) + 1):
            yield " ".join(code[start : start + run])


def tokens(code: str) -> list[str]:
    """Return the words and signs of code, without imports, comments on lines of their own, and layout."""
    return _TOKEN.findall(_ASIDE.sub("", code))
