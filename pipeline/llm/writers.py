"""Who writes a text: the offline drafter here, and whatever else takes the same request."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from pipeline.core.vocabularies.samples import Drafter, DraftField
from pipeline.corpus.prose import names_in_code, sentences
from pipeline.lake.guard import attempt
from pipeline.lake.ids import sha256_json
from pipeline.lake.stage import Reject
from pipeline.llm.names import (
    content_words,
    cut_names,
    find_code_names,
    find_names,
    holds_root,
    holds_words,
    is_specific,
    stem,
    without_parameters,
)
from pipeline.llm.rules import DraftingRules

_NOUNS = "(?:function|method|class|type|object|decorator|constructor|helper|exception)"
"""What a sentence may call the API beside its name."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a text is asked for: the field, the names that it must not give away, the docstrings that bear on the
    code (the most telling first), and the code itself.

    `fallback` is the text where no sentence describes the code without a name; without one such a sentence is cut.
    `of_argument` are sentences on a hidden argument itself; one of them says more than any on its function.
    `of_result` are sentences on what comes out, None where the text need not say that. No part of a sentence is taken
    that has a name of `omitted` as code, a parameter which the code does not pass; one that names another API, of
    `others`, is the last choice.
    """

    subject_id: str
    field: DraftField
    hidden: tuple[str, ...]
    docstrings: tuple[str, ...]
    code: str
    fallback: str | None = None
    of_argument: tuple[str, ...] = ()
    of_result: tuple[str, ...] | None = None
    omitted: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    @property
    def in_code(self) -> frozenset[str]:
        """The names that the docstrings set apart as code."""
        return names_in_code(self.docstrings)


@dataclass(frozen=True, slots=True)
class Text:
    """What was written, by whom, and the hash of what it was written from.

    What a model wrote has the tokens and the nano-dollars of all its tries; texts that say the same share them.
    """

    text: str
    redacted: bool
    drafter: Drafter
    model: str | None
    prompt_sha256: str
    tokens: int | None = None
    nano_usd: int | None = None


class RefusalColumns(TypedDict):
    """The columns that every table of refused drafts has."""

    problem: str
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no text of a model stands there, though one was asked for: what was wrong with its last answer.

    `waiting` says that it has not answered yet, and that a later run asks again.
    """

    problem: str
    waiting: bool
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

    @property
    def columns(self) -> RefusalColumns:
        """The columns of it that every table of refused drafts has."""
        return {
            "problem": self.problem,
            "model": self.model,
            "prompt_sha256": self.prompt_sha256,
            "tries": self.tries,
            "tokens": self.tokens,
            "nano_usd": self.nano_usd,
        }


@dataclass(frozen=True, slots=True)
class WriterResult:
    """What came of a request: the text, None where nobody can write one; and what became of a model that was asked.

    `failure` is the reject of a request at which an exception was raised.
    """

    text: Text | None
    refusal: Refusal | None = None
    failure: Reject | None = None


class Writer(Protocol):
    """Anything that can write texts for requests, all at once, as a model is asked for many in one go."""

    def write(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write a text for each request, in their order."""


class Improver(Writer, Protocol):
    """A writer that those can use who choose among texts first, and have only what they take improved."""

    def write_offline(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write what costs nothing."""

    def improve(self, requests: Sequence[Request], written: Sequence[WriterResult]) -> list[WriterResult]:
        """Write better what was written offline, where somebody can; the rest stays."""


@dataclass(frozen=True, slots=True)
class OfflineWriter:
    """Takes a sentence of each docstring that does not give a hidden name away, or else cuts the name out of one."""

    rules: DraftingRules

    def write(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write descriptions from docstrings by rules; none where they hold no sentence that describes anything."""
        texts = [attempt(request.subject_id, self.text, request) for request in requests]
        return [
            WriterResult(None, failure=result) if isinstance(result, Reject) else WriterResult(result)
            for result in texts
        ]

    def write_offline(self, requests: Sequence[Request]) -> list[WriterResult]:
        """Write, which costs nothing here."""
        return self.write(requests)

    def improve(self, requests: Sequence[Request], written: Sequence[WriterResult]) -> list[WriterResult]:
        """Return what was written: there is no better."""
        return list(written)

    def text(self, request: Request) -> Text | None:
        """Write one text."""
        described = [
            candidates for docstring in request.docstrings if (candidates := self._describing(docstring, request))
        ]
        clean = [next((text for text in candidates if self._is_clean(text, request)), None) for candidates in described]
        of_argument = self._of_argument(request)
        free = [*of_argument, *(text for text in clean if text is not None)]
        chosen = self._different(free)[: self.rules.max_sentences]
        if len(chosen) == 1:
            chosen += self._addition(chosen[0], request)
        if not chosen and request.fallback is not None:
            chosen = [request.fallback]
        redacted = not chosen or any(self.rules.placeholder in text for text in of_argument)
        if not chosen:
            chosen = next(filter(None, (self._cut(text, request) for texts in described for text in texts)), [])
        if not chosen:
            return None
        # What a sentence on an argument says is clear after what its function does.
        chosen = sorted(chosen, key=lambda text: text in of_argument)
        chosen += self._results(chosen, request)
        inputs = [request.field, request.hidden, request.docstrings]
        # Requests without these keep their hash, by which paid texts are found again.
        inputs += [each for each in (request.of_argument, request.fallback) if each]
        if request.of_result is not None:
            inputs += [request.of_result, sorted(request.omitted), sorted(request.others)]
        source = sha256_json(inputs)
        return Text(" ".join(chosen), redacted, Drafter.OFFLINE, None, source)

    def _of_argument(self, request: Request) -> list[str]:
        """Return the first sentence on a hidden argument that says enough without its name, if there is one."""
        texts = [(cut_names(text, request.hidden, self.rules), text) for text in request.of_argument]
        sized = [(cut, text) for cut, text in texts if self._is_sized(cut) and is_specific(cut, self.rules)]
        for cut, _ in sorted(sized, key=lambda pair: pair[0] != pair[1]):
            if cut.count(self.rules.placeholder) <= 1 and self._is_clean(cut, request):
                return [_closed(cut[:1].upper() + cut[1:])]
        return []

    def _cut(self, text: str, request: Request) -> list[str]:
        """Return a sentence without the names in it, and the next one where it says too little; nothing if both do.

        A statement of a problem may have the words of a name that its code hides; beside code with a hole they fill it.
        """
        cut = cut_names(text, request.hidden, self.rules)
        gives_away = request.of_result is None and holds_words(cut, request.hidden, self.rules)
        if gives_away or not self._still_describes(cut, request.field):
            return []
        if request.field is DraftField.QUERY or self.rules.placeholder not in cut or is_specific(cut, self.rules):
            return [cut]
        addition = self._addition(text, request)
        return [cut, *addition] if is_specific(" ".join([cut, *addition]), self.rules) else []

    def _describing(self, docstring: str, request: Request) -> Sequence[str]:
        """Return the sentences at the beginning of a docstring that describe something.

        Of a sentence whose subject is a hidden name its predicate is taken: "`merge` joins lists." says "Joins lists."
        """
        texts = [
            without_parameters(text, request.omitted, self.rules)
            for text in sentences(docstring, self.rules.abbreviations)
        ]
        predicates = [self._predicate(text, request.hidden) for text in texts[: self.rules.predicates_tried]]
        described = [
            _closed(predicate or text)
            for number, (text, predicate) in enumerate(zip(texts, predicates, strict=False))
            if self._describes(predicate or text)
            and (predicate or number == 0 or (number < self.rules.sentences_tried and self._begins_with_verb(text)))
        ]
        return sorted(described, key=lambda text: self._speaks_of_others(text, request))

    def _results(self, chosen: Sequence[str], request: Request) -> list[str]:
        """Return further sentences on what comes out, as far as they say more and give no name away."""
        if request.of_result is None:
            return []
        later = [text for each in request.docstrings for text in sentences(each, self.rules.abbreviations)]
        later = [text for text in later if "`" in text or _matches(self.rules.tells_result, text)]
        results: list[str] = []
        for text in (without_parameters(text, request.omitted, self.rules) for text in (*later, *request.of_result)):
            before = " ".join([*chosen, *results])
            if len(results) < self.rules.max_result_sentences and self._adds(text, before, request):
                results.append(_closed(text))
        return results

    def _speaks_of_others(self, text: str, request: Request) -> bool:
        return bool(find_code_names(text, request.others, request.in_code, self.rules))

    def _addition(self, text: str, request: Request) -> list[str]:
        """Return the sentence behind one that says too little, if it says more and gives no name away."""
        if request.field is DraftField.QUERY or is_specific(cut_names(text, request.hidden, self.rules), self.rules):
            return []
        for docstring in request.docstrings:
            for before, after in itertools.pairwise(sentences(docstring, self.rules.abbreviations)):
                if _closed(before) == text:
                    return [_closed(after)] if self._adds(after, text, request) else []
        return []

    def _adds(self, text: str, other: str, request: Request) -> bool:
        new_words = content_words(text, self.rules) - content_words(other, self.rules)
        is_free = self._is_clean(text, request) and not holds_root(text, request.hidden, self.rules)
        is_free = is_free and not self._speaks_of_others(text, request)
        is_free = is_free and text == without_parameters(text, request.omitted, self.rules)
        return is_free and self._is_sized(text) and bool(new_words) and not _matches(self.rules.not_an_addition, text)

    def _predicate(self, text: str, hidden: Sequence[str]) -> str | None:
        """Return what a sentence says of a hidden name that is its subject, as a sentence that begins with a verb."""
        if clause := self._relative_clause(text, hidden):
            return clause
        for name in hidden:
            subject = re.search(rf"(?:^|, )(?:the )?{re.escape(name)}(?:\(\))?(?: {_NOUNS})?,? ", text, re.IGNORECASE)
            if subject is not None:
                rest = re.sub(r"^(?:is|was) used (?:to )?|^is (?=an? |the )", "", text[subject.end() :])
                # An imperative is no predicate: "Add a value" says of `add` nothing beside its name.
                is_predicate = rest != text[subject.end() :] or rest.split(" ")[0].endswith("s")
                if is_predicate and (rest.startswith(("a ", "an ", "the ")) or self._begins_with_verb(rest)):
                    return rest[:1].upper() + rest[1:]
        return None

    def _relative_clause(self, text: str, hidden: Sequence[str]) -> str | None:
        """Return what a noun with a hidden name does: "A general outer product that applies it." says "Applies it."."""
        for _, end in find_names(text, hidden, self.rules)[:1]:
            clause = re.match(rf"(?: {_NOUNS})? (?:that|which) (\w+s\b.*)", text[end:])
            if clause and re.match(r"(?:an?|the)\b", text, re.IGNORECASE) and self._begins_with_verb(clause[1]):
                return clause[1][:1].upper() + clause[1][1:]
        return None

    def _begins_with_verb(self, text: str) -> bool:
        stems = {stem(verb, self.rules.inflections) for verb in self.rules.verbs}
        return bool(text) and stem(text.split()[0], self.rules.inflections) in stems

    def _different(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without those that say nearly the same as one before them."""
        distinct: list[str] = []
        for text in texts:
            if all(difflib.SequenceMatcher(None, text, other).ratio() < self.rules.same_sentence for other in distinct):
                distinct.append(text)
        return distinct

    def _describes(self, text: str) -> bool:
        return self._is_sized(text) and not _matches(self.rules.not_a_description, text)

    def _is_sized(self, text: str) -> bool:
        return len(text) <= self.rules.max_chars and len(text.split()) >= self.rules.min_words

    def _is_clean(self, text: str, request: Request) -> bool:
        return not find_names(text, request.hidden, self.rules) and not holds_words(text, request.hidden, self.rules)

    def _still_describes(self, text: str, field: DraftField) -> bool:
        if self.rules.placeholder not in text:
            return True
        before, _, after = text.partition(self.rules.placeholder)
        beside = len(text.replace(self.rules.placeholder, " ").split())
        if field is DraftField.QUERY:
            # A query stands for an expression whose place in the program shows the rest.
            verbs = "|".join(map(re.escape, sorted(self.rules.verb_after)))
            # "An [API] was found": nothing is left of what it does.
            subject = rf"((an?|the) )?{re.escape(self.rules.placeholder)} ({verbs})\b"
            return beside >= self.rules.min_words and not re.match(subject, text, re.IGNORECASE)
        # As the head of its object, or as what is said of a subject, the name says what the code does; before another
        # noun it only adds to that.
        head = not re.match(r" \w", after) or after.split()[0].casefold() in self.rules.not_after_placeholder
        enough = (
            beside >= self.rules.min_words_beside_placeholder
            and len(before.split()) >= self.rules.words_before_placeholder
        )
        return enough and not head and self._begins_with_verb(text) and text.count(self.rules.placeholder) == 1


def _matches(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(pattern.match(text) for pattern in patterns)


def _closed(text: str) -> str:
    """Return a sentence with a full stop, also where it led up to an example with a colon."""
    text = text.rstrip(" :;,")
    return text if text.endswith((".", "!", "?", '."', ".)")) else text + "."
