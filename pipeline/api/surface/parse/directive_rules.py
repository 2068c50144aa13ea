"""What a curator decides about stated versions: `curation_rules/directives.yaml`."""

from __future__ import annotations

import re

from pydantic import model_validator

from pipeline.api.surface.parse.rules import TextPattern
from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.changes import ChangeKind, DirectiveKind


class Sentence(TextPattern):
    """A line of prose that states what a directive would; the pattern's first group is the version."""

    directive: DirectiveKind


class Words(Rule):
    """A regular expression over the text of a statement; `examples` are texts that it must find, or must not."""

    pattern: re.Pattern[str]
    examples: tuple[str, ...]
    not_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _examples_hold(self) -> Words:
        wrong = [text for text in self.examples if not self.pattern.search(text)]
        wrong += [text for text in self.not_examples if self.pattern.search(text)]
        if wrong:
            raise InputError(f"{self.pattern.pattern!r} is wrong about {wrong}", code="rule_example_wrong")
        return self


class KindWords(Words):
    """Words that say which kinds of change a statement is about."""

    changes: tuple[ChangeKind, ...]


class DirectiveRules(Rule):
    """The rules of `curation_rules/directives.yaml`."""

    worth_reading: re.Pattern[str]
    sentences: tuple[Sentence, ...]
    named_parameter: TextPattern
    replaced_parameter: TextPattern
    about_parts: tuple[Words, ...]
    visible_changes: tuple[KindWords, ...]
    placeholders: re.Pattern[str]

    def about_part(self, text: str) -> bool:
        """Return whether a text says that a statement is about a part: a value, a way of calling, another library."""
        return any(words.pattern.search(text) for words in self.about_parts)

    def kinds_in(self, text: str) -> frozenset[ChangeKind]:
        """Return the kinds of change that a text names, of those that a surface shows."""
        return frozenset(kind for words in self.visible_changes if words.pattern.search(text) for kind in words.changes)
