"""What came of asking a model, in numbers that runs and libraries can add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from pipeline.llm.client.rules import NANO


@dataclass(frozen=True, slots=True)
class Tally:
    """Requests sent and tried again, drafts accepted, refused and waiting, and why asking ended early, if it did.

    `answers_nano_usd` is what the answers to them cost, whenever that was paid; those that were refused cost too.
    """

    requests: int = 0
    retries: int = 0
    accepted: int = 0
    refused: int = 0
    waiting: int = 0
    answers_nano_usd: int = 0
    stopped: str | None = None

    def __add__(self, other: Tally) -> Tally:
        """Add up; of two reasons why it ended early the first is kept."""
        numbers = {name: value + getattr(other, name) for name, value in asdict(self).items() if name != "stopped"}
        return Tally(**numbers, stopped=self.stopped or other.stopped)

    @property
    def nano_usd_per_accepted(self) -> int | None:
        """What an accepted draft cost, with its share of those that were not; None where none was."""
        return round(self.answers_nano_usd / self.accepted) if self.accepted else None

    def as_json(self) -> dict[str, Any]:
        """Return it for a program."""
        return asdict(self) | {"nano_usd_per_accepted": self.nano_usd_per_accepted}


def added(tallies: Iterable[Tally]) -> Tally:
    """Add up several."""
    return sum(tallies, Tally())


def usd(nano_usd: int) -> str:
    """Return an amount for people, in US dollars: to the cent, and small ones to two digits that say something."""
    amount = Decimal(nano_usd) / NANO
    rounded = f"{amount:.2f}" if amount >= 1 else f"{Decimal(f'{amount:.2g}'):f}"
    return f"{rounded} US dollars"
