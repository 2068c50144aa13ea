"""What is there already is found, in whatever order it comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.snippets.duplicates import IndexedSnippet, Library
from pipeline.corpus.snippets.rules import SnippetRules

SAMPLE_RULES = load(RULES / "snippets.yaml", SnippetRules).samples
LONG = "def total(frame, column):\n    values = frame[column].dropna()\n    return lib.add(values.sum(), values.count(), 0)\n"


def offers(*codes: tuple[str, str, set[str]], limit: int = 1) -> list[str | None]:
    """What becomes of (origin, code, paths), one after the other."""
    library = Library(SAMPLE_RULES.model_copy(update={"max_per_api_and_origin": limit}))
    refused = [
        library.offer(IndexedSnippet(code, frozenset(paths), f"{origin}:{code}"), origin)
        for origin, code, paths in codes
    ]
    return [refusal[0].value if isinstance(refusal, tuple) else None for refusal in refused]


CASES = [
    ([("a", LONG, {"lib.add"}), ("b", LONG, {"lib.add"})], [None, "duplicate"]),
    ([("a", LONG, {"lib.add"}), ("b", LONG.replace("    ", "  "), {"lib.add"})], [None, "duplicate"]),
    ([("a", LONG, {"lib.add"}), ("b", f"# by b\n{LONG}", {"lib.add"})], [None, "duplicate"]),
    ([("a", LONG, {"lib.add"}), ("b", LONG.replace("0)", "1)"), {"lib.add"})], [None, "near_duplicate"]),
    ([("a", LONG, {"lib.add"}), ("b", LONG.replace("values", "rows"), {"lib.add"})], [None, None]),
    ([("a", LONG, {"lib.add"}), ("b", LONG, {"lib.plus"})], [None, None]),
    ([("a", LONG, {"lib.add", "lib.x"}), ("b", LONG, {"lib.add"})], [None, "duplicate"]),
    ([("a", LONG, {"lib.add"}), ("b", LONG, {"lib.add", "lib.x"})], [None, None]),
    ([("a", LONG, {"lib.add"}), ("a", "lib.add(1)\n", {"lib.add"})], [None, "over_quota"]),
    ([("a", LONG, {"lib.add"}), ("b", "lib.add(1)\n", {"lib.add"})], [None, None]),
    ([("a", LONG, {"lib.add"}), ("a", "lib.add(lib.x)\n", {"lib.add", "lib.x"})], [None, None]),
    ([("a", "var x = 1;\nf(x);\n", set()), ("a", "var y = 2;\ng(y);\n", set())], [None, None]),
    ([("a", "f(x)", set()), ("b", "f(x)", set())], [None, "duplicate"]),
]


@pytest.mark.parametrize(("codes", "expected"), CASES)
def test_code_without_new_apis_is_refused(codes: list[tuple[str, str, set[str]]], expected: list[str | None]) -> None:
    assert offers(*codes) == expected


def test_an_origin_may_demonstrate_an_api_as_often_as_the_rule_allows() -> None:
    codes = [("a", f"lib.add({number})\n" * (number + 1), {"lib.add"}) for number in (1, 20, 300)]
    assert offers(*codes, limit=2) == [None, None, "over_quota"]


def test_permanent_snippets_do_not_count_for_an_origin() -> None:
    library = Library(SAMPLE_RULES)
    library.add(IndexedSnippet(LONG, frozenset({"lib.add"}), "lib.add in 1.0"))
    refusal = library.offer(IndexedSnippet(LONG, frozenset({"lib.add"}), "x"), "a")
    assert isinstance(refusal, tuple)
    assert refusal[1] == "the same code stands at lib.add in 1.0"
    assert library.offer(IndexedSnippet("lib.add(1, 2)\n", frozenset({"lib.add"}), "x"), "a") == frozenset({"lib.add"})
    assert library.offer(IndexedSnippet("lib.add(lib.x)\n", frozenset({"lib.add", "lib.x"}), "x"), "a") == frozenset(
        {"lib.x"}
    )


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]), min_size=1, max_size=30
)


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_accepted_snippets_are_never_alike(texts: list[list[str]]) -> None:
    """The sketches miss next to nothing: no two kept texts share more than the rule's share of runs."""
    library = Library(SAMPLE_RULES)
    accepted = [
        text for text in texts if library.offer(IndexedSnippet(" ".join(text), frozenset(), ""), "a") == frozenset()
    ]
    runs = [{tuple(text[i : i + 3]) for i in range(max(len(text) - 3, 0) + 1)} for text in accepted]
    pairs = [(first, other) for at, first in enumerate(runs) for other in runs[:at]]
    assert all(len(first & other) < SAMPLE_RULES.duplicates.similarity * len(first | other) for first, other in pairs)
