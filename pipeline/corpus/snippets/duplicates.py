"""What is there already: the same code, almost the same, or another example of an API by the same origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.snippets.code_sample_rules import CodeSampleRules
from pipeline.corpus.snippets.similarity import Likeness, tokens


@dataclass(frozen=True, slots=True)
class IndexedSnippet:
    """A snippet that was kept: its code, the APIs that it shows, where it stands."""

    code: str
    paths: frozenset[str]
    place: str


class Library:
    """The snippets of a library that were kept so far; whoever comes first stays.

    Code is there already where it shows no API that the code which is like it does not show: an example that differs
    in one API is how two versions differ, however alike the rest is. Time and memory grow with the number of snippets.
    """

    def __init__(self, rules: CodeSampleRules) -> None:
        self._rules = rules
        self._snippets: list[IndexedSnippet] = []
        self._same: dict[str, list[int]] = {}
        self._examples: Counter[tuple[str, str]] = Counter()
        self._alike = Likeness(rules.duplicates)

    def add(self, snippet: IndexedSnippet) -> None:
        """Take a snippet that stays whatever is there."""
        self._keep(snippet, tokens(snippet.code))

    def offer(self, snippet: IndexedSnippet, origin: str) -> frozenset[str] | tuple[RejectReason, str]:
        """Keep a snippet and return the APIs that it is an example of, or return why it is not needed."""
        code = tokens(snippet.code)
        if same := self._covering(self._same.get(" ".join(code), ()), snippet):
            return RejectReason.DUPLICATE, f"the same code stands at {same.place}"
        if other := self._covering(self._alike.near(code), snippet):
            return RejectReason.NEAR_DUPLICATE, f"almost the same code stands at {other.place}"
        new = frozenset(path for path in snippet.paths if not self._full(origin, path))
        if snippet.paths and not new:
            return RejectReason.OVER_QUOTA, f"{origin} shows {', '.join(sorted(snippet.paths))} already"
        self._examples.update((origin, path) for path in new)
        self._keep(snippet, code)
        return new

    def _full(self, origin: str, path: str) -> bool:
        return self._examples[origin, path] >= self._rules.max_per_api_and_origin

    def _keep(self, snippet: IndexedSnippet, code: Sequence[str]) -> None:
        self._alike.add(len(self._snippets), code)
        self._same.setdefault(" ".join(code), []).append(len(self._snippets))
        self._snippets.append(snippet)

    def _covering(self, numbers: Sequence[int], snippet: IndexedSnippet) -> IndexedSnippet | None:
        return next(
            (self._snippets[number] for number in numbers if snippet.paths <= self._snippets[number].paths), None
        )
