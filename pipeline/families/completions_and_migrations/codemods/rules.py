"""What a curator sets about codemods: `curation_rules/codemods.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import MigrationBasis


class CodemodRules(Rule):
    """Which snippets are rewritten for another release."""

    follow: frozenset[MigrationBasis]
    only_with_outputs: frozenset[MigrationBasis]
    before_the_change: bool
    majors: bool
    max_lines: int = Field(ge=1)
    max_per_paths_and_versions: int = Field(ge=1)
