"""What a curator sets about editor scenes: `curation_rules/scenes.yaml`."""

from __future__ import annotations

import re

from pydantic import Field, model_validator

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.scenes import Scene


class ToolComments(Rule):
    """Comments that are no prose, by their first line; `examples` match the pattern, `not_examples` do not."""

    pattern: re.Pattern[str]
    examples: tuple[str, ...] = Field(min_length=1)
    not_examples: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _as_shown(self) -> ToolComments:
        wrong = [text for text in self.examples if not self.pattern.search(text)]
        wrong += [text for text in self.not_examples if self.pattern.search(text)]
        if wrong:
            raise ValueError(f"the pattern does the opposite of what its examples say: {wrong}")
        return self


class RelatedRules(Rule):
    """What the scenes 3 and 4 rely on."""

    max_definitions: int = Field(ge=1)
    max_lines: int = Field(ge=1, description="physical lines of a definition or like block")
    run: int = Field(ge=1, description="tokens")
    min_tokens: int = Field(ge=1)
    min_similarity: float = Field(gt=0, le=1)
    max_share: float = Field(gt=0, le=1)


class SceneRules(Rule):
    """The rules of editor scenes."""

    scenes: frozenset[Scene] = Field(min_length=1)
    max_file_length: int = Field(ge=1, description="characters")
    min_length: int = Field(ge=1, description="characters")
    max_lines: int = Field(ge=1, description="physical lines")
    min_comment_length: int = Field(ge=1, description="characters")
    tool_comments: ToolComments
    per_type: int = Field(ge=0)
    per_function: int = Field(ge=1)
    per_scene: int = Field(ge=0)
    max_tests: int = Field(ge=1)
    further_tests: int = Field(ge=1)
    test_time_s: float = Field(gt=0)
    noticed_as: frozenset[TestOutcome] = Field(min_length=1)
    related: RelatedRules
