"""Snapshots: immutable folders of Parquet files with a manifest, found through a `latest` pointer that moves last."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.crawl import Period
from pipeline.lake import Lake, Row, replacing, sha256_file, write_json, write_parquet
from pipeline.publish.card import attribution_text, card_text

FORMAT = 1
"""Version of the layout of a snapshot; raised when a reader of the old one would be misled."""

TABLES: dict[str, str] = {
    "completions": "published_completions",
    "migrations": "published_migrations",
    "changes": "changes",
    "documents": "documents",
    "environments": "environments",
    "flags": "flags",
    "lifecycles": "lifecycles",
    "rejects": "rejects",
    "releases": "releases",
    "snippets": "snippets",
    "symbols": "symbols",
    "usages": "usages",
    "verdicts": "verdicts",
}
"""Name of a configuration of the data set to the declared table that it holds; instance families come first."""

FAMILIES = ("completions", "migrations")


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
    what was published is never touched.
    """
    folder = snapshots / profile
    folder.mkdir(parents=True, exist_ok=True)
    tables = {config: _rows(lake, table, libraries) for config, table in TABLES.items()}
    name = _name(profile, tables["releases"], period)
    draft = folder / f".{name}.{os.getpid()}.tmp"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _write(draft, tables, profile, period, rules_sha256)
        final = _place(draft, folder, name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    with replacing(folder / "latest") as temporary:
        temporary.write_text(final.path.name + "\n")
    return Published(
        final.path, final.manifest_sha256, final.written, {config: len(rows) for config, rows in tables.items()}
    )


def _rows(lake: Lake, table: str, libraries: Iterable[str]) -> list[Row]:
    return [row for library in libraries for row in lake.read(table, library)]


def _name(profile: str, releases: Sequence[Row], period: Period) -> str:
    end = period.until or max((row["release_time"] for row in releases), default=None)
    return f"{profile}-{end:%Y-%m-%d}" if end else f"{profile}-empty"


def _write(folder: Path, tables: Mapping[str, list[Row]], profile: str, period: Period, rules_sha256: str) -> None:
    files = []
    for config, rows in tables.items():
        path = folder / "data" / f"{config}.parquet"
        count = write_parquet(path, TABLES[config], rows, volatile=False)
        files.append(_entry(folder, path, rows=count, table=TABLES[config]))
    texts = {"README.md": card_text(profile, tables, TABLES), "ATTRIBUTION.md": attribution_text(tables["releases"])}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        files.append(_entry(folder, folder / name))
    write_json(folder / "manifest.json", _manifest(files, tables, profile, period, rules_sha256))


def _entry(folder: Path, path: Path, **more: Any) -> dict[str, Any]:
    return {
        "path": str(path.relative_to(folder)),
        "sha256": sha256_file(path),
        "bytes": path.stat().st_size,
        **more,
    }


def _manifest(
    files: Sequence[Mapping[str, Any]],
    tables: Mapping[str, list[Row]],
    profile: str,
    period: Period,
    rules_sha256: str,
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "driftline": __version__,
        "profile": profile,
        "period": {"since": _iso(period.since), "until": _iso(period.until)},
        "rules_sha256": rules_sha256,
        "libraries": dict(sorted(Counter(row["library"] for row in tables["releases"]).items())),
        "tags": {family: tag_counts(tables[family]) for family in FAMILIES},
        "files": sorted(files, key=lambda file: file["path"]),
    }


def tag_counts(rows: Iterable[Row]) -> dict[str, int]:
    """Count instances by their LibEvolutionEval tag."""
    return dict(sorted(Counter(str(row["libevolutioneval_tag"]) for row in rows).items()))


def _iso(time: Any) -> str | None:
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


def read_manifest(snapshot: Path) -> dict[str, Any]:
    """Read a snapshot's manifest.

    Errors: ValueError naming the file where it is missing, not JSON, or of another format.
    """
    path = snapshot / "manifest.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{snapshot}: no manifest.json, so this is not a snapshot") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path}: not a manifest of format {FORMAT}, which this version of driftline reads")
    return manifest
