"""The page of the plan: tables of what was measured, and what follows from them for the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.plan_held import section
from benchmarks.tables import markdown_table
from pipeline.core.rules.load import RULES, load
from pipeline.core.settings import Settings
from pipeline.execution.caches.rules import CacheRules
from pipeline.index.library_facts import FOLDER, Fact, read_facts, read_ranking
from pipeline.orchestration.library_choice.choose import choose
from pipeline.orchestration.library_choice.rules import ChoosingRules
from pipeline.orchestration.retention.rules import retention_rules
from pipeline.quality.acceptance.quality import QualityRules

WORKERS = 10
ENVIRONMENTS_GIB: float = Settings.model_fields["environments_gib"].default
WEEKLY_RELEASES = 60
UNITS: Mapping[str, str] = {
    "crawl": "release", "gather": "file or post", "sites": "documented API", "surface": "module of a release",
    "lifecycle": "release", "directives": "docstring", "api_documents": "docstring", "snippets": "example or piece",
    "usage": "chain of names", "instances": "candidate", "drafting": "instance", "controlled": "documented API",
    "environments": "environment", "validation": "validated case", "problems": "problem candidate",
    "functions": "function candidate", "projects": "project", "repository_tasks": "traced function",
    "scenes": "traced function", "flags": "instance", "acceptance": "instance", "contexts": "completion",
}  # fmt: skip
PER_LIBRARY = frozenset({"gather", "sites", "projects", "repository_tasks", "scenes"})
"""What a library has once, however many releases: files of dependents, its newest project."""

IN_SANDBOX = frozenset({"validation", "problems", "functions", "projects", "repository_tasks", "scenes"})
"""Stages of which the CPU cannot be seen from outside: it is that of processes which end with their sandbox."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much the profile is: libraries, final releases, those since the rule's day, and how many of it are known."""

    libraries: int
    known: int
    releases: int
    releases_known: int
    gib: float
    largest: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Line:
    """A stage: what was measured of it, and what it comes to for the profile."""

    stage: str
    units: float
    seconds_per_unit: float
    cpu_per_unit: float | None
    units_each: float
    planned: float

    @property
    def hours(self) -> float:
        """Hours on the machine that it was measured on."""
        return self.planned * self.seconds_per_unit / 3600


def page(measured: Mapping[str, Any]) -> str:
    """Return docs/operations/plan.md."""
    size = size_of_profile()
    lines = [line for stage in UNITS if (line := _line(stage, measured, size))]
    parts = (
        _head(size),
        _units(lines),
        _time(lines, measured, size),
        _week(lines, measured, size),
        _disk(measured, size),
        _network(measured, size),
        section(measured["held"], {line.stage: line.seconds_per_unit for line in lines}),
    )
    return "\n\n".join(parts) + "\n"


def size_of_profile() -> Size:
    """Count the profile from the kept facts; libraries that were never asked about count as the mean of the others."""
    rules = load(RULES / "libraries.yaml", ChoosingRules)
    licences = load(RULES / "quality.yaml", QualityRules).licences
    considered = choose(read_ranking(FOLDER / "ranking.csv"), read_facts(FOLDER / "facts.jsonl"), rules, licences)
    chosen = [one for one in considered if one.reason is None]
    facts: list[Fact] = [one.fact for one in chosen if one.fact]
    known = sum(fact.all_releases for fact in facts)
    largest = max(facts, key=lambda fact: fact.all_releases)
    factor = len(chosen) / len(facts)
    gib = sum(fact.bytes for fact in facts) * factor / (1 << 30)
    return Size(len(chosen), len(facts), round(known * factor), known, gib, (largest.library, largest.all_releases))


def _line(stage: str, measured: Mapping[str, Any], size: Size) -> Line | None:
    run = measured["runs"].get(stage)
    if not run or not run["units"]:
        return None
    costs = measured.get("costs", {}).get(stage)
    cpu = costs["cpu_seconds"] / costs["units"] if costs and costs["units"] and stage not in IN_SANDBOX else None
    each, number = ("libraries", size.libraries) if stage in PER_LIBRARY else ("releases", size.releases)
    rate = run["units"] / run[each]
    return Line(stage, run["units"], run["seconds"] / run["units"], cpu, rate, rate * number)


def _head(size: Size) -> str:
    return f"""\
# 300 libraries and all their releases

Made by `python -m benchmarks.plan write` from `benchmarks/plan.json` (measurements, explained in
`benchmarks/plan.py`), `data/libraries/` and the rules. All of it was measured on one machine of 2 cores that other work
shared: ratios are to be trusted more than seconds.

The profile `popular` has {size.libraries} libraries{_unasked(size)} with **{size.releases:,} final releases**, whose
files (one each, preferably a pure wheel) have {size.gib:,.0f} GiB. Of long wheels only the sources are fetched."""


def _unasked(size: Size) -> str:
    if size.known == size.libraries:
        return ""
    return f" ({size.libraries - size.known} never asked about at the index, which count as the mean of the others)"


def _units(lines: Sequence[Line]) -> str:
    rows = [
        (
            line.stage,
            UNITS[line.stage],
            f"{line.units:,.0f}",
            _number(line.seconds_per_unit),
            _number(line.cpu_per_unit),
            f"{line.units_each:.3g} per {'library' if line.stage in PER_LIBRARY else 'release'}",
        )
        for line in lines
    ]
    head = ("stage", "a unit is", "units measured", "seconds per unit", "CPU seconds per unit", "units")
    return f"""\
## What a unit costs

Seconds are those of refreshes from nothing over the starter's libraries, with both cores. CPU seconds come from a
second measurement (`benchmarks/costs.py`: libraries of the profile, the newest releases of each, one process). They
count all processes of the stage, except those in a sandbox, which cannot be measured from outside. So stages that run
code have seconds only (of two cores: CPU at most twice as much). Units per release or library are those of the starter.

{markdown_table(head, rows)}"""


def _time(lines: Sequence[Line], measured: Mapping[str, Any], size: Size) -> str:
    rows = [(line.stage, f"{line.planned:,.0f}", f"{line.hours:.2f}") for line in lines if line.hours >= 0.1]
    total = sum(line.hours for line in lines)
    index = sum(line.hours for line in lines if line.stage in ("crawl", "gather", "sites"))
    memory = measured["peak_memory_bytes"] / (1 << 30)
    name, releases = size.largest
    each = sum(line.hours for line in lines if line.stage not in PER_LIBRARY) / size.releases
    longest = releases * each
    many = max((total - index) / WORKERS, longest) + index
    return f"""\
## Time, the first time

{markdown_table(("stage", "units of the profile", "hours on 2 cores"), rows)}

| | hours |
|---|---|
| 2 cores, one library after the other | {total:.0f} |
| of it asking index and sources, which more workers do not hasten: rates hold for all together | {index:.1f} |
| {WORKERS} workers of 2 cores | {many:.1f} |
| the library with most releases ({name}, {releases}), which one worker has to itself | {longest:.1f} |

More workers help until the largest library alone takes as long as all the others. Take the first refresh in parts:
`driftline refresh --profile popular --libraries …`, or by periods (`--since`, `--until`); finished work in the lake is
not repeated.

A worker needs memory for one library: {memory:.1f} GiB at most for those of the starter, 0.7 for reading pandas.
{_large()}"""


def _large() -> str:
    return """
Libraries of the starter are small. Reading a large one costs more for each release. `benchmarks/history.py` measured
crawl, surface and comparison of whole histories, in CPU seconds for each release: networkx 0.27, pandas 0.48. Runs of
large libraries were not measured, and count here as growing with the releases. That is the plan's greatest doubt."""


def _week(lines: Sequence[Line], measured: Mapping[str, Any], size: Size) -> str:
    again = measured["again"]
    libraries = again["crawl"]["libraries"]
    idle = sum(stage["seconds"] for stage in again.values()) / libraries
    per_release = sum(line.seconds_per_unit * line.units_each for line in lines if line.stage not in PER_LIBRARY)
    per_library = sum(line.seconds_per_unit * line.units_each for line in lines if line.stage in PER_LIBRARY)
    checking, new, own = (
        size.libraries * idle / 60,
        WEEKLY_RELEASES * per_release / 60,
        WEEKLY_RELEASES * per_library / 60,
    )
    return f"""\
## A week

| | minutes on 2 cores |
|---|---|
| looking at {size.libraries} libraries, of which nothing is new: {idle:.2f} s each | {checking:.0f} |
| {WEEKLY_RELEASES} new releases: {per_release:.1f} s each | {new:.0f} |
| projects and sources of as many libraries: {per_library:.1f} s each | {own:.0f} |"""


def _disk(measured: Mapping[str, Any], size: Size) -> str:
    disk = measured["disk"]
    releases, libraries = disk["releases"], disk["libraries"]
    limits = retention_rules().caches
    assert limits is not None
    of_releases = (releases, "release", size.releases)
    counted = {
        "lake": (*of_releases, None),
        "a snapshot": (*of_releases, None),
        "artifacts": (*of_releases, _gib_limit("artifacts", limits)),
        "records": (*of_releases, _gib_limit("records", limits)),
        "downstream": (libraries, "library", size.libraries, _gib_limit("downstream", limits)),
        "projects": (libraries, "library", size.libraries, _gib_limit("projects", limits)),
        "environments": (disk["locks"], "environment", size.releases, ENVIRONMENTS_GIB),
    }
    sizes = disk | {"a snapshot": disk["snapshots"] / disk["published"]}
    year = sizes["a snapshot"] / releases * size.releases * 52 / (1 << 30)
    rows = [_disk_row(name, sizes[name], *how) for name, how in counted.items()]
    return f"""\
## Disk

{markdown_table(("folder", "measured", "of the profile", "limit", f"at most on each of {WORKERS} workers"), rows)}

The lake and the snapshots have no limit. With a snapshot each week that is {year:.0f} GiB in a year, unless `snapshots`
in `retention.yaml` lets old ones go. `driftline clean` brings caches below their limits (`retention.yaml`,
`DRIFTLINE_ENVIRONMENTS_GIB`): entries that were used longest ago go first, entries in use stay. Environments with large
wheels need more than those of the starter. 369 of them, with numpy, pandas and scipy among them, had 7.2 GB, so the
limit holds about a thousand. An environment that went comes back from its lock.

Workers share lake and snapshots through an object store, which also holds files replaced in the last week. Each worker
has caches of its own, and the snapshots that it needed."""


def _gib_limit(name: str, limits: CacheRules) -> float:
    return limits.limit_bytes(name) / (1 << 30)


def _disk_row(
    name: str, size: float, count: float, unit: str, planned: int, limit: float | None
) -> tuple[str, str, str, str, str]:
    """Return a line on what a folder needs; without a limit, in GiB, it is kept."""
    total = size / count * planned / (1 << 30)
    told = "kept" if limit is None else f"{limit:g} GiB{' (setting)' if name == 'environments' else ''}"
    each = total if limit is None else min(total, limit)
    return name, f"{size / count / 1024:,.0f} KiB per {unit}", f"{total:.1f} GiB", told, f"{each:.1f} GiB"


def _network(measured: Mapping[str, Any], size: Size) -> str:
    costs = measured.get("costs", {})
    lake = measured["disk"]["lake"] / measured["disk"]["releases"] * size.releases / (1 << 30)
    rows = [
        (
            stage,
            f"{costs[stage]['received_bytes'] / costs[stage][each] / (1 << 20):.2f} MiB per {unit}",
            f"{total:.1f} GiB",
        )
        for stage, each, unit, number in (
            ("crawl", "releases", "release", size.releases),
            ("gather", "libraries", "library", size.libraries),
            ("environments", "units", "environment", size.releases),
            ("projects", "libraries", "library", size.libraries),
        )
        if stage in costs and costs[stage][each]
        for total in [costs[stage]["received_bytes"] / costs[stage][each] * number / (1 << 30)]
    ]
    return f"""\
## Network

Bytes that the machine received while a stage ran, other work included; so these are upper bounds:

{markdown_table(("stage", "received", "of the profile"), rows)}

The files of all releases together have {size.gib:,.0f} GiB; compiled wheels, most of that, are read by ranges.

On {WORKERS} workers, each group of stages of a library may run on another one, which then receives the files that it
needs. An environment is made by `build`, and made again from its lock where another worker runs `prove`. The lake
({lake:.1f} GiB) goes to the object store once. It comes from it at most once for each of the five groups, and
for the end of the refresh."""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
