"""How long environments take: ours, cold, warm and from their locks, against `python -m venv` and pip, in one run.

Both install the same files on the same interpreter. Cold is with empty caches; warm has the caches of the cold run, and
the environments removed. "From the lock" is what a sample waits for whose environment was taken away. Ours resolves,
installs, compiles and imports; pip is given the pins, so that it need not resolve, and imports nothing.

    python -m benchmarks.environments [--repeats 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

from pipeline.core.settings import index_url
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.rows import EnvironmentRow

WANTED = (
    EnvironmentRequest("numpy", "1.21.6", python="3.10", pins=("scipy==1.7.3", "pandas==1.3.5"), tools=("pytest",)),
    EnvironmentRequest("scikit-learn", "1.0.2", python="3.9", tools=("pytest",)),
    EnvironmentRequest("matplotlib", "3.4.3", python="3.9", tools=("pytest",)),
    EnvironmentRequest("flask", "2.0.1", python="3.9", tools=("pytest",)),
    EnvironmentRequest("django", "3.2.5", python="3.9", tools=("pytest",)),
)


def store_at(root: Path) -> EnvironmentStore:
    """Return a store that has asked the index nothing yet."""
    return EnvironmentStore(root, index_url=index_url(), rules=environment_rules(), workers=2)


def forget(store: EnvironmentStore, rows: Sequence[EnvironmentRow]) -> None:
    """Remove environments and what is known of their building; the caches stay."""
    for row in rows:
        store.collection.remove(str(row["lock_id"]))
    for record in (store.root / "records").iterdir():
        record.unlink()


def pips(store: EnvironmentStore, rows: Sequence[EnvironmentRow], folder: Path) -> list[float]:
    """Make each environment with venv and pip and return the seconds of each."""
    interpreters = {found.python: found.path for found in store.interpreters}
    return [timed(partial(pip_one, interpreters[str(row["python"])], str(row["lock"]), folder)) for row in rows]


def pip_one(python: Path, lock: str, folder: Path) -> None:
    """Make one environment of a lock with venv and pip; pip's cache is in the folder."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        pins = Path(place, "lock.txt")
        pins.write_text(lock)
        subprocess.run([python, "-m", "venv", Path(place, "venv")], check=True)
        command = [Path(place, "venv", "bin", "python"), "-m", "pip", "--quiet", "--isolated", "install", "--no-deps"]
        command += ["--cache-dir", folder / "cache", "--index-url", index_url(), "--require-hashes", "-r", pins]
        subprocess.run([*map(str, command), "--disable-pip-version-check"], check=True)


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that something took."""
    started = time.monotonic()
    action()
    return time.monotonic() - started


def from_lock(store: EnvironmentStore, row: EnvironmentRow, repeats: int) -> float:
    """Return the median of the seconds in which an environment that is gone comes back from its lock."""
    seconds = []
    for _ in range(repeats):
        store.collection.remove(str(row["lock_id"]))
        seconds.append(timed(partial(store.open, row)))
    return statistics.median(seconds)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each comes back from its lock (default: 5)")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory(prefix="driftline-benchmark-") as folder:
        root = Path(folder, "ours")
        first, second = store_at(root), store_at(root)
        cold = [first.build(wanted) for wanted in WANTED]
        failed = [f"{row['library']}: {row['detail']}" for row in cold if row["outcome"] != "built"]
        if failed:
            raise SystemExit("\n".join(failed))
        forget(first, cold)
        warm = [second.build(wanted) for wanted in WANTED]
        locks = [from_lock(second, row, repeats) for row in cold]
        Path(folder, "pip").mkdir()
        pip_cold, pip_warm = (pips(second, cold, Path(folder, "pip")) for _ in range(2))
    show([row["build_s"] or 0.0 for row in cold], [row["build_s"] or 0.0 for row in warm], locks, pip_cold, pip_warm)


def show(*columns: Sequence[float]) -> None:
    """Print seconds for each environment, and how many of them a minute makes."""
    table = Table(title="Seconds", box=None, title_justify="left")
    for name in ("environment", "cold", "warm", "from its lock", "venv + pip, cold", "venv + pip, warm"):
        table.add_column(name, justify="left" if name == "environment" else "right")
    for number, wanted in enumerate(WANTED):
        names = [wanted.library, *(Requirement(line).name for line in (*wanted.pins, *wanted.tools))]
        table.add_row("\n+ ".join(names), *(f"{column[number]:.2f}" for column in columns))
    table.add_row("environments per minute", *(f"{60 * len(column) / sum(column):.1f}" for column in columns))
    Console().print(table)


if __name__ == "__main__":
    main()
