"""What the history of a library costs: ours against griffe with default settings loading each release, in one run.

    python -m benchmarks.history flask networkx pandas --json history.json

Every final release of each library is taken. The archives are fetched first and unpacked once, which is timed as
"unpack"; then, each step in a process of its own, CPU seconds of user and system with all children:

- griffe: `griffe.load` of each release from its unpacked folder, as `pip install griffe` gives it, and with its extra
  `faster`;
- ours: the stages `surface` and `lifecycle` into an empty lake, from the sources that `crawl` stored;
- alike: the same for those releases only that griffe can load, since one that it refuses costs it nothing: a package
  of which the first file is Python 2;
- one more: the same with the last release added to a lake that has all others.

A core that others share is half as fast again from one minute to the next. So they take turns: in each of `--rounds`
griffe loads a part of the releases, and then ours does the whole. Griffe's figure is the sum of its parts, ours the
mean of its rounds, with the least and the most beside it.

One process loads many releases, as a loop over them does. Memory that the ones before hold makes each dearer; with
`--apart` each has a process of its own, of which neither the start nor the end counts (with griffe's defaults only, not
with `faster`).

With `--sample N` griffe loads every Nth release only, and what that cost is multiplied: minutes instead of many. The
column "loadable" says how many of all releases griffe can load.

`crawl` fetches what is needed by ranges; its CPU is shown beside, since griffe needs the unpacked files just as we do.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import griffe
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from benchmarks.unpacked import fetch, search_path, unpack
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.index.release_selection import Period
from pipeline.lake.runner import run_stage
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of

LIBRARIES = ("flask", "networkx", "pandas")
"""A small, a middle and a large one."""

STAGES = ("surface", "lifecycle")

Cost = dict[str, Any]
"""What a step cost: CPU and wall-clock seconds, the peak in MiB, and the releases that griffe loaded."""


def cpu() -> float:
    """Return the CPU seconds of this process and its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_bytes() -> int:
    """Return the peak resident bytes of this process or of one of its children, whichever had more."""
    return 1024 * max(resource.getrusage(w).ru_maxrss for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(work: Callable[[], list[str] | None]) -> Cost:
    """Do a piece of work and say what it cost, and which releases it was done with."""
    began, spent = time.monotonic(), cpu()
    done = work()
    cost = {"cpu_s": cpu() - spent, "wall_s": time.monotonic() - began, "peak_mib": peak_bytes() / 2**20}
    return cost | {"releases": done or []}


def load_with_griffe(
    folder: Path, name: str, part: slice, *, faster: bool = False, submodules: bool = True, apart: bool = False
) -> list[str]:
    """Load a part of the releases with griffe's defaults and return those that could be; the extra can be off.

    Without submodules this says at little cost which releases can be: griffe passes over those that do not parse.
    """
    from griffe._internal.agents import parser

    if not faster:
        parser.prune_source = None  # type: ignore[attr-defined,assignment]
    load = _loads_apart if apart else _loads
    places = ((release.name, search_path(release, name)) for release in sorted(folder.iterdir())[part])
    return [release for release, place in places if place and load(name, place, release, submodules)]


def _loads(name: str, place: Path, release: str, submodules: bool) -> bool:
    """Load one release with griffe and return whether it could be."""
    try:
        griffe.load(name, search_paths=[place], submodules=submodules)
    except Exception as error:  # noqa: BLE001 - whatever griffe makes of a release of 2009, the next one counts
        print(f"{release}: {type(error).__name__}: {error}"[:200], file=sys.stderr)  # noqa: T201
        return False
    return True


def _loads_apart(*given: str | Path | bool) -> bool:
    """Do the same in a process that does nothing else and ends with all that it holds."""
    process = get_context("fork").Process(target=lambda: os._exit(not _loads(*given)))  # type: ignore[arg-type]
    process.start()
    process.join()
    return process.exitcode == 0


def resources(library: str, versions: str) -> Resources:
    """Return the stages over some releases of a library."""
    rule = LibraryRule(library=library, versions=versions)
    return Resources(settings(), Profile(name="benchmark", libraries=(rule,)), Period())


def run(library: str, versions: str, stages: tuple[str, ...]) -> None:
    """Run stages for a library in the lake of the settings."""
    made = resources(library, versions)
    for name in stages:
        run_stage(stages_of(made)[name], library, made.lake, settings().runs / "benchmark")


def step(name: str, library: str, folder: Path, versions: str, part: slice) -> Cost:
    """Do one step of the benchmark in this process."""
    import_name = library.replace("-", "_")
    # imports count for neither side: with its first array pyarrow imports pandas, where development has installed it
    pa.array([None])
    steps: dict[str, Callable[[], list[str] | None]] = {
        "loadable": lambda: load_with_griffe(folder, import_name, part, submodules=False),
        "griffe": lambda: load_with_griffe(folder, import_name, part),
        "griffe_apart": lambda: load_with_griffe(folder, import_name, part, apart=True),
        "griffe_faster": lambda: load_with_griffe(folder, import_name, part, faster=True),
        "crawl": lambda: run(library, versions, ("crawl",)),
        "ours": lambda: run(library, versions, STAGES),
    }
    return timed(steps[name])


def in_process(
    name: str, library: str, folder: Path, data: Path, versions: str = "", part: tuple[int, int] = (0, 1)
) -> Cost:
    """Do one step in a process of its own, with a lake and cache of its own; `part` is a first release and a stride."""
    command = [sys.executable, "-m", "benchmarks.history", library, "--step", name, "--folder", str(folder)]
    environment = os.environ | {"DRIFTLINE_DATA": str(data)}
    command += ["--versions", versions, "--part", *map(str, part)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    # what griffe imports to inspect it may print
    found: Cost = json.loads(done.stdout.splitlines()[-1])
    return found


def from_here(name: str, library: str, folder: Path, start: Path, versions: str = "") -> Cost:
    """Do a step in a copy of a lake and its caches, which stay as they are for the next round."""
    with TemporaryDirectory(dir=folder.parent) as scratch:
        data = Path(scratch) / "data"
        shutil.copytree(start, data)
        return in_process(name, library, folder, data, versions)


def summed(parts: list[Cost], times: float) -> Cost:
    """Return what all parts cost together, multiplied where they are a sample."""
    releases, most = sorted(chain(*(part["releases"] for part in parts))), max(part["peak_mib"] for part in parts)
    return {"cpu_s": times * sum(part["cpu_s"] for part in parts), "peak_mib": most, "releases": releases}


def averaged(rounds: list[Cost]) -> Cost:
    """Return the mean of what rounds cost, and each."""
    each = [one["cpu_s"] for one in rounds]
    return {"cpu_s": mean(each), "each_cpu_s": each, "peak_mib": max(one["peak_mib"] for one in rounds)}


def measure(library: str, sample: int, rounds: int, griffe_step: str, console: Console) -> dict[str, Any]:
    """Measure all of it for a library."""
    archives = fetch(library, settings().data / "benchmarks" / "archives")
    versions = [version for version, _ in archives]
    given = sorted(versions)[::sample]
    with TemporaryDirectory(dir=settings().data) as scratch:
        folder, whole, alike, grown = (Path(scratch) / name for name in ("unpacked", "whole", "alike", "grown"))
        found: dict[str, Any] = {"releases": len(archives), "given_to_griffe": len(given)}
        found["unpack"] = timed(lambda: unpack(archives, folder))
        found["crawl"] = in_process("crawl", library, folder, whole)
        loadable = in_process("loadable", library, folder, whole)["releases"]
        # what is not one of the finals is never crawled
        loaded = ",".join(f"!={version}" for version in versions if version not in loadable)
        in_process("crawl", library, folder, alike, loaded)
        for name in ("crawl", "ours"):
            in_process(name, library, folder, grown, f"<={versions[-2]}")
        in_process("crawl", library, folder, grown)
        costs: dict[str, list[Cost]] = {name: [] for name in ("griffe", "griffe_faster", "ours", "alike", "one_more")}
        for number in range(rounds):
            console.print(f"{library}: round {number + 1} of {rounds}")
            part = (number * sample, rounds * sample)
            costs["griffe"].append(in_process(griffe_step, library, folder, whole, part=part))
            costs["ours"].append(from_here("ours", library, folder, whole))
            costs["griffe_faster"].append(in_process("griffe_faster", library, folder, whole, part=part))
            costs["alike"].append(from_here("ours", library, folder, alike, loaded))
            costs["one_more"].append(from_here("ours", library, folder, grown))
    found |= {name: summed(costs[name], len(archives) / len(given)) for name in ("griffe", "griffe_faster")}
    if found["griffe"]["releases"] != [version for version in given if version in loadable]:
        raise SystemExit(f"{library}: griffe loads others than {loadable}: those alike are not alike")
    found["loadable"] = len(loadable)
    return found | {name: averaged(costs[name]) for name in ("ours", "alike", "one_more")}


def show(found: dict[str, dict[str, Any]], console: Console) -> None:
    """Print the figures side by side."""
    table = Table(title="CPU seconds; times less than griffe in brackets", title_justify="left", box=None)
    columns = (
        "library",
        "releases",
        "loadable",
        "unpack",
        "griffe",
        "griffe\\[faster]",
        "ours",
        "least",
        "most",
        "alike",
        "one more",
        "share",
        "peak MiB",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "library" else "right")
    for library, of in found.items():
        griffe, ours, alike, more = (of[name]["cpu_s"] for name in ("griffe", "ours", "alike", "one_more"))
        table.add_row(
            library,
            str(of["releases"]),
            str(of["loadable"]),
            f"{of['unpack']['cpu_s']:.1f}",
            f"{griffe:.1f}",
            f"{of['griffe_faster']['cpu_s']:.1f}",
            f"{ours:.1f} ({griffe / ours:.1f}x)",
            *(f"{extreme(of['ours']['each_cpu_s']):.1f}" for extreme in (min, max)),
            f"{alike:.1f} ({griffe / alike:.1f}x)",
            f"{more:.1f}",
            f"{more / ours:.1%}",
            f"{of['ours']['peak_mib']:.0f}",
        )
    console.print(table)


def main() -> None:
    """Measure the libraries of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", default=LIBRARIES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sample", type=int, default=1, help="let griffe load every Nth release only")
    parser.add_argument("--rounds", type=int, default=3, help="in how many turns griffe and ours are measured")
    parser.add_argument("--apart", action="store_true", help="give each release a process, with griffe's defaults")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--versions", default="", help=argparse.SUPPRESS)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.step:
        first, stride = asked.part
        part = slice(first, None, stride)
        print(json.dumps(step(asked.step, asked.libraries[0], asked.folder, asked.versions, part)))  # noqa: T201
        return
    console = Console(stderr=True)
    how = "griffe_apart" if asked.apart else "griffe"
    found = {library: measure(library, asked.sample, asked.rounds, how, console) for library in asked.libraries}
    show(found, Console(width=160))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
