"""Finding a hidden name in a text, however it is spelled there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from pipeline.llm.rules import DraftingRules, SpelledNameRules

# The words inside identifiers and prose: SplitAt, split_at, split-at and "split at" are all split, at.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
# The words of prose are not parted at capitals: "OrderedDict" does not spell `to_dict`.
_PROSE_WORD = re.compile(r"[^\W_]+")
# A name that is no part of an expression, such as those of `len(xs)` and `d[key]`, and not in backticks.
_OUTSIDE_CODE = re.compile(r"(?<![\w.`])(?<!\w[(\[])[^\W\d]\w*(?![\w`(\[=])")
_GAP = re.compile(r"[\s_.\-/]*")
_ARTICLES = frozenset({"a", "an", "the"})
_ARTICLE = re.compile(r"\b(?:an?|the)\b", re.IGNORECASE)

Span = tuple[int, int]


def find_names(text: str, names: Iterable[str], rules: DraftingRules) -> list[Span]:
    """Return where a text gives away one of the names, as spans in order that do not overlap.

    A name is given away by its words in their order (snake, camel, hyphenated, dotted, or as prose with articles), by
    its letters with the words parted elsewhere (`ipaddress`: "IP address"), and by an inflected form (`atomic_save`:
    AtomicSaver; `finalize_version`: "the finalized version").
    """
    words = list(_WORD.finditer(text))
    spans = sorted(
        {span for name in names for find in (_find, _find_inflected) for span in find(text, words, name, rules)}
    )
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def redact(text: str, names: Iterable[str], rules: DraftingRules) -> str:
    """Return the text with the rules' placeholder where it gave a name away."""
    return _without_spans(text, find_names(text, names, rules), rules)


def _without_spans(text: str, spans: Iterable[Span], rules: DraftingRules) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], rules.placeholder]
        at = end
    return "".join([*parts, text[at:]])


def cut_names(text: str, names: Sequence[str], rules: DraftingRules) -> str:
    """Return a text without the names, as `redact` does, that reads as a sentence where that gives nothing away.

    Articles and prepositions that a name begins with stay: "is a valid date" without `is_valid` is "is a [API] date".
    The placeholder goes where the sentence is one without it, too: "in a [API] object", "is [API] in the set".
    """
    spans = find_names(text, names, rules)
    spans = [(start + _length_of_small_words(text[start:end], rules), end) for start, end in spans]
    cut = _without_spans(text, spans, rules)
    if find_names(cut.replace(rules.placeholder, ", , "), names, rules):
        return redact(text, names, rules)
    smooth = _without_needless(cut, rules)
    return cut if find_names(smooth, names, rules) else smooth


def find_code_names(text: str, names: Collection[str], in_code: Collection[str], rules: DraftingRules) -> list[Span]:
    """Return where a text names parameters or APIs, as spans in order; a word of English may be spelled alike.

    A name counts where it has an underscore or one letter, where the text's source sets it apart as code (`in_code`),
    and beside a word such as "argument".
    """
    words = "|".join(map(re.escape, sorted(rules.parameter_words)))
    spans: list[Span] = []
    for match in _OUTSIDE_CODE.finditer(text) if names else ():
        if match[0] not in names:
            continue
        before = re.search(rf"(?<![\w-])(?:{words})\s+$", text[: match.start()], re.IGNORECASE)
        after = re.match(rf"\s+(?:{words})\b", text[match.end() :], re.IGNORECASE)
        if "_" in match[0] or (len(match[0]) == 1 and match[0] not in "aAI") or match[0] in in_code or before or after:
            spans.append(match.span())
    return spans


def without_parameters(text: str, names: Collection[str], rules: DraftingRules) -> str:
    """Return a sentence without the part that has one of the names as code; "" where that is all of it, or its head."""
    places = [place for name in names if (place := text.find(f"`{name}`")) >= 0]
    if not places:
        return text
    words = "|".join(map(re.escape, sorted(rules.clause_words)))
    clauses = list(re.finditer(rf", (?:{words}|\w+ing)\b| \((?=[^)]*$)", text[: min(places)], re.IGNORECASE))
    before = "|".join(map(re.escape, sorted(rules.clause_words | rules.introductory_words)))
    if not clauses or re.match(rf"(?:{before})\b", text, re.IGNORECASE):
        return ""
    rest = text[min(places) :].partition(")")[2] if clauses[-1][0] == " (" else ""
    cut = text[: clauses[-1].start()] + rest
    return without_parameters(cut if cut.endswith(".") else f"{cut}.", names, rules)


def content_words(text: str, rules: DraftingRules) -> set[str]:
    """Return the stems of the words of a text that say something: not those that any description may hold."""
    empty = {stem(word, rules.inflections) for word in rules.empty_words}
    words = re.findall(rf"[^\W\d_]{{{rules.min_content_word_length},}}", text.replace(rules.placeholder, " "))
    return {stem(word, rules.inflections) for word in words} - empty


def is_specific(text: str, rules: DraftingRules) -> bool:
    """Return whether a text has as many words that say something as the rules ask for."""
    return len(content_words(text, rules)) >= rules.min_content_words


def holds_root(text: str, names: Iterable[str], rules: DraftingRules) -> bool:
    """Return whether a text has another word of the root of a name: "uniqueness" where `unique` is hidden."""
    letters = "".join(re.findall(r"\w", text.replace("_", ""))).casefold()
    roots = (stem("".join(word[0] for word in _WORD.finditer(name)), rules.inflections) for name in names)
    return any(len(root) >= rules.min_inflected_length and root in letters for root in roots)


def holds_words(text: str, names: Iterable[str], rules: DraftingRules) -> bool:
    """Return whether a text has most of a name in two words or more, in any order and form.

    "Base class used for declarative class definitions" says as much as DeclarativeBase, and "HTML-unsafe characters
    are safe in it" as much as the first word of `htmlsafe_dumps`. A word may stand for a longer one: "the minimum
    length" says `min_length`. A name that is one word of the text beside small ones, such as `is_bound`, is no case of
    this: its word may be in any sentence on it.
    """
    held = {stem(word[0], rules.inflections) for word in _WORD.finditer(text)}
    spelled = {word[0].casefold() for word in _WORD.finditer(text)} - rules.small_words
    for name in names:
        words = {word[0].casefold() for word in _WORD.finditer(name)} - rules.small_words
        counts = {word: _held_words(word, held, spelled, rules) for word in words}
        letters = sum(len(word) for word, count in counts.items() if count)
        if sum(counts.values()) > 1 and letters >= rules.name_share_held * sum(map(len, words)):
            return True
    return False


def _held_words(word: str, held: Collection[str], spelled: Collection[str], rules: DraftingRules) -> int:
    """Return how many words of a text, by their stems and as they are spelled, say a word of a name."""
    is_shortened = word in rules.short_words and any(each.startswith(word) for each in spelled)
    is_held = stem(word, rules.inflections) in held or is_shortened
    return 1 if is_held else _joined_words(word, spelled, rules)


def _joined_words(name: str, spelled: Collection[str], rules: DraftingRules) -> int:
    """Return of how many words of a text a name is made without a letter beside them, 0 if it is not."""
    for word in spelled:
        if len(word) >= rules.min_joined_word_length and name.startswith(word):
            rest = name.removeprefix(word)
            if not rest:
                return 1
            if count := _joined_words(rest, spelled, rules):
                return 1 + count
    return 0


def _length_of_small_words(spelled: str, rules: DraftingRules) -> int:
    """Return how many characters of a spelled name are words that give nothing away, if others follow."""
    small = "|".join(sorted(map(re.escape, rules.small_words)))
    return re.match(rf"(?:(?:{small})\s+)*", spelled, re.IGNORECASE).end()  # type: ignore[union-attr]  # may be empty


def _without_needless(text: str, rules: DraftingRules) -> str:
    """Drop the placeholder before a noun with an indefinite article, and between a verb and a preposition."""
    hole = re.escape(rules.placeholder)
    inside = "|".join(map(re.escape, sorted(rules.dropped_before)))
    verbs = "|".join(map(re.escape, sorted(rules.verb_after)))
    text = re.sub(rf"\b({verbs}) {hole} (?=(?:{inside})\b)", r"\1 ", text)
    if not is_specific(text, rules):
        return text
    # Of the next word "an hour" and "a unit" depend on how it is spoken; initials are spelled out.
    for match in reversed(list(re.finditer(rf"\b(an?|given|new) {hole} (\w[\w-]*)", text))):
        before, noun = match.groups()
        if noun.casefold() in rules.not_after_placeholder:
            continue
        if before in ("a", "an"):
            before = "an" if re.match(r"[aeio]|[AEFHILMNORSX](?=[A-Z]|\b)|un(?!i)", noun) else "a"
        text = f"{text[: match.start()]}{before} {noun}{text[match.end() :]}"
    return text


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


def _find_inflected(text: str, words: Sequence[re.Match[str]], name: str, rules: DraftingRules) -> Iterator[Span]:
    parts = [stem(word[0], rules.inflections) for word in _WORD.finditer(name)]
    letters = text.casefold()
    # A stem keeps the first letters: most texts have not those of all words, and need no stems.
    if len(parts) < 2 or not all(part[:3] in letters for part in parts):
        return
    others = [(stem(word[0], rules.inflections), *word.span()) for word in words if word[0].casefold() not in _ARTICLES]
    for place in range(len(others) - len(parts) + 1):
        window = others[place : place + len(parts)]
        between = [text[before[2] : after[1]] for before, after in itertools.pairwise(window)]
        if [word for word, _, _ in window] == parts and all(_GAP.fullmatch(_ARTICLE.sub("", gap)) for gap in between):
            yield window[0][1], window[-1][2]


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


def spelling_words(name: str, text: str, rules: SpelledNameRules) -> list[str]:
    """Return the words of a text that spell all parts of a name, or the whole of it by their first letters.

    None where a part is missing.
    """
    words = _PROSE_WORD.findall(text)
    parts = [part.casefold() for part in _WORD.findall(name)]
    distinct = list(dict.fromkeys(words))
    matches = [_spelling(part, distinct, rules) for part in parts]
    spelled = [word for word in matches if word is not None]
    if len(spelled) == len(parts) >= rules.min_parts:
        return spelled
    letters = len(name)
    runs = (words[start : start + letters] for start in range(len(words) - letters + 1))
    by_letters = (run for run in runs if "".join(word[0] for word in run).casefold() == name.casefold())
    return next(by_letters, []) if letters >= rules.min_initials else []


def _spelling(part: str, words: Collection[str], rules: SpelledNameRules) -> str | None:
    """Return the word that says a part of a name: the same one before another that only begins alike."""
    same = (word for word in words if word.casefold() == part)
    alike = (word for word in words if _begins_alike(part, word.casefold(), rules))
    return next(same, None) or next(alike, None)


def _begins_alike(part: str, word: str, rules: SpelledNameRules) -> bool:
    if len(part) >= rules.min_prefix and word.startswith(part):
        return True
    sharing = min(len(part), len(word)) >= rules.min_sharing
    return sharing and part[: rules.shared_letters] == word[: rules.shared_letters]
