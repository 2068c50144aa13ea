"""What happens in the process of a case: it runs what it is asked to, and reports how that came out."""

import contextlib
import json
import os
import sys

from .outcomes import BEGUN, Failed
from .program import run_program
from .seeds import seed_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Lines = tuple[list[int], list[int]]

# Kept here, since a case may put something else in their place.
_write, _read, _exit, _getpid = os.write, os.read, os._exit, os.getpid


def lay_out(specification: bytes) -> None:
    """Write what the case may read and not change, as the user of the guard: nothing, a case writes its own files."""


def run_and_report(specification: bytes, report_to: int, key_from: int) -> None:
    """Run a case in this process, report the result behind the key, and leave without any further code of the case.

    The key lies unread in its pipe until then. Another process that the case forked and that runs on to here has
    nothing to report.
    """
    home = _getpid()
    outcome, message, lines = outcome_of(json.loads(specification.decode()), lambda: _write(report_to, BEGUN))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # whatever the case put there
            stream.flush()
    if _getpid() == home:
        report = _read(key_from, 64) + written_down(outcome, message, lines)
        while report:
            report = report[_write(report_to, report) :]
    _exit(0)


def written_down(outcome: str, message: str, lines: "Lines | None") -> bytes:
    """Return a report: outcome, lines with code and lines executed, or `-`, each on a line, and then the message.

    It is made by methods of built-in types alone, which nobody can replace.
    """
    report = outcome.encode() + b"\n"
    for numbers in lines or ():
        for number in numbers:
            report += b"%d " % number
        report += b"\n"
    return report + (b"" if lines else b"-\n-\n") + message.encode("utf-8", "replace")


def outcome_of(spec: "dict[str, Any]", begin: "Callable[[], Any]") -> "tuple[str, str, Lines | None]":
    """Return the outcome of a case, a message, and the lines with code and those executed; tell when it begins.

    The message says why it did not pass, or holds the observations that others judge.
    """
    sys.path[0] = os.getcwd()
    traced = None
    if spec["cover"]:
        from .lines import Tracer

        traced = Tracer()
    outcome, message = "passed", ""
    try:
        runner = runner_of(spec)
        prepare(spec)
        begin()
        message = runner(spec, traced) or ""
    except Failed as failed:
        outcome, message = failed.args[0], failed.args[1][-4000:]
    if traced:
        traced.stop()
    return outcome, message, traced.report() if traced else None


def runner_of(spec: "dict[str, Any]") -> "Callable[[dict[str, Any], Any], str | None]":
    """Return what runs a case; it returns observations where others judge these."""
    if spec["tests"] is not None:
        from .observe import observe_tests

        return observe_tests
    if spec["statements"]:
        from .checks import observe_statements

        return observe_statements
    if spec["test_file"] is not None:
        from .pytest_run import run_tests

        return run_tests
    return run_program


def prepare(spec: "dict[str, Any]") -> None:
    """Set the seeds, and the clock where it is to be another."""
    seed_all(spec["seed"])
    if spec["clock_shift_s"]:
        from .clock import shift_clock

        shift_clock(spec["clock_shift_s"])
