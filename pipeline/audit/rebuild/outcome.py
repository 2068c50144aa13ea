"""Results of a rebuild, and their comparison with published rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.lake.ids import sha256_json
from pipeline.lake.rows import AnyRow, R
from pipeline.lake.stage import Reject


class NotRebuilt(CodedError):
    """A row cannot be rebuilt; the message has the reason."""


class NotReproduced(CodedError):
    """The functions that made a row no longer return it; the message has their rejects."""

    code = "rebuild_differs"


@dataclass(frozen=True, slots=True)
class RebuiltRow:
    """A rebuilt row; `excluded` are columns that cannot be rebuilt, `why` is the reason."""

    row: AnyRow
    excluded: frozenset[str] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class RebuildResult:
    """The outcome for a row of the sample; `columns` are those that differ."""

    config: str
    row_id: str
    library: str
    outcome: Rebuilding
    columns: tuple[str, ...] = ()
    why: str = ""

    @property
    def line(self) -> str:
        """The message for a differing row."""
        parts = [self.outcome.meaning, ", ".join(self.columns), self.why]
        return f"{self.config} {self.row_id} ({self.library}): {': '.join(part for part in parts if part)}"


def compare_row(config: str, row: AnyRow, rebuilt: RebuiltRow) -> RebuildResult:
    """Compare the rebuilt columns of a row, each by its bytes as canonical JSON."""
    columns = [column for column in row if column in rebuilt.row and column not in rebuilt.excluded]
    other = tuple(column for column in columns if sha256_json([row[column]]) != sha256_json([rebuilt.row[column]]))
    if other:
        return RebuildResult(config, id_of(row), row["library"], Rebuilding.DIFFERS, other, rebuilt.why)
    whole = set(columns) == set(row)
    outcome = Rebuilding.SAME if whole else Rebuilding.PART
    return RebuildResult(config, id_of(row), row["library"], outcome, (), "" if whole else rebuilt.why)


def not_rebuilt(config: str, row: AnyRow, why: str) -> RebuildResult:
    """Return the result of a row that was not rebuilt."""
    return RebuildResult(config, id_of(row), row["library"], Rebuilding.NOT_REBUILT, (), why)


def id_of(row: AnyRow) -> str:
    """Return the identifier of a row of the sample."""
    if "id" in row:
        return str(row["id"])
    if "completion_id" in row:
        return str(row["completion_id"])
    return f"{row['path']} {row['first_version']}"


def describe_rejects(rejects: Sequence[Reject]) -> str:
    """Describe the first rejects where a row was not made."""
    refused = "; ".join(f"{reject.key}: {reject.reason}: {reject.detail}" for reject in rejects[:3])
    return f"it was not made; refused were {refused}" if refused else "it was not made"


def of_id(rows: Sequence[R], row_id: str, rejects: Sequence[Reject]) -> R:
    """Return the row of an id.

    Errors: NotReproduced where there is none.
    """
    matching = next((row for row in rows if row["id"] == row_id), None)
    if matching is None:
        raise NotReproduced(describe_rejects(rejects))
    return matching


def tally(results: Iterable[RebuildResult]) -> dict[str, dict[str, int]]:
    """Count results by configuration and outcome."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        counts.setdefault(result.config, Counter())[str(result.outcome)] += 1
    return {config: dict(sorted(counted.items())) for config, counted in counts.items()}


def reasons(results: Sequence[RebuildResult]) -> dict[str, dict[str, int]]:
    """Count the reasons of partial and missing rebuilds by configuration."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        if result.outcome in (Rebuilding.PART, Rebuilding.NOT_REBUILT):
            counts.setdefault(result.config, Counter())[result.why] += 1
    return {config: dict(sorted(counted.items())) for config, counted in counts.items()}
