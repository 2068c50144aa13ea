"""What a curator decides about changes: their tags in the benchmarks' vocabularies, and how sure is sure enough."""

from __future__ import annotations

import re
from typing import Annotated

import griffe
from pydantic import Field, field_validator, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.changes import (
    OF_TYPES,
    ChangeKind,
    GitChameleonCategory,
    LibEvolutionEvalTag,
    VersiCodeTag,
)

Share = Annotated[float, Field(gt=0, le=1)]


class KindTags(Rule):
    """What one kind of change is called in each vocabulary."""

    breaking: bool
    versicode: VersiCodeTag
    libevolutioneval: LibEvolutionEvalTag
    gitchameleon: GitChameleonCategory | None = None
    griffe: str | None = None

    @field_validator("griffe")
    @classmethod
    def _is_griffe_kind(cls, value: str | None) -> str | None:
        if value is not None:
            griffe.BreakageKind(value)
        return value


class Weight(Rule):
    """What one thing that two states may have in common says, in log odds: `alike` if all of it, `unlike` if none.

    `full` is the amount (lines, parameters, members) from which on it says so in full.
    """

    unlike: float = Field(le=0)
    alike: float = Field(ge=0)
    full: float = Field(default=1, ge=1)


class LikenessRules(Rule):
    """How sure a rename or a move is that nobody stated, and how sure it must be."""

    prior_renamed: float
    prior_moved: float
    name: Weight
    signature: Weight
    members: Weight
    body: Weight
    docstring: Weight
    fewest_body_lines: int = Field(ge=1)
    sure_enough: Share


class LifecycleRules(Rule):
    """The rules of `curation_rules/tags.yaml`."""

    changes: dict[ChangeKind, KindTags]
    attributes_that_come_or_go: GitChameleonCategory
    removed_with_replacement: GitChameleonCategory
    precedence: tuple[LibEvolutionEvalTag, ...]
    count_first_annotations: bool
    values_of_every_release: re.Pattern[str]
    known_bases: tuple[str, ...]
    likeness: LikenessRules
    confidence_removed_unseen: Share
    confidence_introduced_unseen: Share
    confidence_introduced_declared: Share
    confidence_introduced_by_stub: Share
    similar_parameter_names: Share
    confidence_parameter_renamed: Share
    confidence_parameter_handed_on: Share
    confidence_parameter_explicit: Share
    confidence_args_removed: Share

    @model_validator(mode="after")
    def _complete(self) -> LifecycleRules:
        if missing := [str(kind) for kind in ChangeKind if kind not in self.changes]:
            raise InputError(f"changes: no line for {', '.join(missing)}", code="rule_entry_missing")
        if missing := [str(tag) for tag in LibEvolutionEvalTag if tag not in self.precedence]:
            raise InputError(f"precedence: {', '.join(missing)} is missing", code="rule_entry_missing")
        if claimed := [str(kind) for kind in OF_TYPES if self.changes[kind].breaking or self.changes[kind].griffe]:
            raise InputError(
                f"changes: {', '.join(claimed)}: a change of annotations alone breaks nothing",
                code="rule_contradiction",
            )
        return self
