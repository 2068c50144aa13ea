"""A real refresh of many libraries of the profile, and what the plan's unit costs had said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.costs import disk_of
from benchmarks.tables import markdown_table
from pipeline.lake.runner import read_counts
from pipeline.orchestration.failures import failures_of

_MIB = 1 << 20


def refresh_of(data: Path, run: Path) -> dict[str, Any]:
    """Return what a published run took and made: seconds by the clock, its stages, rows, bytes of the data folder."""
    told = json.loads((run / "run.json").read_text())
    published = json.loads((run / "published.json").read_text())
    counts = read_counts(run / "counts")
    stages: dict[str, dict[str, float]] = {}
    for count in counts:
        entry = stages.setdefault(count.stage, dict.fromkeys(("units", "made", "rejected", "seconds"), 0))
        entry["units"] += count.units_in
        entry["made"] += count.units_out
        entry["rejected"] += sum(count.rejected.values())
        entry["seconds"] += count.seconds
    for entry in stages.values():
        entry["seconds"] = round(entry["seconds"], 1)
    began, ended = (datetime.fromisoformat(told[name]) for name in ("began", "ended"))
    return {
        "day": f"{began:%Y-%m-%d}",
        "since": told["since"],
        "asked": len(told["libraries"]),
        "libraries": sum(count.stage == "crawl" and count.units_out > 0 for count in counts),
        "releases": int(stages["crawl"]["made"]),
        "stages": stages,
        "clock_seconds": (ended - began).total_seconds(),
        "peak_memory_bytes": max(count.peak_memory_bytes for count in counts),
        "rows": published["rows"],
        "manifest_sha256": published["manifest_sha256"],
        "failed": len(failures_of(run)),
        "disk": disk_of(data),
    }


def section(held: Mapping[str, Any], per_unit: Mapping[str, float]) -> str:
    """Return the section of the page; `per_unit` are the plan's seconds of a unit of each stage."""
    stages: Mapping[str, Mapping[str, float]] = held["stages"]
    lines = [
        (stage, *(f"{entry[name]:,.0f}" for name in ("units", "made", "rejected", "seconds")), f"{planned:,.0f}")
        for stage, entry in stages.items()
        for planned in [entry["units"] * per_unit.get(stage, 0)]
        if max(entry["seconds"], planned) >= 1
    ]
    seconds = sum(entry["seconds"] for entry in stages.values())
    planned = sum(entry["units"] * per_unit.get(stage, 0) for stage, entry in stages.items())
    times = seconds / held["clock_seconds"]
    none, rows = held["asked"] - held["libraries"], sum(held["rows"].values())
    head = ("stage", "in", "out", "rejected", "seconds", "seconds by the unit costs")
    return f"""\
## Held against a real refresh

On {held["day"]} a refresh in Airflow took {held["asked"]} libraries of the profile from an empty data folder to a
snapshot of {rows:,} rows. It covered their {held["releases"]:,} releases since {held["since"]} ({none} libraries had
none).

| | |
|---|---|
| minutes by the clock, on 2 cores that had other work too | {held["clock_seconds"] / 60:.0f} |
| libraries that failed | {held["failed"]} |
| most memory of a process, MiB | {held["peak_memory_bytes"] / _MIB:,.0f} |
| lake afterwards, MiB | {held["disk"]["lake"] / _MIB:,.0f} |
| snapshot, MiB | {held["disk"]["snapshots"] / _MIB:,.0f} |
| caches, MiB | {_caches(held["disk"]):,.0f} |

Two libraries were worked on at a time, so that the seconds of all stages are {times:.1f} times those of the clock.

{markdown_table(head, [*lines, ("all", "", "", "", f"{seconds:,.0f}", f"{planned:,.0f}")])}

The unit costs above say {planned / seconds:.0%} of what it took."""


def _caches(disk: Mapping[str, int]) -> float:
    return sum(size for name, size in disk.items() if name not in ("lake", "snapshots", "runs")) / _MIB
