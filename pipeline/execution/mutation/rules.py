"""What a curator sets about mutants of references: `curation_rules/mutation.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.families import Family

MUTATED = (Family.MIGRATION, Family.PROBLEM, Family.FUNCTION, Family.REPOSITORY_TASK, Family.SCENE)
"""The families whose rows have tests or stated outputs, and a reference that can be changed."""


class MutationRules(Rule):
    """How many mutants are run of a reference, and how many of them its tests must notice; shares are 0 to 1."""

    mutants: dict[Family, Annotated[int, Field(ge=1)]]
    min_score: dict[Family, Annotated[float, Field(ge=0, le=1)]]
    min_further_inputs: int = Field(ge=1)
    max_equivalent_share: float = Field(ge=0, le=1)
    max_half_answers: int = Field(ge=0)
    time_s: float = Field(gt=0)
    other_name_time_s: float = Field(gt=0)
    other_names: int = Field(ge=1)
    like_description: float = Field(gt=0, le=1)

    @field_validator("mutants", "min_score", mode="after")
    @classmethod
    def _every_family(cls, of_family: dict[Family, float]) -> dict[Family, float]:
        if of_family.keys() != set(MUTATED):
            raise InputError(
                f"one number is needed for each of {', '.join(MUTATED)}, and for no other family",
                code="rule_entry_missing",
            )
        return of_family
