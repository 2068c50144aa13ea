"""What is there already: the same code, almost the same, or another example of an API by the same origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.snippets.code_sample_rules import FoundRules
from pipeline.corpus.snippets.similarity import Likeness, tokens


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
        self._alike = Likeness(rules.duplicates)

    def add(self, known: Known) -> None:
        """Take a snippet that stays whatever is there."""
        self._keep(known, tokens(known.code))

    def offer(self, known: Known, origin: str) -> frozenset[str] | tuple[RejectReason, str]:
        """Keep a snippet and return the APIs that it is an example of, or return why it is not needed."""
        code = tokens(known.code)
        if same := self._shown(self._same.get(" ".join(code), ()), known):
            return RejectReason.DUPLICATE, f"the same code stands at {same.place}"
        if other := self._shown(self._alike.near(code), known):
            return RejectReason.NEAR_DUPLICATE, f"almost the same code stands at {other.place}"
        new = frozenset(path for path in known.paths if not self._full(origin, path))
        if known.paths and not new:
            return RejectReason.OVER_QUOTA, f"{origin} shows {', '.join(sorted(known.paths))} already"
        self._examples.update((origin, path) for path in new)
        self._keep(known, code)
        return new

    def _full(self, origin: str, path: str) -> bool:
        return self._examples[origin, path] >= self._rules.max_per_api_and_origin

    def _keep(self, known: Known, code: Sequence[str]) -> None:
        self._alike.add(len(self._kept), code)
        self._same.setdefault(" ".join(code), []).append(len(self._kept))
        self._kept.append(known)

    def _shown(self, numbers: Sequence[int], known: Known) -> Known | None:
        return next((self._kept[number] for number in numbers if known.paths <= self._kept[number].paths), None)
