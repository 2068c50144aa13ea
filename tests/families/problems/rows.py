"""Builders of problems and their runs as the stage `problems` makes them."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.changes import GitChameleonCategory, LibEvolutionEvalTag
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter
from pipeline.execution.mutation.score import MutationScore
from pipeline.lake.ids import content_id
from tests.families.completions_and_migrations.rows import LIBRARY, START, snippet

SNIPPET = snippet("take([1], 1)\n", "lib.take", "1.1")
_OTHERS = (
    ProblemRun.OTHER_EXAMPLE,
    ProblemRun.OTHER_CODEMOD,
    ProblemRun.OTHER_MODEL,
    ProblemRun.OTHER_THERE,
    ProblemRun.OTHER_ANY_API,
)


def problem(**columns: Any) -> Any:
    row: Any = {
        "id": "p", "library": LIBRARY, "version": "1.1", "release_time": START, "previous_version": "1.0",
        "snippet_id": SNIPPET["id"], "path": "lib.take", "change_id": None, "versicode_tag": "addition",
        "libevolutioneval_tag": LibEvolutionEvalTag.INTRODUCED, "problem": "Take the first items.\n\nWrite it.",
        "starting_code": "def solve(items):\n", "solution": "    return items\n", "test": "assert solve([]) == []\n",
        "hidden_tests": "from sample_p import solve\n", "module": "sample_p", "stated_tests": 1, "recorded_tests": 2,
        "category": GitChameleonCategory.NEW_FEATURE, "target_entity": "take", "accepted_paths": [],
        "api_calls": ["lib.take"],
        "solution_api_call": True, "additional_dependencies": [], "functional": True, "webdev": False,
        "documented_paths": [], "docs": [], "other_version": "1.0", "written_from": "0" * 64,
        "drafted_tests": 0, "drafter": Drafter.OFFLINE, "model": None, "prompt_sha256": "0" * 64, "tokens": None,
        "nano_usd": None, **MutationScore(4, 4).columns,
    }  # fmt: skip
    return row | columns


def run(role: ProblemRun, outcome: Outcome, executed: int | None = 4, statements: int | None = 4) -> Any:
    return {
        "id": content_id("p", role), "problem_id": "p", "library": LIBRARY, "version": "1.1", "role": role,
        "code": "    return 1\n" if role in _OTHERS else None, "outcome": outcome, "python": "3.9", "lock_id": "lock-1.1",
        "detail": None, "statements": statements, "executed": executed, "duration_s": 0.1,
    }  # fmt: skip
