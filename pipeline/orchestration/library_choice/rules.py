"""The rule by which libraries are chosen: `curation_rules/libraries.yaml`."""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property
from typing import Annotated

from packaging.utils import canonicalize_name
from pydantic import AfterValidator, Field, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.libraries import Unsuited


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return text


def _normal(name: str) -> str:
    if canonicalize_name(name) != name:
        raise InputError(
            f"write {name!r} as the index normalises it: {canonicalize_name(name)!r}", code="rule_name_invalid"
        )
    return name


Regex = Annotated[str, AfterValidator(_regex)]
Name = Annotated[str, AfterValidator(_normal)]


class Pattern(Rule):
    """What a name, or a summary, says of a library; `matches` and `passes` are texts that it must and must not hit."""

    reason: Unsuited
    name: Regex | None = None
    summary: Regex | None = None
    matches: tuple[str, ...] = Field(min_length=1)
    passes: tuple[str, ...] = Field(min_length=1)
    exceptions: tuple[Name, ...] = Field((), alias="except")

    @model_validator(mode="after")
    def _has_one(self) -> Pattern:
        if (self.name is None) == (self.summary is None):
            raise ValueError("give `name` or `summary`")
        return self

    def hits(self, name: str, summary: str) -> bool:
        """Return whether a library is of this kind."""
        if name in self.exceptions:
            return False
        text, pattern = (summary, self.summary) if self.name is None else (name, self.name)
        return re.search(pattern or "", text) is not None


class ChoosingRules(Rule):
    """Which libraries suit, and how many of them are taken; `since` and `min_releases` say how alive one must be."""

    profile: str
    wanted: int = Field(ge=1)
    since: date
    min_releases: int = Field(ge=1)
    patterns: tuple[Pattern, ...]
    by_hand: dict[Unsuited, dict[Name, str]]

    @model_validator(mode="after")
    def _once(self) -> ChoosingRules:
        names = [name for group in self.by_hand.values() for name in group]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"listed under two reasons: {', '.join(twice)}", code="rule_entry_twice")
        return self

    @cached_property
    def refused_by_hand(self) -> dict[str, tuple[Unsuited, str]]:
        """The libraries that a curator refused: reason and words of each."""
        return {name: (reason, words) for reason, group in self.by_hand.items() for name, words in group.items()}
