"""Histories of small packages written in the test, through the surface as in the real run."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.api.history.compare import Comparison, changes_of
from pipeline.api.history.index import Index
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.stage import lifecycle_stage
from pipeline.api.surface.stage import surface_stage
from pipeline.core.rules.load import RULES, load
from pipeline.lake.rows import ChangeRow, ReleaseRow
from pipeline.lake.stage import Output
from tests.api.surface.trees import surface

TAGGING = load(RULES / "tags.yaml", LifecycleRules)

Files = Mapping[str, str] | str


def changes(old: Files, new: Files) -> list[ChangeRow]:
    """Compare two releases, 1.0 and 1.1, of `pkg`."""
    return changes_between(index(old), index(new))


def changes_between(old: Index, new: Index) -> list[Any]:
    return changes_of(Comparison(old, new, TAGGING), "pkg", "1.0", "1.1")


def index(files: Files) -> Index:
    """Return the index of a release of these files."""
    read = surface(files)
    return Index(read.symbols.values(), read.importable_names.values())


def described(rows: Sequence[Any]) -> list[str]:
    """Write each change as `kind path [parameter] [-> new path]`."""
    return [
        " ".join(
            part
            for part in (
                str(row["kind"]),
                row["path"],
                row["parameter"],
                f"-> {row['new']}" if row["kind"] in {"renamed", "moved"} else None,
            )
            if part
        )
        for row in rows
    ]


def history(*sources: Files, predecessor: str | None = None, gap_before: str | None = None) -> tuple[Output, Output]:
    """Run both stages over releases 1.0, 1.1, … of `pkg`; before `gap_before` one is missing."""
    versions = [f"1.{number}" for number in range(len(sources))]
    releases: list[ReleaseRow] = [
        {
            "library": "pkg",
            "version": version,
            "predecessor": "missing" if version == gap_before else before,
            "sha256": version,
        }
        for version, before in zip(versions, [predecessor, *versions], strict=False)
    ]
    surfaces = {version: surface(source) for version, source in zip(versions, sources, strict=True)}
    read = surface_stage({"releases": releases}, lambda row: surfaces[row["version"]])
    return read, lifecycle_stage(
        {"releases": releases, "symbols": read.tables["symbols"], "importable_names": read.tables["importable_names"]},
        TAGGING,
    )
