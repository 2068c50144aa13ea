"""Finding a hidden name in a text, however it is spelled there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pipeline.llm.rules import DraftingRules

# The words inside identifiers and prose: SplitAt, split_at, split-at and "split at" are all split, at.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_GAP = re.compile(r"[\s_.\-/]*")
_ARTICLES = frozenset({"a", "an", "the"})

Span = tuple[int, int]


def find_names(text: str, names: Iterable[str], rules: DraftingRules) -> list[Span]:
    """Return where a text gives away one of the names, as spans in order that do not overlap.

    A name is given away by its words in their order (snake, camel, hyphenated, dotted, or as prose with articles), by
    its letters with the words parted elsewhere (`ipaddress`: "IP address"), and by an inflected form (`atomic_save`:
    AtomicSaver).
    """
    words = list(_WORD.finditer(text))
    spans = sorted({span for name in names for span in _find(text, words, name, rules)})
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def redact(text: str, names: Iterable[str], rules: DraftingRules) -> str:
    """Return the text with the rules' placeholder where it gave a name away."""
    parts, at = [], 0
    for start, end in find_names(text, names, rules):
        parts += [text[at:start], rules.placeholder]
        at = end
    return "".join([*parts, text[at:]])


def _find(text: str, words: Sequence[re.Match[str]], name: str, rules: DraftingRules) -> Iterator[Span]:
    letters = "".join(word[0] for word in _WORD.finditer(name)).casefold()
    inflected = stem(letters, rules.inflections) if len(letters) >= rules.min_inflected_length else None
    for first, word in enumerate(words):
        spelled = ""
        for last in range(first, len(words)):
            if last > first and not _GAP.fullmatch(text, words[last - 1].end(), words[last].start()):
                break
            added = words[last][0].casefold()
            if last > first and added in _ARTICLES and not letters.startswith(spelled + added):
                continue
            spelled += added
            if spelled == letters or stem(spelled, rules.inflections) == inflected:
                yield word.start(), words[last].end()
            if not letters.startswith(spelled):
                break


def stem(word: str, inflections: Sequence[str]) -> str:
    """Return what the inflected forms of an English word have in common, roughly: chunked, chunks and chunk agree."""
    word = word.casefold()
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + "y"
    for ending in sorted(inflections, key=lambda text: (-len(text), text)):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            word = word.removesuffix(ending)
            break
    if len(word) >= 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("e") if len(word) >= 4 else word
