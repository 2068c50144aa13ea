"""Where an answer ends whose file goes on behind a hidden part (scenes 1.2 and 1.3)."""

from __future__ import annotations

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.scores.filling import block_at
from pipeline.evaluation.scores.planning import Sources, plan
from pipeline.evaluation.scores.runs import ProjectRun
from pipeline.evaluation.scores.tasks import Task

PREFIX = "def f(x):\n    "
IN_IF = "def f(x):\n    if x:\n        y = 1\n    "
IN_TRY = "def f(x):\n    try:\n        y = 1\n    "
IN_MATCH = "def f(x):\n    match x:\n        "
REST = "\n\n\ndef g():\n    return 2\n"
CASES = {
    "a statement": (PREFIX, "y = x", "\n    return y" + REST, False),
    "a statement over lines": (PREFIX, "y = g(\n    x,\n)", "\n    return y", False),
    "text that is not indented": (PREFIX, 'y = """a\nb\n"""', "\n    return y", False),
    "an if with its branches": (PREFIX, "if x:\n        y = 1\n    else:\n        y = 2", "\n    return y", False),
    "a try with its handlers": (PREFIX, "try:\n        y\n    except E:\n        y = 2\n    finally:\n        z()", "\n    w", False),
    "comments": (PREFIX, "# why\n    if x:\n        # none\n        y = 1", "\n    # next\n    return y", False),
    "a decorated function": (PREFIX, "@d\n    def h():\n        return 1", "\n    return h", False),
    "a branch": (IN_IF, "elif z:\n        y = 2", "\n    else:\n        y = 3", False),
    "the last branch": (IN_IF, "else:\n        y = 2", "\n    return y", False),
    "a handler": (IN_TRY, "except (A, B):\n        y = 2", "\n    except C:\n        raise", False),
    "a case": (IN_MATCH, "case 1:\n            y = 2", "\n        case _:\n            y = 3", False),
    "a body": (PREFIX, "y = x\n\n    if y:\n        return y\n    return 0", REST, True),
    "a body of a method": ("class A:\n    def f(self):\n        ", "y = 1\n        return y", "\n\n    def g(self):\n        pass\n", True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_follows_the_block_is_cut_off_and_the_block_alone_stays(name: str) -> None:
    prefix, block, following, is_body = CASES[name]
    assert block_at(prefix, block, is_body=is_body) == block
    assert block_at(prefix, block + following, is_body=is_body) == block


@pytest.mark.parametrize(
    ("prefix", "sample"),
    [
        (PREFIX, "y = ("),
        (PREFIX, ""),
        (PREFIX, "y = 1\n"),
        ("def f(", "x, y):\n    return 1\n"),
        (PREFIX, "if x:\n    y"),
    ],
)
def test_what_cannot_be_cut_stays_as_it_is(prefix: str, sample: str) -> None:
    assert block_at(prefix, sample, is_body=False) == sample


def test_a_run_has_the_answer_of_the_model_and_runs_the_cut_one() -> None:
    """Scores are looked up by the answer, not by the part of it that ran."""
    row = {
        "prefix": PREFIX,
        "suffix": "",
        "test_suffix": REST,
        "block_type": "EXPRESSION",
        "project_id": "p",
        "path": "p.py",
        "unit_test_ids": ["t"],
    }
    sources = Sources({}, {}, {}, "")
    [run] = plan(Task("s", Family.SCENE, row, ()), "y = x\n    return y", sources)
    assert isinstance(run, ProjectRun)
    assert run.sample == "y = x\n    return y"
    assert run.rewrite("") == f"{PREFIX}y = x{REST}"
