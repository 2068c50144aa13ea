"""What a curator decides about compatibilities."""

from __future__ import annotations

import re

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.changes import ChangeKind


class CompatibilityRules(Rule):
    """The rules of `curation_rules/compatibilities.yaml`."""

    gives_away: re.Pattern[str]
    without_kinds: frozenset[ChangeKind]
    generic_words: frozenset[str]
    min_releases: int = Field(ge=2)
    max_lines: int = Field(ge=1)
    per_api: int = Field(ge=1)
