"""What a curator sets about publishing, `curation_rules/quality.yaml`, and whether a licence is on its list."""

from __future__ import annotations

from collections.abc import Collection

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import Field, field_validator

from pipeline.rules import Rule
from pipeline.terms import FlagKind, Outcome


class QualityRules(Rule):
    """The rules of the gate."""

    licences: frozenset[str] = Field(min_length=1, description="SPDX identifiers")
    hold_back: frozenset[FlagKind]
    modified_proven_by: frozenset[Outcome]
    fails_in_target: frozenset[Outcome]
    canary: str = Field(min_length=16)

    @field_validator("licences", mode="after")
    @classmethod
    def _known(cls, licences: frozenset[str]) -> frozenset[str]:
        unknown = sorted(name for name in licences if not _is_spdx(name))
        if unknown:
            raise ValueError(f"not SPDX identifiers as SPDX spells them: {', '.join(unknown)}")
        return licences


def is_allowed(expression: str, licences: Collection[str]) -> bool:
    """Return whether an SPDX licence expression allows what the listed licences allow.

    Of `A OR B` one must be listed, of `A AND B` both; `A WITH exception` permits more than A. An expression that is
    not SPDX is not allowed (SPDX specification 2.3, annex D; PEP 639).
    """
    try:
        words = canonicalize_license_expression(expression).replace("(", " ( ").replace(")", " ) ").split()
    except InvalidLicenseExpression:
        return False
    return _any_of(words, licences)


def _any_of(words: list[str], licences: Collection[str]) -> bool:
    """Read `A OR B OR …` off the front of the words."""
    allowed = _all_of(words, licences)
    while words[:1] == ["OR"]:
        words.pop(0)
        allowed = _all_of(words, licences) or allowed
    return allowed


def _all_of(words: list[str], licences: Collection[str]) -> bool:
    """Read `A AND B AND …` off the front of the words; AND binds closer than OR."""
    allowed = _single(words, licences)
    while words[:1] == ["AND"]:
        words.pop(0)
        allowed = _single(words, licences) and allowed
    return allowed


def _single(words: list[str], licences: Collection[str]) -> bool:
    """Read one licence, with its exception, or a bracket off the front of the words."""
    word = words.pop(0)
    if word == "(":
        allowed = _any_of(words, licences)
        words.pop(0)
        return allowed
    if words[:1] == ["WITH"]:
        del words[:2]
    return word in licences


def _is_spdx(name: str) -> bool:
    try:
        return canonicalize_license_expression(name) == name and " " not in name
    except InvalidLicenseExpression:
        return False
