"""Money: the worst case of a request is reserved before it goes out, and settled by what the answer used."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pipeline.core.errors import FatalError
from pipeline.llm.client.rules import NANO, Limit
from pipeline.llm.client.store import Store
from pipeline.llm.client.tally import usd


class BudgetReached(FatalError):
    """Another request might cost more than the run or the month may; the message says which, and what to do."""

    code = "budget_reached"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Ledger:
    """What a run and a month have cost, with what is reserved; several processes share the month.

    A reservation counts until it is settled. Of a request that nobody can say of whether it was answered, as of one
    whose process was killed or whose line broke, it counts as spent for good: no limit is passed that way, and it is a
    cent at most.
    """

    store: Store
    limits: Sequence[Limit]
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    now: Callable[[], datetime] = _now

    def reserve(self, nano_usd: int) -> str:
        """Set aside what a request costs at worst, in nano-dollars, and return the reservation's id.

        Errors: BudgetReached, where that could go over a limit; nothing is set aside then.
        """
        month = f"{self.now():%Y-%m}"
        with self.store.open() as database:
            for limit in self.limits:
                column, value = limit.period, self.run if limit.period == "run" else month
                (spent,) = database.execute(
                    f"SELECT COALESCE(SUM(nano_usd), 0) FROM ledger WHERE {column} = ?",  # noqa: S608 - one of two names
                    (value,),
                ).fetchone()
                if spent + nano_usd > limit.usd * NANO:
                    raise BudgetReached(
                        f"this {column} has cost {usd(spent)} (with what is reserved), the next request may cost"
                        f" {usd(nano_usd)}, and {limit.advice}"
                    )
            reservation = uuid.uuid4().hex
            database.execute("INSERT INTO ledger VALUES (?, ?, ?, ?, 0)", (reservation, self.run, month, nano_usd))
        return reservation

    def settle(self, reservation: str, nano_usd: int) -> None:
        """Put what a request did cost in the place of what was reserved; 0 where it was never looked at."""
        with self.store.open() as database:
            database.execute("UPDATE ledger SET nano_usd = ?, settled = 1 WHERE id = ?", (nano_usd, reservation))

    def lose(self, reservations: Iterable[str]) -> None:
        """Count as spent what was reserved for requests that may have been answered, though no answer came."""
        with self.store.open() as database:
            database.executemany("UPDATE ledger SET settled = 1 WHERE id = ?", [(key,) for key in reservations])

    def end(self, reason: str) -> None:
        """Let no part of this run ask again, in no process: the provider takes no more of our money."""
        with self.store.open() as database:
            database.execute("INSERT OR IGNORE INTO ended VALUES (?, ?)", (self.run, reason))

    def ended(self) -> str | None:
        """Return why this run must not ask again; None where it may."""
        with self.store.open() as database:
            row = database.execute("SELECT reason FROM ended WHERE run = ?", (self.run,)).fetchone()
        return str(row[0]) if row else None

    def spent_this_month(self) -> int:
        """Return what the month of now has cost, in nano-dollars, with what is still reserved."""
        with self.store.open() as database:
            sql = "SELECT COALESCE(SUM(nano_usd), 0) FROM ledger WHERE month = ?"
            (spent,) = database.execute(sql, (f"{self.now():%Y-%m}",)).fetchone()
        return int(spent)

    def spent(self) -> int:
        """Return what this run has cost, in nano-dollars, with what is still reserved."""
        with self.store.open() as database:
            result = database.execute("SELECT COALESCE(SUM(nano_usd), 0) FROM ledger WHERE run = ?", (self.run,))
            (spent,) = result.fetchone()
        return int(spent)
