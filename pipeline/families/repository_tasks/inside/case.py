"""What happens in the process that runs a project's tests: the tree is laid out, pytest runs, and it reports.

It stands in the place of the harness's own case (`validation.inside.case`): the guard starts it, keeps its
limits and signs what it says.
"""

import base64
import json
import os
import sys
import zlib

from . import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pipeline.execution.validation.inside.outcomes import BEGUN
    from pipeline.execution.validation.inside.seeds import seed_all
else:
    from .outcomes import BEGUN
    from .seeds import seed_all

# Kept here, since a test may put something else in their place.
_write, _read, _exit, _getpid = os.write, os.read, os._exit, os.getpid
_compress, _encode, _dumps = zlib.compress, base64.b85encode, json.dumps


def lay_out(specification: bytes) -> None:
    """Lay out the tree, before this process becomes the user of the case."""
    tree.lay_out(json.loads(specification.decode()))


def run_and_report(specification: bytes, report_to: int, key_from: int) -> None:
    """Run tests in this process, report behind the key what became of each, and leave without any further code.

    What is told travels as the message of a case that passed. The key lies unread in its pipe until then. Another
    process that a test forked and that runs on to here has nothing to report.
    """
    home = _getpid()
    outcome = outcome_of(json.loads(specification.decode()), lambda: _write(report_to, BEGUN))
    if _getpid() == home:
        report = _read(key_from, 64) + b"passed\n-\n-\n" + packed(outcome)
        while report:
            report = report[_write(report_to, report) :]
    _exit(0)


def packed(outcome: "dict[str, Any]") -> bytes:
    """Return what is told as text that travels; half a character, which no file can hold, becomes a question mark."""
    return _encode(_compress(_dumps(outcome, ensure_ascii=False).encode("utf-8", "replace")))


def outcome_of(spec: "dict[str, Any]", begin: "Callable[[], Any]") -> "dict[str, Any]":
    """Return what became of the tests, or a `problem` where pytest does not run; tell when code of the project may."""
    seed_all(spec["seed"])
    try:
        from .tests import run_tests

        folder = tree.enter(spec)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is why there is no result
        message = f"{type(error).__name__}: {error}"
        return {"problem": message[:2000], "path": sys.path[0]}
    begin()
    try:
        return run_tests(spec, folder)
    except BaseException as error:  # noqa: BLE001 - code of the project has run, and broke pytest
        return {"problem": f"{type(error).__name__}: {error}"[:2000], "begun": True}
