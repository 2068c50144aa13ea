"""What a curator sets about models: `curation_rules/models.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule

Usd = Annotated[Decimal, Field(ge=0, description="US dollars")]

NANO = 1_000_000_000
"""Nano-dollars of a dollar: money is counted in whole ones, so that sums are exact."""

_TOKENS = 1_000_000


class Price(Rule):
    """What a model costs: US dollars per million tokens."""

    input: Usd
    output: Usd
    cache_write: Usd
    cache_read: Usd

    def cost(self, tokens: Tokens, share: Decimal = Decimal(1)) -> int:
        """Return what tokens cost at a share of the price, in nano-dollars, rounded up."""
        usd = (
            self.input * tokens.input
            + self.output * tokens.output
            + self.cache_write * tokens.cache_write
            + self.cache_read * tokens.cache_read
        ) / _TOKENS
        return int((usd * share * NANO).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a `run` or a `month` may cost in US dollars, and how a user raises it."""

    period: Literal["run", "month"]
    usd: Decimal
    advice: str


class ModelRules(Rule):
    """The models, their prices, and the limits of what they may cost and how long they may take.

    `roles` are what rules of drafts call models.
    """

    roles: Mapping[str, str] = Field(min_length=1)
    models: Mapping[str, Price] = Field(min_length=1)
    batch_price: Decimal = Field(gt=0, le=1)
    batch_from: int = Field(ge=1)
    batch_requests: int = Field(ge=1, le=100_000)
    batch_mb: int = Field(ge=1, le=256)
    poll_s: float = Field(ge=0)
    wait_s: float = Field(ge=0)
    tries: int = Field(ge=1)
    longest_pause_s: float = Field(ge=0)
    run_usd: Usd
    month_usd: Usd

    @model_validator(mode="after")
    def _have_prices(self) -> Self:
        if missing := sorted(set(self.roles.values()) - set(self.models)):
            raise InputError(
                f"roles: {', '.join(missing)} has no price; models has {', '.join(sorted(self.models))}",
                code="rule_entry_missing",
            )
        return self

    @property
    def limits(self) -> tuple[Limit, Limit]:
        """What one refresh and one month may cost."""
        advice = "{} in curation_rules/models.yaml is {} US dollars: raise it, or let a later run draft the rest"
        return (
            Limit("run", self.run_usd, advice.format("run_usd", self.run_usd)),
            Limit("month", self.month_usd, advice.format("month_usd", self.month_usd)),
        )

    def cost(self, model: str, tokens: Tokens, *, batch: bool) -> int:
        """Return what tokens cost, in nano-dollars, rounded up.

        Errors: KeyError where the model has no price.
        """
        return self.models[model].cost(tokens, self.batch_price if batch else Decimal(1))


class Tokens(Rule):
    """Tokens of one request: input that no cache knew, output, written to the cache, and read from it."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0
