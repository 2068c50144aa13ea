"""The lake against that of another commit, by turns on one machine: one stage's rows, many refreshes, 300 libraries.

    git worktree add /tmp/old 3d925ce
    python -m benchmarks.lake /tmp/old .
    python -m benchmarks.lake /tmp/old . --refresh semver,natsort --cache FOLDER

Each tree runs the same program with its own `Lake`. Prints a line for each tree and turn: seconds to write and read the
symbols of one library, bytes after 20 refreshes that each change a tenth of the rows (with vacuum, where there is one),
seconds to write and to read two tables of 300 libraries one after another, and to see them anew.
With --refresh it is a refresh of libraries from nothing and again: CPU seconds of all its processes, and seconds. The
cache in FOLDER/NAME OF THE TREE is filled first and put back before each turn, so that downloads hide nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.term import vocabularies
from pipeline.lake.rows import AnyRow
from pipeline.lake.schema import Column, table
from pipeline.lake.tables import Lake

ROWS, REFRESHES, LIBRARIES, TURNS = 20_000, 20, 300, 3
_SCALARS: dict[str, Any] = {"string": "text", "int64": 1, "float64": 1.0, "bool": True}


def value(column: Column, library: str, number: int) -> Any:
    """Return a value of a column that differs between rows where that is possible."""
    if column.name == "library":
        return library
    if "version" in column.name:
        return None if column.nullable else f"1.{number % 40}"
    if column.type == "timestamp":
        return datetime(2021, 1, 1, tzinfo=UTC)
    if column.nullable:
        return None
    if column.type.startswith("list["):
        return []
    if vocabulary := vocabularies().get(column.type):
        return str(next(iter(vocabulary)))
    return f"{column.name} {number}" if column.type == "string" else _SCALARS.get(column.type)


def rows(name: str, library: str, number: int, changed: int = 0) -> Sequence[AnyRow]:
    """Return rows of a declared table; a tenth of them depends on `changed`."""
    columns = table(name).columns
    text = next(column.name for column in columns if column.type == "string" and column.name not in table(name).key)
    made = [{column.name: value(column, library, place) for column in columns} for place in range(number)]
    for row in made[::10]:
        row[text] = f"changed {changed}"
    return made


def timed(work: Any) -> float:
    """Return the seconds that something takes."""
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 3)


def measure(folder: Path) -> dict[str, Any]:
    """Measure the lake of this tree in an empty folder."""
    one, many = "directives", ("directives", "lifecycles")
    lake = Lake(folder / "one")
    made = rows(one, "big", ROWS)
    figures: dict[str, Any] = {"write_s": timed(lambda: lake.write(one, "big", made))}
    figures["read_s"] = timed(lambda: lake.read(one, "big"))
    for number in range(REFRESHES):
        lake.write(one, "big", rows(one, "big", ROWS, number))
    figures["bytes_before_vacuum"] = size(folder / "one")
    if hasattr(lake, "delta"):
        lake.delta(one).vacuum(0, [])
    figures["bytes_after_20"] = size(folder / "one")
    wide = Lake(folder / "wide")
    libraries = [f"library-{number}" for number in range(LIBRARIES)]
    small = {name: rows(name, "x", 30) for name in many}

    def write_all() -> None:
        for library in libraries:
            for name, of_x in small.items():
                wide.write(name, library, [{**row, "library": library} for row in of_x])

    def read_all() -> None:
        for library in libraries:
            for name in small:
                wide.read(name, library)

    figures["write_300_s"] = timed(write_all)
    figures["read_300_s"] = timed(read_all)
    figures["open_300_s"] = timed(lambda: [Lake(folder / "wide").read(name, "library-7") for name in small])
    figures["bytes_300"] = size(folder / "wide")
    return figures


def size(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def refreshed(tree: Path, libraries: str, data: Path) -> dict[str, Any]:
    """Refresh libraries with the command of a tree, and return what that cost."""
    code, before = "from pipeline.cli.main import main; main()", resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, "refresh", "--libraries", libraries, "--json"]
    environ = os.environ | {"PYTHONPATH": str(tree), "DRIFTLINE_DATA": str(data)}
    seconds = timed(lambda: subprocess.run(command, cwd=tree, env=environ, capture_output=True, check=True))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_s": round(cpu, 2), "wall_s": seconds}


def refresh_trees(trees: list[Path], libraries: str, caches: Path) -> None:
    """Refresh libraries from nothing and again in each tree by turns; turn 0 fills the caches."""
    for turn in range(TURNS + 1):
        for tree in map(Path.resolve, trees):
            # environments do not move: all turns have one folder
            data, cache = caches.resolve() / "data", caches.resolve() / tree.name
            shutil.rmtree(data, ignore_errors=True)
            if cache.exists():
                shutil.copytree(cache, data / "cache", symlinks=True)
            figures = {name: refreshed(tree, libraries, data) for name in ("from_nothing", "again")}
            if turn == 0:
                shutil.copytree(data / "cache", cache, symlinks=True, dirs_exist_ok=True)
            sys.stdout.write(f"{turn} {tree}: {json.dumps(figures)}\n")
            sys.stdout.flush()


def main() -> None:
    """Run this file in each tree by turns, or measure where no tree is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--refresh", metavar="LIBRARY,...")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "lake_caches")
    options = parser.parse_args()
    trees = options.trees
    if options.refresh:
        refresh_trees(trees, options.refresh, options.cache)
        return
    if not trees:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(json.dumps(measure(Path(folder))) + "\n")
        return
    program = Path(__file__).resolve()
    for turn in range(TURNS):
        for tree in trees:
            command = [sys.executable, "-c", f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"]
            done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
            sys.stdout.write(f"{turn} {tree}: {done.stdout}")


if __name__ == "__main__":
    main()
