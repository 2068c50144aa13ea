"""Samples per second: fresh, with the fork server, and as a plain subprocess without any sandbox, in one run.

    python -m benchmarks.samples numpy attrs --samples 200 --json samples.json

For each library an environment is built from its newest wheel. Each sample calls the library once and has an assert.
The three ways take turns in rounds, so that a busy machine slows all of them; one sample at a time, so on one core, and
each run once. The start of a fork server is shared by the samples of a round. A plain subprocess is `python sample.py`
and its exit status: no sandbox, no limits, no report.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.running import Outcome, Process
from pipeline.execution.sandbox.environment import Environment, bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

CODES = {
    "numpy": "import numpy as np\n\ndef used(n):\n    return np.arange(n).sum()\n",
    "attrs": "import attr\n\ndef used(n):\n    return attr.asdict(attr.make_class('A', ['x'])(sum(range(n))))['x']\n",
}
"""A middle and a small library; what each defines adds up the numbers below n."""

IMPORTED = {"numpy": "numpy", "attrs": "attr"}
ROUNDS = 5


def timed(work: Callable[[], int]) -> float:
    """Return the seconds that each sample took of `work`, which returns how many it ran."""
    started = time.perf_counter()
    samples = work()
    return (time.perf_counter() - started) / samples


def environment_of(library: str, folder: Path) -> Environment:
    """Build an environment of the newest wheel with the Python that runs us, compiled."""
    bare = bare_environment()
    python, uv = folder / "bin" / "python", Path(sysconfig.get_path("scripts"), "uv")
    subprocess.run([uv, "venv", "-q", "--python", bare.python, folder], check=True)
    wheels = ["--only-binary", ":all:", "--compile-bytecode"]
    subprocess.run([uv, "pip", "install", "-q", "--python", python, *wheels, library], check=True)
    folder.parent.chmod(0o755)
    site_packages = folder / "lib" / f"python{bare.python_version}" / "site-packages"
    return Environment(library, bare.python_version, python, site_packages, (*bare.folders, folder))


def cases(library: str, numbers: Sequence[int]) -> list[Case]:
    """Return samples that differ in a number."""
    name = (IMPORTED[library],)
    sums = {n: f"assert used({n}) == {n * (n - 1) // 2}" for n in numbers}
    return [Case(str(n), "", CODES[library], import_names=name, test=test) for n, test in sums.items()]


def in_sandbox(
    environment: Environment, wanted: Sequence[Case], sandbox: Sandbox, rules: ValidationRules, process: Process
) -> int:
    """Run samples as `driftline validate` does, one at a time and once."""
    once = rules.model_copy(update={"process": process, "repeats": 1, "fork_from": 1})
    results = run_cases(environment, wanted, sandbox, once)
    failed = [result for result in results if result.outcome is not Outcome.PASSED]
    if failed:
        sys.exit(f"{len(failed)} samples did not pass, the first: {failed[0]}")
    return len(results)


def plain(environment: Environment, wanted: Sequence[Case]) -> int:
    """Run samples as `python sample.py`, without a sandbox."""
    with TemporaryDirectory() as folder:
        for case in wanted:
            path = Path(folder, "sample.py")
            path.write_text(f"{case.code}\n{case.test}\n")
            subprocess.run([environment.python, path], check=True, cwd=folder, env={"OMP_NUM_THREADS": "1"})
    return len(wanted)


def measure(library: str, samples: int, sandbox: Sandbox, rules: ValidationRules) -> dict[str, list[float]]:
    """Return the seconds a sample took in each round, for each way; the slow ones run a tenth of them."""
    seconds: dict[str, list[float]] = {"plain subprocess": [], "fresh": [], "fork server": []}
    many, few = max(1, samples // ROUNDS), max(1, samples // ROUNDS // 10)
    with TemporaryDirectory() as folder:
        environment = environment_of(library, Path(folder, library))
        plain(environment, cases(library, range(1)))
        for start in range(0, many * ROUNDS, many):
            all_of, some = cases(library, range(start, start + many)), cases(library, range(start, start + few))
            ways = {
                "plain subprocess": partial(plain, environment, some),
                "fresh": partial(in_sandbox, environment, some, sandbox, rules, Process.FRESH),
                "fork server": partial(in_sandbox, environment, all_of, sandbox, rules, Process.FORK),
            }
            for way, work in ways.items():
                seconds[way].append(timed(work))
    return seconds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", default=list(CODES), metavar=" | ".join(CODES))
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    sandbox, rules = find_sandbox(), load(RULES / "validation.yaml", ValidationRules)
    found = {library: measure(library, arguments.samples, sandbox, rules) for library in arguments.libraries}
    table = Table("library", "way", "ms, median", "samples/s", "ms, best", "samples/s")
    for library, ways in found.items():
        for way, seconds in ways.items():
            told = [f(each) for each in (median(seconds), min(seconds)) for f in (in_ms, per_second)]
            table.add_row(library, way, *told)
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def in_ms(seconds: float) -> str:
    """Say how long a sample takes."""
    return f"{seconds * 1e3:.1f}"


def per_second(seconds: float) -> str:
    """Say how many samples a second has room for."""
    return f"{1 / seconds:.1f}"


if __name__ == "__main__":
    main()
