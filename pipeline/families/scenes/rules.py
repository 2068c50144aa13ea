"""What a curator sets about editor scenes: `curation_rules/scenes.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.scenes import Scene


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
    per_type: int = Field(ge=0)
    per_function: int = Field(ge=1)
    per_scene: int = Field(ge=0)
    max_tests: int = Field(ge=1)
    further_tests: int = Field(ge=1)
    test_time_s: float = Field(gt=0)
    noticed_as: frozenset[TestOutcome] = Field(min_length=1)
    text_letters: int = Field(ge=1)
    related: RelatedRules
