"""What a curator sets about task functions: `curation_rules/functions.yaml`."""

from __future__ import annotations

from pydantic import Field, field_validator

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.problems import InputChange
from pipeline.families.problems.stated_values import is_builtin_exception


class FunctionRules(Rule):
    """The rules of task functions and their tests."""

    max_versions_per_task: int = Field(ge=1)
    max_per_path_and_version: int = Field(ge=1)
    max_per_library: int = Field(ge=1)
    tests: dict[TestKind, int] = Field(description="how many tests there are at most, by kind")
    boundary: tuple[InputChange, ...]
    others: tuple[InputChange, ...]
    max_tried: int = Field(ge=0)
    max_recorded_characters: int = Field(ge=1)
    errors: frozenset[str] = Field(description="builtin exceptions that tests of boundary values may expect")
    min_tests: int = Field(ge=1)
    min_kinds: int = Field(ge=1)
    min_coverage: float = Field(ge=0, le=1)

    @field_validator("tests", mode="after")
    @classmethod
    def _every_kind(cls, tests: dict[TestKind, int]) -> dict[TestKind, int]:
        if missing := [str(kind) for kind in TestKind if kind not in tests]:
            raise ValueError(f"no number for {', '.join(missing)}; 0 is one")
        return tests

    @field_validator("errors", mode="after")
    @classmethod
    def _builtin(cls, errors: frozenset[str]) -> frozenset[str]:
        if unknown := sorted(name for name in errors if not is_builtin_exception(name)):
            raise ValueError(f"no exceptions that Python has without an import: {', '.join(unknown)}")
        return errors
