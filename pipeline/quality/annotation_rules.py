"""What a curator sets about annotating: `curation_rules/annotation.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule


class TwiceRules(Rule):
    """How much two annotators judge without knowing of each other."""

    share: float = Field(ge=0, le=1)
    seed: str = Field(min_length=1)


class AnnotationRules(Rule):
    """The rules of the queue."""

    twice: TwiceRules
    lease_s: float = Field(gt=0, description="how long a sample that somebody has open is kept from others")
    longest_s: float = Field(gt=0, description="a decision that took longer counts for no pace: somebody was away")
    max_bulk: int = Field(ge=1, description="how many samples one decision may cover")
    max_text: int = Field(ge=1, description="characters of a comment, or of one edited field")
