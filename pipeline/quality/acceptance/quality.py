"""What a curator sets about publishing: `curation_rules/quality.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome


class QualityRules(Rule):
    """The rules of acceptance."""

    licences: frozenset[str] = Field(min_length=1, description="SPDX identifiers")
    hold_back: frozenset[FlagKind]
    modified_proven_by: frozenset[Outcome]
    fails_in_target: frozenset[Outcome]
    same_code_fails: frozenset[Outcome]
    per_move: int = Field(ge=1, description="migrations of what moved from one place to another")
    common_functions: Mapping[str, frozenset[str]] = Field(description="by where they are known from")
    canary: str = Field(min_length=16)

    def decides(self, role: str | None, outcome: str | None) -> bool:
        """Return whether such a run, of `deciding_run`, shows that the version decides what is right.

        Code for another version is another answer, and may fail in any way that counts. The reference itself has to be
        impossible in the other version: where only its results differ there, the same answer is right in both.
        """
        same_code = role == ProblemRun.REFERENCE_ELSEWHERE
        return role is not None and outcome in (self.same_code_fails if same_code else self.fails_in_target)

    def is_common_function(self, name: str) -> bool:
        """Return whether anybody would call a function by a name, who knows no release of the library."""
        return any(name in names for names in self.common_functions.values())

    @field_validator("licences", mode="after")
    @classmethod
    def _are_spdx(cls, licences: frozenset[str]) -> frozenset[str]:
        unknown = sorted(name for name in licences if not _is_spdx(name))
        if unknown:
            raise InputError(
                f"not SPDX identifiers as SPDX spells them: {', '.join(unknown)}", code="rule_name_invalid"
            )
        return licences


def _is_spdx(name: str) -> bool:
    try:
        return canonicalize_license_expression(name) == name and " " not in name
    except InvalidLicenseExpression:
        return False
