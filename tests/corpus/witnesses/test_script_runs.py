"""Programs as they are run: marks between their lines, and nothing else that is not theirs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.witnesses.script_runs import MARK, marked, reason_at_home
from pipeline.corpus.witnesses.scripts import Line
from pipeline.execution.validation.cases import Case, Result, specifications
from pipeline.execution.validation.leading_imports import leading_imports
from pipeline.execution.validation.rules import ValidationRules
from tests.corpus.own_tests.suites import RULE

PROGRAM = """\
from __future__ import annotations
import os
from lib import Box
from lib.shapes import Round
Box(Round())
"""


def test_marks_follow_each_line_and_hide_no_import_from_the_fork_server() -> None:
    lines = [Line(node, ast.unparse(node), frozenset(), frozenset(), frozenset()) for node in ast.parse(PROGRAM).body]
    text = marked(lines)
    assert text.count(MARK) == 4
    case = Case("", "", text, import_names=("lib",))
    (specification,) = specifications(case, load(RULES / "validation.yaml", ValidationRules), 0)
    assert leading_imports(specification.sent, Path("none")) == ("lib.shapes",)


@pytest.mark.parametrize(
    ("outcome", "detail", "reason"),
    [
        (Outcome.WRONG_EXCEPTION, "FileNotFoundError: [Errno 2] No such file: 'a'", RejectReason.NEEDS_FILES),
        (Outcome.WRONG_EXCEPTION, "jinja2.exceptions.TemplateNotFound: a.html", RejectReason.NEEDS_FILES),
        (Outcome.WRONG_EXCEPTION, "NotADirectoryError: [Errno 20] Not a directory: 'a'", RejectReason.NEEDS_FILES),
        (Outcome.SANDBOX_VIOLATION, "socket.gaierror: [Errno -3] Temporary failure", RejectReason.NEEDS_NETWORK),
        (Outcome.SANDBOX_VIOLATION, "OSError: [Errno 101] Network is unreachable", RejectReason.NEEDS_NETWORK),
        (Outcome.WRONG_EXCEPTION, "requests.exceptions.ConnectionError: refused", RejectReason.NEEDS_NETWORK),
        (Outcome.WRONG_EXCEPTION, "ConnectionRefusedError: [Errno 111] refused", RejectReason.NEEDS_NETWORK),
        (
            Outcome.WRONG_EXCEPTION,
            "urllib.error.URLError: <urlopen error [Errno 2] No such file or directory>",
            RejectReason.NEEDS_NETWORK,
        ),
        (Outcome.SANDBOX_VIOLATION, "PermissionError: [Errno 1] not permitted: 'a'", RejectReason.NEEDS_ROOT),
        (Outcome.WRONG_EXCEPTION, "OSError: [Errno 1] Operation not permitted", RejectReason.NEEDS_ROOT),
        (
            Outcome.WRONG_EXCEPTION,
            "_tkinter.TclError: couldn't connect, no $DISPLAY variable",
            RejectReason.NEEDS_DISPLAY,
        ),
        (Outcome.WRONG_EXCEPTION, "pyglet.NoSuchDisplayException: Cannot open display", RejectReason.NEEDS_DISPLAY),
        (Outcome.TIMED_OUT, "ran longer than 20 s", RejectReason.TOO_SLOW),
        (Outcome.TIMED_OUT, None, RejectReason.TOO_SLOW),
        (Outcome.WRONG_EXCEPTION, "RuntimeError: timed_out", RejectReason.NOT_PROVEN),
        (Outcome.FAILED_ASSERTION, None, RejectReason.NOT_PROVEN),
        (Outcome.PASSED, "FileNotFoundError", RejectReason.NOT_PROVEN),
    ],
)
def test_a_failure_at_home_has_the_reason_that_it_states(
    outcome: Outcome, detail: str | None, reason: RejectReason
) -> None:
    assert reason_at_home(Result("", outcome, detail, 0.1, None), RULE.witness) is reason


def test_a_test_that_was_not_run_at_home_is_not_proven() -> None:
    assert reason_at_home(None, RULE.witness) is RejectReason.NOT_PROVEN
