"""What a curator sets about instances: `curation_rules/masking.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import Granularity


class LineRules(Rule):
    """How large a masked line may be."""

    max_lines: int = Field(ge=1, description="physical lines")
    least_arguments: int = Field(ge=0, description="of the changed call in a line of a witness")


class BlockRules(Rule):
    """How large a masked block must and may be."""

    min_statements: int = Field(ge=1)
    min_lines: int = Field(ge=1, description="physical lines")
    max_lines: int = Field(ge=1, description="physical lines")


class GuessingRules(Rule):
    """Which values need not stand in the program, and how many others of a masked piece, by level."""

    usual_values: frozenset[str]
    max_unknowable: Mapping[Granularity, int]


class MigrationRules(Rule):
    """Which pairs of snippets are the same task."""

    min_similarity: float = Field(ge=0, le=1)
    max_per_paths_and_versions: int = Field(ge=1)


class MaskingRules(Rule):
    """The rules of completion and migration instances."""

    granularities: tuple[Granularity, ...] = Field(min_length=1)
    ignore_case: bool
    opposites: tuple[tuple[str, str], ...]
    min_name_length: int = Field(ge=1)
    common_parameters: frozenset[str]
    line: LineRules
    block: BlockRules
    guessing: GuessingRules
    max_per_path_and_version: int = Field(ge=1)
    migration: MigrationRules
