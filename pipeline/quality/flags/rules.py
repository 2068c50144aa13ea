"""What a curator sets about flags: `curation_rules/flags.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import VersionEvidence
from pipeline.corpus.snippets.code_sample_rules import DuplicateRules


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


class VersionRules(Switch):
    """What says too little of the version that code is for."""

    evidence: frozenset[VersionEvidence]


class LeakRules(Switch):
    """Which names are looked for, by their words, in what is shown; shorter ones are common words."""

    min_letters: int = Field(ge=2)


class AlikeRules(Switch, DuplicateRules):
    """When code of two sources is almost the same; what has fewer tokens is not compared."""

    min_tokens: int = Field(ge=1)


class AuditRules(Switch):
    """How much is drawn at random."""

    share: float = Field(ge=0, le=1)
    seed: str = Field(min_length=1)


class DescriptionRules(Switch):
    """What has to determine the name of an API that no text describes.

    `others_tried` names have to be excluded by runs. `output_letters` letters and digits of the output have to be of no
    word that the code has too, nor one of `common_outputs`.
    """

    others_tried: int = Field(ge=1)
    output_letters: int = Field(ge=0)
    common_outputs: frozenset[str]


class FlagRules(Rule):
    """The rules of each kind of flag."""

    licence_unclear: Switch
    description_redacted: Switch
    no_description: DescriptionRules
    label_contradicted: Switch
    rename_unsure: RenameRules
    not_discriminating: Switch
    too_long: LengthRules
    draft_rejected: Switch
    documentation_disagrees: Switch
    version_weak: VersionRules
    answer_leaks: LeakRules
    near_duplicate: AlikeRules
    flaky: Switch
    audit: AuditRules
