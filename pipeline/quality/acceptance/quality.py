"""What a curator sets about publishing: `curation_rules/quality.yaml`."""

from __future__ import annotations

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import Field, field_validator

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import MigrationBasis


class QualityRules(Rule):
    """The rules of the gate."""

    licences: frozenset[str] = Field(min_length=1, description="SPDX identifiers")
    hold_back: frozenset[FlagKind]
    modified_proven_by: frozenset[Outcome]
    fails_in_target: frozenset[Outcome]
    same_code_fails: frozenset[Outcome]
    only_strong: frozenset[MigrationBasis]
    canary: str = Field(min_length=16)

    @field_validator("licences", mode="after")
    @classmethod
    def _are_spdx(cls, licences: frozenset[str]) -> frozenset[str]:
        unknown = sorted(name for name in licences if not _is_spdx(name))
        if unknown:
            raise ValueError(f"not SPDX identifiers as SPDX spells them: {', '.join(unknown)}")
        return licences


def _is_spdx(name: str) -> bool:
    try:
        return canonicalize_license_expression(name) == name and " " not in name
    except InvalidLicenseExpression:
        return False
