"""What the syntax tree alone says of calls is what libcst would have come to."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.api.history.tags import Tags
from pipeline.core.vocabularies.samples import Direction
from pipeline.families.completions_and_migrations.codemods.program import Program
from pipeline.families.completions_and_migrations.codemods.reading import Reading
from pipeline.families.completions_and_migrations.codemods.rewrite import Task, rewrite
from pipeline.families.completions_and_migrations.codemods.signatures import Unfit
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.transitions import transitions
from pipeline.lake.rows import SnippetRow
from tests.families.completions_and_migrations.codemods.library import example, module, stages
from tests.families.completions_and_migrations.rows import TAGGING

OLD = module("def fetch(name, size=1, *, how=None):\n    return name, size\n")
NEW = module("def fetch(name, *, way=2, how=None):\n    return name, way\n")


def tasks_of(code: str) -> tuple[Any, list[Task]]:
    """A snippet of the older release, and the uses that the newer one may want otherwise."""
    snippet = example(code, "2", "2")
    tables, _ = stages(OLD, NEW, snippet)
    history = History(tables["releases"], tables["symbols"], tables["changes"], Tags(tables["lifecycles"], TAGGING).at)
    found = [
        step.task
        for transition in transitions(tables["changes"], tables["lifecycles"], history)
        if (transition.target, transition.direction) == ("3", Direction.OLD_TO_NEW)
        for usage in tables["usages"]
        if (step := transition.step(usage)) is not None
    ]
    return snippet, found


def outcome(snippet: SnippetRow, tasks: list[Task]) -> str:
    try:
        return "written anew" if rewrite(Program(snippet), tasks) else "as it was"
    except Unfit:
        return "unfit"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import lib\nx = lib.fetch('a')\n", "as it was"),
        ("import lib\nx = lib.fetch('a', how=1)\n", "as it was"),
        ("import lib\ny = 'ä€😀'; x = lib.fetch('ü', how=1)\n", "as it was"),
        ("import lib\nx = (lib.fetch)(\n    'a',\n    how='€',\n)\n", "as it was"),
        ("import lib\nx = lib.fetch(name='a')\n", "as it was"),
        ("import lib\nx = lib.fetch\n", "as it was"),
        ("import lib\nx = [lib.fetch(lib.fetch(i)) for i in 'ab']\n", "as it was"),
        ("import lib\nx = lib.fetch('a', 1)\n", "written anew"),
        ("import lib\ny = 'ä€😀'; x = lib.fetch('ü', size=1)\n", "written anew"),
        ("import lib\nx = lib.fetch(lib.fetch('a', 1))\n", "written anew"),
        ("import lib\nx = lib.fetch('a', 3)\n", "unfit"),
        ("import lib\nx = lib.fetch(*'a')\n", "unfit"),
        ("import lib\nx = lib.fetch(**{'name': 1})\n", "unfit"),
        ("import lib\nx = lib.fetch()\n", "unfit"),
    ],
)
def test_a_call_stays_where_libcst_would_leave_it_alone(code: str, expected: str) -> None:
    snippet, tasks = tasks_of(code)
    assert tasks
    assert outcome(snippet, tasks) == expected
    assert Reading(snippet).stays(tasks) == (expected == "as it was")
