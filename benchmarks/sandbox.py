"""What a run in each sandbox costs over a bare interpreter start, and what each sandbox holds back.

Usage: python benchmarks/sandbox.py [--runs 100] [--table]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.execution.sandbox.container import EngineFailed
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits
from tests.execution.sandbox.escapes import ESCAPES, attempt
from tests.execution.sandbox.kinds import KINDS, NotHere, open_kind

_MS = 1000.0


def main() -> None:
    """Measure, or print the table of promises."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=100, help="runs of each side, taken by turns")
    parser.add_argument("--table", action="store_true", help="try every escape and print promise by sandbox")
    asked = parser.parse_args()
    lines = _table_lines() if asked.table else _overhead_lines(asked.runs)
    sys.stdout.write("\n".join(lines) + "\n")


def _overhead_lines(runs: int) -> Sequence[str]:
    lines = ["| sandbox | bare start | run | over | 90 % of runs over |", "|---|---|---|---|---|"]
    for kind in KINDS:
        try:
            with open_kind(kind) as (sandbox, environment):
                bare, inside = measure(sandbox, environment, runs)
        except (NotHere, EngineFailed) as error:
            lines.append(f"| {kind} | not here: {error} | | | |")
            continue
        over = [one - other for one, other in zip(inside, bare, strict=True)]
        numbers = (
            *map(statistics.median, (bare, inside)),
            _median_over(bare, inside),
            statistics.quantiles(over, n=10)[8],
        )
        lines.append(f"| {kind} | " + " | ".join(f"{number:.1f} ms" for number in numbers) + " |")
    return lines


def _median_over(bare: Sequence[float], inside: Sequence[float]) -> float:
    return statistics.median(inside) - statistics.median(bare)


def measure(sandbox: Sandbox, environment: Environment, runs: int) -> tuple[list[float], list[float]]:
    """Return milliseconds of bare starts and of runs in the sandbox, taken by turns so that both meet the same load."""
    argv, limits = [str(environment.python), "-I", "-c", "pass"], Limits(memory_bytes=1 << 30)

    def bare() -> None:
        subprocess.run(argv, input=b"", capture_output=True, check=True)

    def inside() -> None:
        done = sandbox.run(argv, environment=environment, files={"case.py": b"pass"}, stdin=b"", limits=limits)
        assert done.returncode == 0, done

    for side in (bare, inside):
        side()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for side, taken in zip((bare, inside), times, strict=True):
            taken.append(_timed(side))
    return times


def _timed(side: Callable[[], None]) -> float:
    started = time.perf_counter()
    side()
    return (time.perf_counter() - started) * _MS


def _table_lines() -> Sequence[str]:
    """Return the table of promises: how many escapes were tried of each, and which succeeded."""
    promises = list(dict.fromkeys(escape.promise for escape in ESCAPES))
    cells: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        try:
            with open_kind(kind) as (sandbox, environment):
                cells[kind] = {promise: _cell(promise, sandbox, environment) for promise in promises}
        except (NotHere, EngineFailed) as error:
            cells[kind] = dict.fromkeys(promises, "not tried")
            sys.stderr.write(f"{kind}: {error}\n")
    lines = ["| promise | escapes | " + " | ".join(KINDS) + " |", "|---|---|" + "---|" * len(KINDS)]
    for promise in promises:
        names = ", ".join(escape.name for escape in ESCAPES if escape.promise == promise)
        lines.append(f"| {promise} | {names} | " + " | ".join(cells[kind][promise] for kind in KINDS) + " |")
    return lines


def _cell(promise: str, sandbox: Sandbox, environment: Environment) -> str:
    tried = [escape for escape in ESCAPES if escape.promise == promise]
    out = [escape.name for escape in tried if attempt(escape, sandbox, environment).escaped]
    return "NOT KEPT: " + ", ".join(out) if out else "kept"


if __name__ == "__main__":
    main()
