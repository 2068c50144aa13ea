"""What a curator sets about descriptions: `curation_rules/drafting.yaml`."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from pipeline.core.rules.load import Rule


class SpelledNameRules(Rule):
    """When the words of a text give a hidden name away."""

    min_parts: int = Field(ge=1, description="names of fewer parts are spelled by initials alone")
    min_prefix: int = Field(ge=1, description="letters of a part that begins a word")
    shared_letters: int = Field(ge=1, description="first letters that a part and a word have in common")
    min_sharing: int = Field(ge=1, description="letters that both then have at least")
    min_initials: int = Field(ge=1, description="words whose first letters are the name")


class DraftingRules(Rule):
    """The rules of the offline drafter."""

    sentences_tried: int = Field(ge=1)
    predicates_tried: int = Field(ge=1)
    max_sentences: int = Field(ge=1)
    same_sentence: float = Field(gt=0, le=1)
    min_words: int = Field(ge=1)
    max_chars: int = Field(ge=20)
    migration: str = Field(min_length=1)
    placeholder: str = Field(min_length=1)
    min_words_beside_placeholder: int = Field(ge=1)
    words_before_placeholder: int = Field(ge=1)
    not_after_placeholder: frozenset[str]
    verb_after: frozenset[str]
    small_words: frozenset[str] = Field(min_length=1)
    dropped_before: frozenset[str] = Field(min_length=1)
    spelled_name: SpelledNameRules
    min_content_words: int = Field(ge=0)
    min_content_word_length: int = Field(ge=1, description="letters")
    empty_words: frozenset[str]
    verbs: frozenset[str] = Field(min_length=1)
    inflections: tuple[str, ...]
    min_inflected_length: int = Field(ge=2, description="letters")
    name_share_held: float = Field(gt=0, le=1, description="share of a name's letters")
    min_joined_word_length: int = Field(ge=2, description="letters")
    short_words: frozenset[str]
    not_a_description: tuple[re.Pattern[str], ...]
    not_an_addition: tuple[re.Pattern[str], ...]
    tells_result: tuple[re.Pattern[str], ...]
    max_result_sentences: int = Field(ge=0)
    result_types: dict[str, str] = Field(min_length=1, description="word of prose to the type that it names")
    returns: str = Field(min_length=1)
    raises: str = Field(min_length=1)
    parameter_words: frozenset[str] = Field(min_length=1)
    parameter_phrases: dict[str, str] = Field(description="name of a parameter to what prose calls it")
    not_of_argument: tuple[re.Pattern[str], ...]
    clause_words: frozenset[str] = Field(min_length=1)
    introductory_words: frozenset[str]
    abbreviations: tuple[str, ...]

    @field_validator("not_a_description", "not_an_addition", "tells_result", "not_of_argument", mode="after")
    @classmethod
    def _ignore_case(cls, patterns: tuple[re.Pattern[str], ...]) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern.pattern, re.IGNORECASE) for pattern in patterns)
