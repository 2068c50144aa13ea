"""What a curator decides about dependents: which are taken, and how much of them."""

from __future__ import annotations

from typing import Annotated

from packaging.utils import canonicalize_name
from pydantic import AfterValidator, Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.index.archives import ArchiveLimits

Name = Annotated[str, AfterValidator(lambda name: str(canonicalize_name(name)))]


class DependentRules(Rule):
    """The rules of `curation_rules/dependents.yaml`; sizes in bytes."""

    dependents_per_library: int = Field(ge=0)
    releases_per_dependent: int = Field(ge=1)
    max_sdist_bytes: int = Field(gt=0)
    max_unpacked_bytes: int = Field(gt=0)
    max_ratio: int = Field(gt=0)
    seeds: dict[Name, tuple[Name, ...]]

    @field_validator("seeds")
    @classmethod
    def _once(cls, seeds: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for library, names in seeds.items():
            if library in names or len(set(names)) < len(names):
                raise InputError(f"{library}: names itself, or one dependent twice", code="rule_contradiction")
        return seeds

    @property
    def archive_limits(self) -> ArchiveLimits:
        """The limits that the archive reader takes."""
        return ArchiveLimits(self.max_unpacked_bytes, self.max_ratio)
