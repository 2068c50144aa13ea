"""Whether the lake has what a snapshot is made of, and what to do where it has not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pipeline.lake.rows import RejectRow
from pipeline.lake.schema import Row, SchemaError, table
from pipeline.lake.tables import Lake
from pipeline.snapshots.format.rows import BY_MODEL, TABLES, TAGGED, Rows

__all__ = ["TABLES", "TAGGED", "NothingToPublish", "OutdatedTables", "Rows", "nothing_to_publish", "read_tables"]


class NothingToPublish(ValueError):
    """No instance passed the gate: an empty snapshot would take the place of one that people use."""


class OutdatedTables(ValueError):
    """Tables of the lake were written by a Driftline that declared them otherwise; the message says of which libraries.

    Nothing is filled in: a snapshot promises of every row what the stages of today promise.
    """


def read_tables(lake: Lake, profile: str, libraries: Sequence[str]) -> Rows:
    """Return the rows of each configuration, after looking through all of them once.

    Errors: OutdatedTables.
    """
    names = sorted({*TABLES.values(), *BY_MODEL.values()})
    outdated = {
        library: name for name in names for library in libraries if _is_outdated(name, lake.read(name, library))
    }
    if outdated:
        raise OutdatedTables(_outdated(profile, outdated))
    return Rows(lake, libraries)


def _is_outdated(name: str, rows: Sequence[Row]) -> bool:
    """Tell whether rows of the lake do not fit the table as it is declared today."""
    declared = {column.name for column in table(name).columns}
    try:
        for row in rows:
            if row.keys() != declared:
                return True
            table(name).check(row)
    except SchemaError:
        return True
    return False


def _outdated(profile: str, outdated: Mapping[str, str]) -> str:
    """Say which libraries have rows of another time, in which table, and what to do."""
    libraries = sorted(outdated)
    told = ", ".join(f"{library} ({outdated[library]})" for library in libraries)
    return (
        f"nothing published for profile {profile}: of these libraries the lake has rows that an older Driftline wrote"
        f" and that do not fit the tables of today: {told}. `latest` stays as it was. Bring them up to date:"
        f" driftline refresh --profile {profile} --libraries {','.join(libraries)} (or take them out of the profile)"
    )


def nothing_to_publish(profile: str, libraries: Sequence[str], rejects: Sequence[RejectRow]) -> str:
    """Say what was refused most, and what to do."""
    reasons = Counter(f"{row['stage']} refused {row['reason']}" for row in rejects)
    first = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))[:5]
    most = ", ".join(f"{reason} ({number})" for reason, number in first)
    return (
        f"nothing to publish for profile {profile}: no instance of {', '.join(libraries)} passed"
        f" every gate, so no snapshot was written and `latest` stays as it was. Most of it: {most or 'no rejects'}."
        " Run the refresh first, correct the libraries' names, or take more releases in the profile"
    )
