"""Snapshots: immutable folders of Parquet files with a manifest, found through a `latest` pointer that moves last."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from pipeline import __version__
from pipeline.crawl import Period
from pipeline.lake import TRANSIENT, Lake, Row, SchemaError, replacing, sha256_file, table, write_parquet
from pipeline.publish.card import FAMILIES, attribution_text, card_text
from pipeline.publish.manifest import FORMAT, Covered, Entry, Manifest
from pipeline.terms import RejectReason

TABLES: dict[str, str] = {
    "completions": "published_completions",
    "migrations": "published_migrations",
    "block_completions": "published_block_completions",
    "controlled_completions": "published_controlled_completions",
    "problems": "published_problems",
    "functions": "published_functions",
    "repository_tasks": "published_repository_tasks",
    "scenes": "published_scenes",
    "contexts": "published_contexts",
    "retrievals": "published_retrievals",
    "changes": "published_changes",
    "api_documents": "api_documents",
    "directives": "directives",
    "documents": "documents",
    "environments": "environments",
    "flags": "flags",
    "function_environments": "function_environments",
    "lifecycles": "lifecycles",
    "problem_environments": "problem_environments",
    "projects": "projects",
    "reaches": "reaches",
    "rejects": "rejects",
    "releases": "releases",
    "rewrites": "rewrites",
    "snippets": "snippets",
    "symbols": "symbols",
    "traced_functions": "traced_functions",
    "usages": "usages",
    "verdicts": "verdicts",
}
"""Name of a configuration of the data set to the declared table that it holds; instance families come first."""

_BY_MODEL = {"rewrites": "drafted_rewrites", "verdicts": "drafted_verdicts"}
"""Tables of the lake whose rows stand with those that rules made, in the columns that both have."""

TAGGED = ("completions", "migrations", "controlled_completions", "problems", "functions")
"""The families whose rows have tags."""

# An index that was down, or a token that was missing, is news of a day: it must not make another revision of the data.
_OF_A_DAY = TRANSIENT | {RejectReason.SOURCE_LEFT_OUT}

TEXTS = ("ATTRIBUTION.md", "README.md")


class NothingToPublish(ValueError):
    """No instance passed the gate: an empty snapshot would take the place of one that people use."""


class OutdatedTables(ValueError):
    """Tables of the lake were written by a Driftline that declared them otherwise; the message says of which libraries.

    Nothing is filled in: a snapshot promises of every row what the stages of today promise.
    """


@dataclass(frozen=True, slots=True)
class Published:
    """What publishing came to: the snapshot's folder, the sha256 of its manifest, whether anything was written."""

    path: Path
    manifest_sha256: str
    written: bool
    rows: Mapping[str, int]


def publish(
    lake: Lake, snapshots: Path, profile: str, libraries: Sequence[str], period: Period, rules_sha256: str
) -> Published:
    """Write the snapshot of a profile from the lake, or find that it is there already.

    A snapshot is named by its profile and the end of its covered period (or the newest release in it), so that the
    same inputs give the same name and the same bytes. Other content under the same name becomes a new revision;
    what was published is never touched. Two processes that publish one profile take turns.

    Errors: NothingToPublish where the lake has no instance of the libraries that passed the gate; OutdatedTables where
    rows of a library do not fit what is declared today.
    """
    tables = _tables(lake, profile, libraries)
    if not any(tables[family] for family in FAMILIES):
        raise NothingToPublish(_nothing(profile, libraries, tables["rejects"]))
    tables["rejects"] = [row for row in tables["rejects"] if row["reason"] not in _OF_A_DAY]
    folder = snapshots / profile
    folder.mkdir(parents=True, exist_ok=True)
    name = _name(profile, tables["releases"], period)
    with FileLock(folder / ".lock"):
        _clean(folder)
        draft = folder / f".{name}.{os.getpid()}.tmp"
        try:
            _write(draft, tables, profile, period, rules_sha256)
            final = _place(draft, folder, name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        with replacing(folder / "latest") as temporary:
            temporary.write_text(final.path.name + "\n")
    rows = {config: len(rows) for config, rows in tables.items()}
    return Published(final.path, final.manifest_sha256, final.written, rows)


def _tables(lake: Lake, profile: str, libraries: Sequence[str]) -> dict[str, list[Row]]:
    """Return the rows of each configuration.

    Errors: OutdatedTables.
    """
    names = {*TABLES.values(), *_BY_MODEL.values()}
    rows = {name: {library: lake.read(name, library) for library in libraries} for name in names}
    outdated = {
        library: name for name in sorted(names) for library in libraries if _is_outdated(name, rows[name][library])
    }
    if outdated:
        raise OutdatedTables(_outdated(profile, outdated))
    tables = {config: [row for of_one in rows[name].values() for row in of_one] for config, name in TABLES.items()}
    for config, by_model in _BY_MODEL.items():
        columns = [column.name for column in table(config).columns]
        tables[config] += [
            {name: row[name] for name in columns} for of_one in rows[by_model].values() for row in of_one
        ]
    return tables


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


def _nothing(profile: str, libraries: Sequence[str], rejects: Sequence[Row]) -> str:
    """Say what was refused most, and what to do."""
    reasons = Counter(f"{row['stage']} refused {row['reason']}" for row in rejects)
    first = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))[:5]
    most = ", ".join(f"{reason} ({number})" for reason, number in first)
    return (
        f"nothing to publish for profile {profile}: no instance of {', '.join(libraries)} passed"
        f" every gate, so no snapshot was written and `latest` stays as it was. Most of it: {most or 'no rejects'}."
        " Run the refresh first, correct the libraries' names, or take more releases in the profile"
    )


def _clean(folder: Path) -> None:
    """Remove what a killed publish left behind; the lock says that nobody is writing it now."""
    for left in folder.glob(".*.tmp"):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()


def _name(profile: str, releases: Sequence[Row], period: Period) -> str:
    end: datetime = period.until or max(row["release_time"] for row in releases)
    return f"{profile}-{end.astimezone(UTC):%Y-%m-%d}"


def _write(folder: Path, tables: Mapping[str, list[Row]], profile: str, period: Period, rules_sha256: str) -> None:
    files = []
    for config, rows in tables.items():
        path = folder / "data" / f"{config}.parquet"
        count = write_parquet(path, TABLES[config], rows, volatile=False)
        files.append(_entry(folder, path, TABLES[config], count))
    texts = (
        attribution_text(tables["releases"], tables["snippets"], tables["projects"]),
        card_text(profile, tables, TABLES),
    )
    for name, text in zip(TEXTS, texts, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
        files.append(_entry(folder, folder / name))
    manifest = Manifest(
        format=FORMAT,
        driftline=__version__,
        profile=profile,
        period=Covered(since=_iso(period.since), until=_iso(period.until)),
        rules_sha256=rules_sha256,
        libraries=dict(sorted(Counter(row["library"] for row in tables["releases"]).items())),
        tags={family: tag_counts(tables[family]) for family in TAGGED},
        files=tuple(files),
    )
    manifest.write(folder / "manifest.json")


def _entry(folder: Path, path: Path, table: str | None = None, rows: int | None = None) -> Entry:
    return Entry(
        path=path.relative_to(folder).as_posix(),
        sha256=sha256_file(path) or "",
        bytes=path.stat().st_size,
        table=table,
        rows=rows,
    )


def tag_counts(rows: Iterable[Row]) -> dict[str, int]:
    """Count instances by their LibEvolutionEval tag."""
    return dict(sorted(Counter(str(row["libevolutioneval_tag"]) for row in rows).items()))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


@dataclass(frozen=True, slots=True)
class _Placed:
    path: Path
    manifest_sha256: str
    written: bool


def _place(draft: Path, folder: Path, name: str) -> _Placed:
    """Move a draft to its name, or to the next revision of it; keep what is there if it is the same."""
    digest = sha256_file(draft / "manifest.json") or ""
    revision = 1
    while True:
        path = folder / (name if revision == 1 else f"{name}.r{revision}")
        if not path.exists():
            draft.rename(path)
            return _Placed(path, digest, True)
        if sha256_file(path / "manifest.json") == digest:
            return _Placed(path, digest, False)
        revision += 1


def latest(snapshots: Path, profile: str) -> Path | None:
    """Return the folder of the newest snapshot of a profile, None where there is none."""
    pointer = snapshots / profile / "latest"
    return pointer.parent / pointer.read_text().strip() if pointer.is_file() else None
