"""What is there already: the same code, almost the same, or another example of an API by the same origin."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rensa import RMinHash, RMinHashLSH  # type: ignore[import-untyped]

from pipeline.snippets.found_rules import FoundRules
from pipeline.terms import RejectReason

_ASIDE = re.compile(r"(?m)^\s*(?:#|//|import\b|from\b.*\bimport\b).*$")
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Known:
    """A snippet that was kept: its code, the APIs that it shows, where it stands."""

    code: str
    paths: frozenset[str]
    place: str


class Library:
    """The snippets of a library that were kept so far; whoever comes first stays.

    Code is there already where it shows no API that the code which is like it does not show: an example that differs
    in one API is how two versions differ, however alike the rest is. Time and memory grow with the number of snippets.
    """

    def __init__(self, rules: FoundRules) -> None:
        self._rules = rules
        self._kept: list[Known] = []
        self._same: dict[str, list[int]] = {}
        self._examples: Counter[tuple[str, str]] = Counter()
        alike = rules.duplicates
        self._alike: RMinHashLSH = RMinHashLSH(alike.similarity, alike.permutations, alike.bands)

    def add(self, known: Known) -> None:
        """Take a snippet that stays whatever is there."""
        tokens = _tokens(known.code)
        self._keep(known, tokens, self._sketch(tokens))

    def offer(self, known: Known, origin: str) -> frozenset[str] | tuple[RejectReason, str]:
        """Keep a snippet and return the APIs that it is an example of, or return why it is not needed."""
        tokens = _tokens(known.code)
        sketch = self._sketch(tokens)
        if same := self._shown(self._same.get(" ".join(tokens), ()), known):
            return RejectReason.DUPLICATE, f"the same code stands at {same.place}"
        near = sorted(number for number in self._alike.query(sketch) if self._near(tokens, self._kept[number]))
        if other := self._shown(near, known):
            return RejectReason.NEAR_DUPLICATE, f"almost the same code stands at {other.place}"
        new = frozenset(path for path in known.paths if not self._full(origin, path))
        if known.paths and not new:
            return RejectReason.OVER_QUOTA, f"{origin} shows {', '.join(sorted(known.paths))} already"
        self._examples.update((origin, path) for path in new)
        self._keep(known, tokens, sketch)
        return new

    def _full(self, origin: str, path: str) -> bool:
        return self._examples[origin, path] >= self._rules.max_per_api_and_origin

    def _keep(self, known: Known, tokens: Sequence[str], sketch: RMinHash) -> None:
        self._alike.insert(len(self._kept), sketch)
        self._same.setdefault(" ".join(tokens), []).append(len(self._kept))
        self._kept.append(known)

    def _shown(self, numbers: Sequence[int], known: Known) -> Known | None:
        return next((self._kept[number] for number in numbers if known.paths <= self._kept[number].paths), None)

    def _near(self, tokens: Sequence[str], other: Known) -> bool:
        """Compare for certain what the sketches say is alike."""
        mine, theirs = set(self._runs(tokens)), set(self._runs(_tokens(other.code)))
        return len(mine & theirs) >= self._rules.duplicates.similarity * len(mine | theirs)

    def _sketch(self, tokens: Sequence[str]) -> RMinHash:
        sketch = RMinHash(self._rules.duplicates.permutations, self._rules.duplicates.seed)
        sketch.update(list(self._runs(tokens)))
        return sketch

    def _runs(self, tokens: Sequence[str]) -> Iterator[str]:
        """Yield the runs of tokens of a text, or all of it where it is shorter than one."""
        run = self._rules.duplicates.run
        for start in range(max(len(tokens) - run, 0) + 1):
            yield " ".join(tokens[start : start + run])


def _tokens(code: str) -> list[str]:
    """Return the words and signs of code, without imports, comments on lines of their own, and layout."""
    return _TOKEN.findall(_ASIDE.sub("", code))
