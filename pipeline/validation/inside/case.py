"""What happens in the process of a case: it runs what it is asked to, and reports how that came out."""

import contextlib
import json
import os
import sys

from .outcomes import Failed
from .program import run_program
from .seeds import seed_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Kept here, since a case may put something else in their place.
_write, _read, _exit, _getpid, _dumps = os.write, os.read, os._exit, os.getpid, json.dumps


def run_and_report(specification: bytes, report_to: int, key_from: int) -> None:
    """Run a case in this process, report the result behind the key, and leave without any further code of the case.

    The key lies unread in its pipe until then. Another process that the case forked and that runs on to here has
    nothing to report.
    """
    home = _getpid()
    result = _dumps(outcome_of(json.loads(specification.decode())))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # whatever the case put there
            stream.flush()
    if _getpid() == home:
        report = _read(key_from, 64) + result.encode()
        while report:
            report = report[_write(report_to, report) :]
    _exit(0)


def outcome_of(spec: "dict[str, Any]") -> "dict[str, Any]":
    """Return the outcome of a case, the message where it did not pass, and the lines that were executed."""
    sys.path[0] = os.getcwd()
    traced = None
    if spec["cover"]:
        from .lines import Lines

        traced = Lines()
    try:
        prepare(spec)
        if spec["test_file"] is None:
            run_program(spec, traced)
        else:
            from .pytest_run import run_tests

            run_tests(spec, traced)
        outcome, message = "passed", ""
    except Failed as failed:
        outcome, message = failed.args
    if traced:
        traced.stop()
    return {"outcome": outcome, "message": message[-4000:], "lines": traced.report() if traced else None}


def prepare(spec: "dict[str, Any]") -> None:
    """Set the seeds, and the clock where it is to be another."""
    seed_all()
    if spec["clock_shift_s"]:
        from .clock import shift_clock

        shift_clock(spec["clock_shift_s"])
