"""What a curator sets about what a model writes: a file of `curation_rules/drafts/` for each kind."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from pipeline.drafting.model.rules import ModelRules
from pipeline.rules import Rule, RuleError, load
from pipeline.terms import Improves


class KindRules(Rule):
    """How a model is asked for one kind of draft."""

    model: str
    max_tokens: int = Field(ge=1)
    tries: int = Field(ge=1)
    instructions: str = Field(min_length=1)


class DescriptionRules(KindRules):
    """How a model is asked for a sentence or two: `description.yaml` and `instruction.yaml`."""

    improves: frozenset[Improves]


class RequirementRules(KindRules):
    """How a model is asked for the requirement of a function without a docstring: `requirement.yaml`."""

    max_words: int = Field(ge=1)
    min_copied: int = Field(ge=1, description="characters")


class DraftRules(Rule):
    """The rules of each kind of draft."""

    description: DescriptionRules
    instruction: DescriptionRules
    requirement: RequirementRules


def draft_rules(folder: Path, models: ModelRules) -> DraftRules:
    """Read the files of `drafts/` in a folder of rules.

    Errors: RuleError with file and line of what is wrong, and for a model that has no price.
    """
    drafts = folder / "drafts"
    rules = DraftRules(
        description=load(drafts / "description.yaml", DescriptionRules),
        instruction=load(drafts / "instruction.yaml", DescriptionRules),
        requirement=load(drafts / "requirement.yaml", RequirementRules),
    )
    for name, kind in rules:
        if kind.model not in models.models:
            known = ", ".join(sorted(models.models))
            raise RuleError(f"{name}.yaml: model: {kind.model!r} has no price; models.yaml has {known}")
    return rules
