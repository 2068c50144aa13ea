"""Limits of release checks: `curation_rules/release_checks.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, Field, Tag, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.release_checks.approval_rules import ApprovalRule

Share = Annotated[float, Field(ge=0, le=1)]


def _check(side: str, approval: float | None, hold: float | None) -> None:
    if approval is None and hold is None:
        raise InputError(f"no limit: give approval_{side}, hold_{side}, or both", code="rule_contradiction")
    if approval is not None and hold is not None and (approval > hold if side == "above" else approval < hold):
        raise InputError(f"approval_{side} is never reached: hold_{side} comes before it", code="rule_contradiction")


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{share:.1%}".replace(".0%", "%")


def _describe_limits(
    side: str, approval: float | None, hold: float | None, show: Callable[[float], str] = percent
) -> str:
    asks = f"{side} {show(approval)} a person must approve it" if approval is not None else ""
    holds = f"{side} {show(hold)} nothing is published" if hold is not None else ""
    return ", ".join(filter(None, [asks, holds]))


class Most(Rule):
    """A share that may not be too large."""

    approval_above: Share | None = None
    hold_above: Share | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Most:
        _check("above", self.approval_above, self.hold_above)
        return self

    def status(self, measured: float) -> CheckStatus:
        """Return the status of a share."""
        if self.hold_above is not None and measured > self.hold_above:
            return CheckStatus.HOLD
        asks = self.approval_above is not None and measured > self.approval_above
        return CheckStatus.APPROVAL if asks else CheckStatus.PASSED

    @property
    def allowed(self) -> str:
        """The limits as text."""
        return _describe_limits("above", self.approval_above, self.hold_above)


class Least(Rule):
    """A share that may not be too small."""

    approval_below: Annotated[float, Field(ge=-1, le=1)] | None = None
    hold_below: Annotated[float, Field(ge=-1, le=1)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Least:
        _check("below", self.approval_below, self.hold_below)
        return self

    def status(self, measured: float) -> CheckStatus:
        """Return the status of a share."""
        if self.hold_below is not None and measured < self.hold_below:
            return CheckStatus.HOLD
        asks = self.approval_below is not None and measured < self.approval_below
        return CheckStatus.APPROVAL if asks else CheckStatus.PASSED

    @property
    def allowed(self) -> str:
        """The limits as text."""
        return _describe_limits("below", self.approval_below, self.hold_below)


def _side(limit: object) -> str:
    below = isinstance(limit, Least) or (isinstance(limit, dict) and any(str(key).endswith("_below") for key in limit))
    return "least" if below else "most"


Limit = Annotated[Annotated[Most, Tag("most")] | Annotated[Least, Tag("least")], Discriminator(_side)]
"""Either of them, chosen by its keys, so that errors name the right one."""


class RejectedRule(Most):
    """The share that a stage may reject for a reason, or for any reason."""

    stage: str = Field(min_length=1)
    reason: RejectReason | None = None


class UnprovenRule(Most):
    """The share of rows of a family without the proof of a run."""

    family: str

    @model_validator(mode="after")
    def _check_family(self) -> UnprovenRule:
        if self.family not in INSTANCE_TABLES:
            raise InputError(
                f"{self.family!r} is no family of instances; these are: {', '.join(INSTANCE_TABLES)}",
                code="rule_reference_unknown",
            )
        return self


class AgreementRule(Least):
    """The agreement of annotators, once so many samples have two decisions."""

    least: int = Field(ge=1)

    @property
    def allowed(self) -> str:
        """The limits as text; kappa is no share."""
        return _describe_limits("below", self.approval_below, self.hold_below, "{:.2f}".format)


OWN_RULES = frozenset({CheckKind.REJECTED, CheckKind.UNPROVEN, CheckKind.AGREEMENT})
"""The checks that need more than a limit."""


class ReleaseCheckRules(Rule):
    """The rules of release checks; limits do not influence the content of a snapshot."""

    least: int = Field(ge=1, description="shares of fewer units are not measured")
    limits: dict[CheckKind, Limit]
    rejected: tuple[RejectedRule, ...]
    unproven: tuple[UnprovenRule, ...]
    agreement: AgreementRule
    lost_libraries: Most
    approval: ApprovalRule

    @model_validator(mode="after")
    def _complete(self) -> ReleaseCheckRules:
        if missing := [str(kind) for kind in CheckKind if kind not in {*self.limits, *OWN_RULES}]:
            raise InputError(f"limits: no line for {', '.join(missing)}", code="rule_entry_missing")
        if twice := [str(kind) for kind in OWN_RULES if kind in self.limits]:
            raise InputError(
                f"limits: {', '.join(twice)} has a section of its own below; remove this line", code="rule_entry_twice"
            )
        return self


def read_release_check_rules(folder: Path, stages: Collection[str]) -> ReleaseCheckRules:
    """Read the rules of release checks for these stages. Errors: RuleError with file and line."""
    rules = load(folder / "release_checks.yaml", ReleaseCheckRules)
    if unknown := sorted({rule.stage for rule in rules.rejected} - {*stages}):
        raise RuleError(
            f"release_checks.yaml: rejected: no such stage: {', '.join(unknown)}; these are: {', '.join(stages)}",
            code="release_check_stage_unknown",
        )
    return rules
