"""The rules of code samples: the key `samples` of `curation_rules/snippets.yaml`."""

from __future__ import annotations

import re

from pydantic import Field, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import SnippetSource


class DuplicateRules(Rule):
    """When two pieces of code are almost the same: by the share of runs of tokens that they have in common.

    `run` is how many tokens a run has. Of the pairs that share `similarity` (Jaccard), nearly all are found with
    `permutations` hashes in `bands` bands, and each is then compared for certain.
    """

    run: int = Field(ge=1)
    similarity: float = Field(gt=0, le=1)
    permutations: int = Field(ge=16)
    bands: int = Field(ge=1)
    seed: int = Field(ge=0)

    @model_validator(mode="after")
    def _bands_fit(self) -> DuplicateRules:
        if self.permutations % self.bands:
            raise ValueError(f"{self.permutations} permutations cannot be shared out to {self.bands} bands")
        return self


Placeholders = dict[str, dict[str, str]]
"""Placeholders of each rule, by the data that they replace."""


class Redaction(Rule):
    """Personal data or a secret, and what is written in its place.

    What the pattern's group `data` matches is replaced, or all of it where there is no such group. `{n}` in a
    placeholder numbers what differs, so that two addresses stay two. `examples` map texts to what becomes of them,
    `others` stay as they are. Code in which something of the kind is left that runs over several strings is refused
    where the rule says `or_refuse`.
    """

    name: str
    pattern: re.Pattern[str]
    placeholder: str
    examples: dict[str, str] = Field(min_length=1)
    others: tuple[str, ...] = ()
    or_refuse: re.Pattern[str] | None = None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where the data stands in a text."""
        group = "data" if "data" in self.pattern.groupindex else 0
        return [match.span(group) for match in self.pattern.finditer(text) if match.span(group)[0] >= 0]

    def placeholder_for(self, data: str, placeholders: Placeholders) -> str:
        """Return what stands for a piece of data, the same each time; `placeholders` are those so far."""
        of_rule = placeholders.setdefault(self.name, {})
        return of_rule.setdefault(data, self.placeholder.format(n=len(of_rule) + 1))

    @model_validator(mode="after")
    def _examples_hold(self) -> Redaction:
        for text, expected in {**self.examples, **{other: other for other in self.others}}.items():
            if (got := self._applied(text)) != expected:
                raise InputError(f"{self.name}: {text!r} becomes {got!r}, not {expected!r}", code="rule_example_wrong")
        return self

    def _applied(self, text: str) -> str:
        placeholders: Placeholders = {}
        edits = [(start, end, self.placeholder_for(text[start:end], placeholders)) for start, end in self.spans(text)]
        for start, end, placeholder in reversed(edits):
            text = text[:start] + placeholder + text[end:]
        return text


class CodeSampleRules(Rule):
    """What a curator tunes about code of others."""

    max_lines: int = Field(ge=1)
    max_characters: int = Field(ge=1)
    max_line_characters: int = Field(ge=80)
    max_run_lines: int = Field(ge=1)
    max_constant_lines: int = Field(ge=1)
    max_preamble_lines: int = Field(ge=1)
    min_lines_of_other_languages: int = Field(ge=1)
    licence_required: frozenset[SnippetSource]
    duplicates: DuplicateRules
    max_per_api_and_origin: int = Field(ge=1)
    redactions: tuple[Redaction, ...]
