"""What making a row again came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.lake.ids import sha256_json
from pipeline.lake.schema import Row
from pipeline.lake.stage import Reject


class NotRebuilt(Exception):
    """A row cannot be made again; the message says why."""


class NotMade(Exception):
    """The functions that made a row do not make it any more; the message says what they refused."""


@dataclass(frozen=True, slots=True)
class Made:
    """A row that was made again, as far as it can be; `left` are columns that were not, `why` says for what reason."""

    row: Row
    left: frozenset[str] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A row of the sample, and what making it again came to; `columns` are those that differ."""

    config: str
    row_id: str
    library: str
    outcome: Rebuilding
    columns: tuple[str, ...] = ()
    why: str = ""

    @property
    def line(self) -> str:
        """What is to be told of a row that came out as another."""
        told = [self.outcome.meaning, ", ".join(self.columns), self.why]
        return f"{self.config} {self.row_id} ({self.library}): {': '.join(part for part in told if part)}"


def held_against(config: str, row: Row, made: Made) -> Rebuilt:
    """Compare the columns of a row that were made again, each by its bytes as canonical JSON."""
    columns = [column for column in row if column in made.row and column not in made.left]
    other = tuple(column for column in columns if sha256_json([row[column]]) != sha256_json([made.row[column]]))
    if other:
        return Rebuilt(config, id_of(row), row["library"], Rebuilding.DIFFERS, other, made.why)
    whole = set(columns) == set(row)
    outcome = Rebuilding.SAME if whole else Rebuilding.PART
    return Rebuilt(config, id_of(row), row["library"], outcome, (), "" if whole else made.why)


def not_rebuilt(config: str, row: Row, why: str) -> Rebuilt:
    """Say of a row that it was not made again."""
    return Rebuilt(config, id_of(row), row["library"], Rebuilding.NOT_REBUILT, (), why)


def id_of(row: Row) -> str:
    """Return what a row of the sample is named by."""
    if "id" in row:
        return str(row["id"])
    if "completion_id" in row:
        return str(row["completion_id"])
    return f"{row['path']} {row['first_version']}"


def told(rejects: Sequence[Reject]) -> str:
    """Return what was refused where a row was not made, the first few of it."""
    refused = "; ".join(f"{reject.key}: {reject.reason}: {reject.detail}" for reject in rejects[:3])
    return f"it was not made; refused were {refused}" if refused else "it was not made"


def of_id(rows: Sequence[Row], row_id: str, rejects: Sequence[Reject]) -> Row:
    """Return the row of an id.

    Errors: NotMade where there is none.
    """
    found = next((row for row in rows if row["id"] == row_id), None)
    if found is None:
        raise NotMade(told(rejects))
    return found


def tally(results: Iterable[Rebuilt]) -> dict[str, dict[str, int]]:
    """Count results by configuration and outcome."""
    counts: dict[str, Counter[str]] = {}
    for one in results:
        counts.setdefault(one.config, Counter())[str(one.outcome)] += 1
    return {config: dict(sorted(counted.items())) for config, counted in counts.items()}


def reasons(results: Sequence[Rebuilt]) -> dict[str, dict[str, int]]:
    """Count by configuration why rows were made again in part or not at all."""
    counts: dict[str, Counter[str]] = {}
    for one in results:
        if one.outcome in (Rebuilding.PART, Rebuilding.NOT_REBUILT):
            counts.setdefault(one.config, Counter())[one.why] += 1
    return {config: dict(sorted(counted.items())) for config, counted in counts.items()}
