"""What it costs that expected values stay out of the answer's process: per case, apart and beside, by turns in one run.

    python -m benchmarks.verdicts --runs 200

The same program with the same tests runs as forks of one server: with its tests parted, so that another process
compares, and beside it with pytest; then with the same asserts parted, and in its own namespace.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from rich.console import Console
from rich.table import Table

from pipeline.core.rules.load import RULES, load
from pipeline.execution.sandbox.environment import bare_environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation import harness
from pipeline.execution.validation.cases import Case, limits_of, specifications, variables
from pipeline.execution.validation.judging import judge
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.server import Server
from pipeline.execution.validation.splitting import part

CODE = "import textwrap\n\n\ndef solve(text, width):\n    return textwrap.wrap(text, width)\n"
ASSERTS = "".join(
    f"assert solve({'a b ' * n!r}, {n + 3}) == {text!r}\n"
    for n, text in ((1, ["a b"]), (2, ["a b a", "b"]), (3, ["a b a", "b a b"]))
)
TESTS = "from sample import solve\n\n\n" + "".join(
    f"def test_{number}():\n    {line}\n\n\n" for number, line in enumerate(ASSERTS.splitlines())
)


def cases() -> dict[str, Case]:
    """Return each way of putting the tests to the harness."""
    return {
        "tests apart": Case("", "", CODE, parted=part(TESTS, "sample"), module="sample"),
        "tests beside": Case("", "", CODE, test_file=TESTS, module="sample"),
        "asserts apart": Case("", "", CODE, parted=part(ASSERTS, None)),
        "asserts beside": Case("", "", CODE, test=ASSERTS),
    }


def measure(runs: int) -> dict[str, list[float]]:
    """Return the seconds of each run of each way, taken by turns.

    Errors: AssertionError where a case does not pass.
    """
    rules, ways = load(RULES / "validation.yaml", ValidationRules), cases()
    limits = limits_of(Case("", "", ""), rules)
    asked = {way: next(iter(specifications(case, rules, 0))) for way, case in ways.items()}
    # pytest's plugins of this environment are not those of a pinned one
    alone = variables(rules, 0) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    server = Server(bare_environment(), find_sandbox(), limits, alone)
    sent = [one.sent for one in asked.values()]
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    try:
        server.start(harness.opening(sent, ["textwrap", "pytest"], last=False))
        for way in (way for _ in range(runs) for way in ways):
            started = time.perf_counter()
            attempt = judge(server.run(asked[way].sent, limits), asked[way].judge)
            seconds[way].append(time.perf_counter() - started)
            assert attempt.passed, (way, attempt)
    finally:
        server.end()
    return seconds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="runs of each way, taken by turns")
    seconds = measure(parser.parse_args().runs)
    table = Table("tests", "apart, ms", "beside, ms", "apart / beside")
    for kind in ("tests", "asserts"):
        apart, beside = (median(seconds[f"{kind} {way}"]) for way in ("apart", "beside"))
        table.add_row(kind, f"{apart * 1e3:.1f}", f"{beside * 1e3:.1f}", f"{apart / beside:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
