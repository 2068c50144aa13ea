"""Candidates: complete snapshots without a place, to be compared, checked and approved."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from filelock import FileLock

from pipeline.core.build import build_version
from pipeline.core.versions import all_versions
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.index.release_selection import Period
from pipeline.lake.ids import sha256_file, sha256_json
from pipeline.lake.rows import AnyRow, RejectRow, ReleaseRow
from pipeline.lake.runner import TRANSIENT
from pipeline.lake.tables import Lake, write_parts
from pipeline.snapshots.comparison.errata import errata_of
from pipeline.snapshots.description.card import TEXT_COLUMNS, texts_of
from pipeline.snapshots.format.manifest import FORMAT, Covered, Entry, Manifest, read_manifest
from pipeline.snapshots.format.names import last_before
from pipeline.snapshots.format.reader import DATA, DEPRECATED
from pipeline.snapshots.format.rows import (
    TABLES,
    TAGGED,
    NothingToPublish,
    PublishedRows,
    Rows,
    nothing_to_publish,
    read_tables,
)
from pipeline.snapshots.format.survival_figures import rows_until

# A failing index or a missing token is temporary, and must not cause another revision of the data.
_OF_A_DAY = TRANSIENT | {RejectReason.SOURCE_LEFT_OUT}

TEXTS = ("ATTRIBUTION.md", "README.md")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A complete snapshot without a place; `name` is its future name, `last` its predecessor's (`last_before`)."""

    path: Path
    profile: str
    name: str
    manifest_sha256: str
    last: str | None
    rows: Mapping[str, int]


_EARLIER_FOLDER = "drafts"
"""The name of the folder of candidates before 2026-12-01."""


def candidates_folder(folder: Path) -> Path:
    """Return the folder of candidates; where there is none yet, one of an earlier driftline beside it goes on."""
    earlier = folder.with_name(_EARLIER_FOLDER)
    return earlier if earlier.is_dir() and not folder.exists() else folder


def make_candidate(
    lake: Lake,
    candidates: Path,
    snapshots: Path,
    profile: str,
    libraries: Sequence[str],
    period: Period,
    rules: Mapping[str, str],
    same_code_fails: Collection[Outcome],
    started: datetime | None = None,
) -> Candidate:
    """Write the snapshot of a profile from the lake into the folder of candidates; `rules` are hashes by name.
    The card says by `same_code_fails` of `quality.yaml` why rows do not discriminate.

    The same lake and the same last snapshot give the same bytes. The name has the profile, the end of the covered
    period, and the hash of the manifest. A period without an end ends when the refresh `started`, or with the newest
    release. A lock serializes processes of one profile. If only the build differs from the last snapshot, the manifest
    of that is used again.

    Errors: NothingToPublish where the lake has no accepted instance of the libraries; OutdatedTables where rows of a
    library do not have today's columns.
    """
    tables = read_tables(lake, profile, libraries).filtered("survivals", partial(rows_until, until=period.until))
    narrow = tables.only(TEXT_COLUMNS)
    if not any(narrow[family] for family in INSTANCE_TABLES):
        raise NothingToPublish(nothing_to_publish(profile, libraries, narrow["rejects"]))
    folder = candidates / profile
    folder.mkdir(parents=True, exist_ok=True)
    end = period.until or started or _newest(narrow["releases"])
    name = f"{profile}-{end.astimezone(UTC):%Y-%m-%d}"
    last = last_before(snapshots, profile, name)
    reviews = [row for library in libraries for row in lake.read("reviews", library)]
    errata = errata_of(last, tables, tables["rejects"], reviews, tables["survivals"])
    tables = tables.and_also({"errata": errata.rows}).filtered("rejects", _lasting)
    with FileLock(folder / ".lock"):
        clean(folder)
        unnamed = folder / f".{name}.{os.getpid()}.tmp"
        try:
            rows, digest = _write(unnamed, tables, errata.deprecated, profile, period, rules, same_code_fails, last)
            path = folder / f"{name}.{digest[:16]}"
            if not path.exists():
                unnamed.rename(path)
        finally:
            shutil.rmtree(unnamed, ignore_errors=True)
    return Candidate(path, profile, name, digest, last.name if last else None, rows)


def _lasting(rejects: Iterable[RejectRow]) -> list[RejectRow]:
    return [row for row in rejects if row["reason"] not in _OF_A_DAY]


def clean(folder: Path) -> None:
    """Remove leftovers of killed processes; the caller holds the lock."""
    for leftover in folder.glob(".*.tmp"):
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()


def _newest(releases: Sequence[ReleaseRow]) -> datetime:
    newest: datetime = max(row["release_time"] for row in releases)
    return newest


def _write(
    folder: Path,
    tables: Rows,
    deprecated: Mapping[str, list[AnyRow]],
    profile: str,
    period: Period,
    rules: Mapping[str, str],
    same_code_fails: Collection[Outcome],
    before: Path | None,
) -> tuple[dict[str, int], str]:
    """Write the files of a snapshot; return the rows of each configuration and the hash of the manifest."""
    build = build_version()
    files = [_table(folder, DATA, config, tables.parts(config)) for config in tables]
    rows = {config: entry.rows or 0 for config, entry in zip(tables, files, strict=True)}
    files += [_table(folder, DEPRECATED, config, [gone]) for config, gone in deprecated.items()]
    narrow = PublishedRows(folder / DATA, TEXT_COLUMNS)
    # never the current time: the same rows give the same bytes on another day
    end = period.until or _newest(narrow["releases"])
    for name, text in texts_of(profile, end, narrow, deprecated, files, same_code_fails).items():
        (folder / name).write_text(text, encoding="utf-8")
        files.append(_entry(folder, folder / name))
    manifest = Manifest(
        format=FORMAT,
        driftline=build,
        profile=profile,
        period=Covered(since=_iso(period.since), until=_iso(period.until)),
        rules_sha256=sha256_json(rules),
        rules=dict(rules),
        versions=all_versions(),
        libraries=dict(sorted(Counter(row["library"] for row in narrow["releases"]).items())),
        tags={family: tag_counts(narrow[family]) for family in TAGGED},
        files=tuple(files),
    )
    if before and manifest.model_copy(update={"driftline": (earlier := read_manifest(before)).driftline}) == earlier:
        manifest = earlier  # the same content by another build is no new snapshot
    manifest.write(folder / "manifest.json")
    return rows, sha256_file(folder / "manifest.json") or ""


def _table(folder: Path, split: str, config: str, parts: Iterable[Sequence[AnyRow]]) -> Entry:
    path = folder / split / f"{config}.parquet"
    count = write_parts(path, TABLES[config], parts, volatile=False)
    return _entry(folder, path, TABLES[config], count)


def _entry(folder: Path, path: Path, table: str | None = None, rows: int | None = None) -> Entry:
    return Entry(
        path=path.relative_to(folder).as_posix(),
        sha256=sha256_file(path) or "",
        bytes=path.stat().st_size,
        table=table,
        rows=rows,
    )


def tag_counts(rows: Iterable[AnyRow]) -> dict[str, int]:
    """Count instances by their LibEvolutionEval tag."""
    return dict(sorted(Counter(str(row["libevolutioneval_tag"]) for row in rows).items()))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None
