"""What a curator sets about flags: `curation_rules/flags.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.rules import Rule


class Switch(Rule):
    """A kind of flag that is on or off."""

    enabled: bool


class RenameRules(Switch):
    """When a rename is unsure, and whether what a model says of it is enough."""

    below_confidence: float = Field(ge=0, le=1)
    settled_by_model: bool


class LengthRules(Switch):
    """When code is too long."""

    max_lines: int = Field(ge=1)


class AuditRules(Switch):
    """How much is drawn at random."""

    share: float = Field(ge=0, le=1)
    seed: str = Field(min_length=1)


class FlagRules(Rule):
    """The rules of each kind of flag."""

    licence_unclear: Switch
    description_redacted: Switch
    no_description: Switch
    label_contradicted: Switch
    rename_unsure: RenameRules
    not_discriminating: Switch
    too_long: LengthRules
    draft_rejected: Switch
    documentation_disagrees: Switch
    audit: AuditRules
