"""What the profile `popular` costs with all its releases: docs/operations/plan.md, from what was measured.

Usage: python -m benchmarks.plan measure --costs COSTS.jsonl --run DATA/runs/NAME --again DATA/runs/NAME --data DATA
                                       --held DATA/runs/NAME
       python -m benchmarks.plan write

`measure` writes what was counted into benchmarks/plan.json: the lines of benchmarks.costs, the counts of refreshes from
nothing (`--run`, which may be repeated), of one that found nothing new (`--again`), the disk of a data folder, and a
refresh of many libraries that the plan is held against (`--held`); what is not named stays as it was. `write` makes the
page of it, of the facts about the libraries and of the rules; a test holds both together.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.costs import disk_of
from benchmarks.plan_held import refresh_of
from benchmarks.plan_page import page
from pipeline.core.settings import PROJECT
from pipeline.lake.runner import read_counts
from pipeline.lake.tables import Lake

MEASURED = PROJECT / "benchmarks" / "plan.json"
PAGE = PROJECT / "docs" / "operations" / "plan.md"


def stages_of_runs(runs: Iterable[Path]) -> dict[str, dict[str, float]]:
    """Add up what stages took in, their seconds, and the libraries and releases that came to an end in these runs."""
    total: dict[str, dict[str, float]] = {}
    for run in runs:
        counts = read_counts(run / "counts")
        finished = {count.library for count in counts if count.stage == "scenes_acceptance"}
        releases = {count.library: count.units_out for count in counts if count.stage == "crawl"}
        for count in counts:
            if count.library in finished:
                entry = {
                    "units": count.units_in,
                    "seconds": count.seconds,
                    "libraries": 1,
                    "releases": releases[count.library],
                }
                _add(total, count.stage, entry)
    return dict(sorted(total.items()))


def stages_of_costs(path: Path) -> dict[str, dict[str, float]]:
    """Add up the lines of benchmarks.costs; of a stage that was repeated only the first counts."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for line in path.read_text().splitlines():
        cost = json.loads(line)
        if "stage" in cost:
            first.setdefault((cost["library"], cost["stage"]), cost)
    releases = {library: cost["units_out"] for (library, stage), cost in first.items() if stage == "crawl"}
    total: dict[str, dict[str, float]] = {}
    for (library, stage), cost in first.items():
        entry = {"units": cost["units_in"], "libraries": 1, "releases": releases[library]}
        _add(total, stage, entry | {name: cost[name] for name in ("seconds", "cpu_seconds", "received_bytes")})
    return dict(sorted(total.items()))


def _add(total: dict[str, dict[str, float]], stage: str, entry: Mapping[str, float]) -> None:
    known = total.setdefault(stage, dict.fromkeys(entry, 0))
    for name, value in entry.items():
        known[name] = round(known[name] + value, 3)


def measure(asked: argparse.Namespace) -> dict[str, Any]:
    """Return what was counted; what is not given anew stays as it was."""
    kept: dict[str, Any] = json.loads(MEASURED.read_text()) if MEASURED.is_file() else {}
    if asked.costs:
        kept["costs"] = stages_of_costs(asked.costs)
    if asked.run:
        kept["runs"] = stages_of_runs(asked.run)
        kept["peak_memory_bytes"] = max(
            count.peak_memory_bytes for run in asked.run for count in read_counts(run / "counts")
        )
    if asked.again:
        kept["again"] = stages_of_runs([asked.again])
    if asked.data:
        kept["disk"] = _disk(asked.data)
    if asked.held:
        kept["held"] = refresh_of(asked.held.parents[1], asked.held)
    return kept


def _disk(data: Path) -> dict[str, int]:
    """Return the bytes of a data folder, with how many libraries, releases, environments and snapshots it has."""
    lake = Lake(data / "lake")
    libraries = lake.libraries("releases")
    releases = sum(len(lake.read("releases", library)) for library in libraries)
    locks = len(list((data / "cache" / "environments").glob("*/lock.txt")))
    published = len(list((data / "snapshots").glob("*/*/manifest.json")))
    counted = {"locks": locks, "releases": releases, "libraries": len(libraries), "published": published}
    return disk_of(data) | counted


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("--costs", type=Path)
    parser.add_argument("--run", type=Path, action="append")
    parser.add_argument("--again", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--held", type=Path)
    asked = parser.parse_args()
    if asked.what == "measure":
        MEASURED.write_text(json.dumps(measure(asked), indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(json.loads(MEASURED.read_text())))


if __name__ == "__main__":
    main()
