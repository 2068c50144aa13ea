"""What a curator sets about the gates of a snapshot: `curation_rules/gates.yaml`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, Field, Tag, model_validator

from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.vocabularies.gates import GateKind, GateStanding
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.release_checks.approval_rules import SigningRule

Share = Annotated[float, Field(ge=0, le=1)]


def _check(side: str, sign_off: float | None, hold: float | None) -> None:
    if sign_off is None and hold is None:
        raise ValueError(f"says nothing: give sign_off_{side}, hold_{side}, or both")
    if sign_off is not None and hold is not None and (sign_off > hold if side == "above" else sign_off < hold):
        raise ValueError(f"sign_off_{side} is never reached: hold_{side} comes before it")


def shown(share: float) -> str:
    """Return a share as people read it."""
    return f"{share:.1%}".replace(".0%", "%")


def _told(side: str, sign_off: float | None, hold: float | None, show: Callable[[float], str] = shown) -> str:
    asks = f"{side} {show(sign_off)} a person signs off" if sign_off is not None else ""
    holds = f"{side} {show(hold)} nothing is published" if hold is not None else ""
    return ", ".join(filter(None, [asks, holds]))


class Most(Rule):
    """A share that may not be too large."""

    sign_off_above: Share | None = None
    hold_above: Share | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Most:
        _check("above", self.sign_off_above, self.hold_above)
        return self

    def standing(self, measured: float) -> GateStanding:
        """Return what a share means."""
        if self.hold_above is not None and measured > self.hold_above:
            return GateStanding.HOLD
        asks = self.sign_off_above is not None and measured > self.sign_off_above
        return GateStanding.SIGN_OFF if asks else GateStanding.PASSED

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return _told("above", self.sign_off_above, self.hold_above)


class Least(Rule):
    """A share that may not be too small."""

    sign_off_below: Annotated[float, Field(ge=-1, le=1)] | None = None
    hold_below: Annotated[float, Field(ge=-1, le=1)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Least:
        _check("below", self.sign_off_below, self.hold_below)
        return self

    def standing(self, measured: float) -> GateStanding:
        """Return what a share means."""
        if self.hold_below is not None and measured < self.hold_below:
            return GateStanding.HOLD
        asks = self.sign_off_below is not None and measured < self.sign_off_below
        return GateStanding.SIGN_OFF if asks else GateStanding.PASSED

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return _told("below", self.sign_off_below, self.hold_below)


def _side(limit: object) -> str:
    below = isinstance(limit, Least) or (isinstance(limit, dict) and any(str(key).endswith("_below") for key in limit))
    return "least" if below else "most"


Limit = Annotated[Annotated[Most, Tag("most")] | Annotated[Least, Tag("least")], Discriminator(_side)]
"""Either of them, by its keys, so that what is wrong is said of the one that was meant."""


class RejectedRule(Most):
    """How much a stage may refuse for a reason; none named: for any."""

    stage: str = Field(min_length=1)
    reason: RejectReason | None = None


class UnprovenRule(Most):
    """How many rows of a family may be without the proof of a run."""

    family: str

    @model_validator(mode="after")
    def _known(self) -> UnprovenRule:
        if self.family not in INSTANCE_TABLES:
            raise ValueError(f"{self.family!r} is no family of instances; these are: {', '.join(INSTANCE_TABLES)}")
        return self


class AgreementRule(Least):
    """How far annotators must agree, once so many samples were judged twice."""

    least: int = Field(ge=1)

    @property
    def allowed(self) -> str:
        """What is allowed, in words; kappa is no share."""
        return _told("below", self.sign_off_below, self.hold_below, "{:.2f}".format)


OWN_RULES = frozenset({GateKind.REJECTED, GateKind.UNPROVEN, GateKind.AGREEMENT})
"""The checks that need more than a limit."""


class GateRules(Rule):
    """The gates of a snapshot. They are no part of what it is made from: another limit makes no other content."""

    least: int = Field(ge=1, description="shares of fewer units are not measured")
    limits: dict[GateKind, Limit]
    rejected: tuple[RejectedRule, ...]
    unproven: tuple[UnprovenRule, ...]
    agreement: AgreementRule
    lost_libraries: Most
    signing: SigningRule

    @model_validator(mode="after")
    def _complete(self) -> GateRules:
        if missing := [str(kind) for kind in GateKind if kind not in {*self.limits, *OWN_RULES}]:
            raise ValueError(f"limits: no line for {', '.join(missing)}")
        if twice := [str(kind) for kind in OWN_RULES if kind in self.limits]:
            raise ValueError(f"limits: {', '.join(twice)} stands below, with what else it needs; take the line out")
        return self


def gate_rules(folder: Path, stages: Collection[str]) -> GateRules:
    """Read the gates, which may speak of these stages.

    Errors: RuleError with file and line of what is wrong.
    """
    rules = load(folder / "gates.yaml", GateRules)
    if unknown := sorted({rule.stage for rule in rules.rejected} - {*stages}):
        raise RuleError(f"gates.yaml: rejected: no such stage: {', '.join(unknown)}; these are: {', '.join(stages)}")
    return rules
