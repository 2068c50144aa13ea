"""Builders of task functions and their runs as the stage `functions` makes them."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Access, Drafter
from pipeline.execution.mutation.score import MutationScore
from pipeline.lake.ids import content_id
from tests.families.completions_and_migrations.rows import LIBRARY, START, snippet

SNIPPET = snippet("take([1], 1)\n", "lib.take", "1.1")
CODE = "import lib\n\n\ndef solve(items, number):\n    return lib.take(items, number)\n"
_USE = CODE.index("take")
_TESTS = """from function_f import solve


def test_return_type_1():
    assert isinstance(solve([1], 1), list)


def test_normal_input_1():
    assert solve([1, 2], 1) == [1]


def test_functionality_1():
    assert solve([3, 1, 2], 2) == [3, 1]
"""


def function(**columns: Any) -> Any:
    """A function that the library's `take` is the whole of."""
    row: Any = {
        "id": "f", "library": LIBRARY, "version": "1.1", "release_time": START, "previous_version": "1.0",
        "snippet_id": SNIPPET["id"], "path": "lib.take", "change_id": None, "versicode_tag": "addition",
        "libevolutioneval_tag": LibEvolutionEvalTag.INTRODUCED, "code": CODE, "function": "solve",
        "parameters": ["items", "number"], "accepted_paths": [], "core_token": "take", "core_start_byte": _USE, "core_end_byte": _USE + 4,
        "access": Access.DIRECT, "redacted": False, "tests": _TESTS, "module": "function_f", "return_type": 1,
        "normal_input": 1, "boundary_values": 0, "functionality": 1, "missing_test_kinds": ["boundary_values"],
        "recorded_tests": 1, "other_version": "1.0", "code_drafter": Drafter.OFFLINE, "code_model": None,
        "code_prompt_sha256": None, "tests_drafter": Drafter.OFFLINE, "tests_model": None, "tests_prompt_sha256": None,
        "tokens": None, "nano_usd": None, "description": "Return the first items.", "drafter": Drafter.OFFLINE,
        "model": None, "prompt_sha256": "0" * 64, **MutationScore(4, 4).columns,
    }  # fmt: skip
    return row | columns


def run(role: FunctionRun, outcome: Outcome, executed: int | None = 3) -> Any:
    """A run of its tests; of other roles than the reference's, with another program."""
    own = role in (FunctionRun.TESTS, FunctionRun.REFERENCE_ELSEWHERE)
    return {
        "id": content_id("f", role), "function_id": "f", "library": LIBRARY, "version": "1.1", "role": role,
        "program": None if own else "def solve(items, number): ...\n", "outcome": outcome, "python": "3.9",
        "lock_id": "lock-1.1", "detail": None, "statements": 3, "executed": executed, "duration_s": 0.1,
    }  # fmt: skip
