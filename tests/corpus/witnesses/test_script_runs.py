"""Programs as they are run: marks between their lines, and nothing else that is not theirs."""

from __future__ import annotations

import ast
from pathlib import Path

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.witnesses.script_runs import MARK, marked
from pipeline.corpus.witnesses.scripts import Line
from pipeline.execution.validation.cases import Case, specifications
from pipeline.execution.validation.leading_imports import leading_imports
from pipeline.execution.validation.rules import ValidationRules

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
