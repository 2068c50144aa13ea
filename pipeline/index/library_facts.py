"""What is known of the libraries that are considered: their rank, and what the index said of them on a day."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec
from packaging.utils import canonicalize_name

from pipeline.core.errors import InputError
from pipeline.core.settings import PROJECT

FOLDER = PROJECT / "data" / "libraries"
"""Where ranking, facts and verdicts are kept: with the project, for the list must follow from them."""

_MORE = "more"
"""What a line has beyond the columns of the head."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A library in the ranking; its newest release and the month of it where the ranking tells, else empty."""

    rank: int
    library: str
    version: str
    month: str
    summary: str


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the index said of a library.

    Attributes:
        observed: the day of the index's answer.
        releases: how many final releases came out since `since`, the rule's day when it was asked.
        all_releases: how many there are in all.
        first: the day of the first final release.
        last: the day of the newest one.
        pure: whether the newest one has a file without compiled code; None where it has no wheel.
        bytes: length of one file of each final release, the wheel where there is one.
        licence: SPDX expression of `licence_of`, null where the metadata cannot be read or was not asked.
        licence_of: the release whose metadata was read.
    """

    library: str
    observed: date = msgspec.field(name="asked")
    since: date
    releases: int
    all_releases: int
    first: date
    last: date
    pure: bool | None
    bytes: int
    licence: str | None = None
    licence_of: str | None = None


def read_ranking(path: Path) -> list[Ranked]:
    """Read a ranking, most downloaded first: ours, or the CSV of hugovk/top-pypi-packages (`download_count,project`).

    Errors: ValueError for a file that is in neither form, or not in order.
    """
    with path.open(encoding="utf-8", newline="") as file:
        try:
            rows = [_ranked(number, row) for number, row in enumerate(csv.DictReader(file, restkey=_MORE), 1)]
        except csv.Error as error:
            raise InputError(f"{path.name}: {error}", code="ranking_invalid") from None
    if not rows:
        raise InputError(f"{path.name}: no ranking: a head line and a library are the least", code="ranking_invalid")
    if any(after.rank <= before.rank for before, after in itertools.pairwise(rows)):
        raise InputError(f"{path.name}: ranks must rise from line to line", code="ranking_invalid")
    return rows


def _ranked(number: int, row: Mapping[str, str]) -> Ranked:
    if _MORE in row or None in row.values():
        columns = sum(value is not None for value in row.values()) - (_MORE in row) + len(row.get(_MORE, ()))
        raise InputError(
            f"ranking, entry {number}: {columns} columns, {len(row) - (_MORE in row)} in the head line",
            code="ranking_invalid",
        )
    if "project" in row:
        return Ranked(number, canonicalize_name(row["project"]), "", "", "")
    try:
        name = canonicalize_name(row["library"])
        return Ranked(int(row["rank"]), name, row["version"], row["month"], row["summary"])
    except (KeyError, ValueError) as error:
        raise InputError(
            f"ranking, entry {number}: {error!r}; columns are {', '.join(Ranked.__slots__)}", code="ranking_invalid"
        ) from None


def read_facts(path: Path) -> dict[str, Fact]:
    """Read what the index said, by library.

    Errors: ValueError with the line that cannot be read.
    """
    facts = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            fact = msgspec.json.decode(line, type=Fact)
        except msgspec.DecodeError as error:
            raise InputError(f"{path.name}:{number}: {error}", code="library_facts_invalid") from None
        facts[fact.library] = fact
    return facts


def write_facts(path: Path, facts: Iterable[Fact]) -> None:
    """Write facts, a line each, by name."""
    lines = [msgspec.json.encode(fact) + b"\n" for fact in sorted(facts, key=lambda fact: fact.library)]
    path.write_bytes(b"".join(lines))
