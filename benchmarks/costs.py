"""What a refresh costs, stage by stage: seconds, CPU, bytes received, bytes on disk; one JSON line each.

Usage: python -m benchmarks.costs OUT.jsonl --profile popular --libraries a,b --hours 1.2

It goes through the stages in parts, each for all libraries before the next, until the time is up: whatever time there
is, the cheap parts cover every library. What is in the lake already costs nothing and would spoil the figures, so give
it an empty DRIFTLINE_DATA. Bytes received are those of the whole machine but for the loopback interface.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.cli.output import notify
from pipeline.core.settings import settings
from pipeline.lake.runner import Count, run_stage
from pipeline.orchestration.refresh import Refresh, begin
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.groups import GROUPS

PART_BEGINS = ("surface", "environments", "problems", "functions", "projects", "flags")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a stage of a library took in and made, and what that cost; CPU is that of all its processes that ended.

    Processes that end with their sandbox are not among them.
    """

    library: str
    stage: str
    units_in: int
    units_out: int
    rejected: int
    seconds: float
    cpu_seconds: float
    received_bytes: int


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes on disk by folder after a stage of a library, the last of a part; a file with two names counts once."""

    library: str
    after: str
    folders: dict[str, int]


def measure(refresh: Refresh, libraries: list[str], deadline: float) -> Iterator[Cost | Disk]:
    """Run the parts of the stages, each for all libraries, and yield what each stage cost."""
    failed: set[str] = set()
    for names in _parts():
        for library in libraries:
            if time.monotonic() > deadline or library in failed:
                continue
            try:
                for name in names:
                    yield _cost(refresh, library, name)
            except Exception as error:  # noqa: BLE001 - one library must not stop the others
                failed.add(library)
                notify(f"{library}, {names[0]}…: {type(error).__name__}: {error}")
            yield Disk(library, names[-1], disk_of(settings().data))


def _parts() -> list[tuple[str, ...]]:
    """Return the stages in order, in parts that begin where another kind of work begins."""
    parts: list[tuple[str, ...]] = []
    for name in (name for names in GROUPS.values() for name in names):
        if not parts or name in PART_BEGINS:
            parts.append(())
        parts[-1] += (name,)
    return parts


def _cost(refresh: Refresh, library: str, name: str) -> Cost:
    resources = refresh.resources()
    before = (time.monotonic(), _cpu(), _received())
    count: Count = run_stage(stages_of(resources)[name], library, resources.lake, refresh.folder / "counts")
    after = (time.monotonic(), _cpu(), _received())
    seconds, cpu, received = (new - old for new, old in zip(after, before, strict=True))
    rejected = sum(count.rejected.values())
    return Cost(
        library, name, count.units_in, count.units_out, rejected, round(seconds, 3), round(cpu, 3), int(received)
    )


def _cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _received() -> int:
    """Return the bytes that the machine has received, loopback left out (proc(5), /proc/net/dev)."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[0]) for line in lines if not line.strip().startswith("lo:"))


def disk_of(data: Path) -> dict[str, int]:
    """Return the bytes on disk of the lake, the snapshots, the runs and each cache of a data folder."""
    caches = sorted(path for path in (data / "cache").glob("*") if path.is_dir())
    return {folder.name: _size(folder) for folder in (data / "lake", data / "snapshots", data / "runs", *caches)}


def _size(folder: Path) -> int:
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            status = Path(root, name).lstat()
            found[status.st_ino] = status.st_blocks * 512
    return sum(found.values())


def main() -> None:
    """Measure a refresh."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--profile", default="popular")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--since")
    parser.add_argument("--hours", type=float, default=1.0)
    asked = parser.parse_args()
    names = tuple(name for name in asked.libraries.split(",") if name)
    refresh = Refresh("costs", asked.profile, names, asked.since)
    deadline = time.monotonic() + asked.hours * 3600
    with asked.out.open("a", encoding="utf-8") as file:
        for measured in measure(refresh, begin(refresh), deadline):
            file.write(json.dumps(asdict(measured)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
