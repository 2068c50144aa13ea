"""Parameters of scoring."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.scores import Facet


class ScoreRules(Rule):
    """The parameters of scoring; see `curation_rules/scores.yaml`."""

    k: tuple[PositiveInt, ...] = Field(min_length=1)
    facets: tuple[Facet, ...]
    sample_chars: int = Field(ge=1)
    samples: int = Field(ge=1)
    line_mib: int = Field(ge=1)
    resamples: int = Field(ge=100)
    groups_in_picture: int = Field(ge=1)
