"""Small snapshots with the columns that scoring reads, and no others."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.core.rules.load import RULES, load
from pipeline.evaluation.scores.rules import ScoreRules
from tests.snapshots.lakes import stamp, write_columns

COMPLETION = {
    "library": "demo",
    "version": "2.0",
    "release_time": datetime(2021, 4, 1, tzinfo=UTC),
    "path": "demo.load",
    "source": "docstring",
    "libevolutioneval_tag": "introduced",
    "versicode_tag": "addition",
    "access": "direct",
    "snippet_id": "s1",
    "reference_outcome": "passed",
    "lock_id": "lock",
    "code": "from demo import load\nload(1)\n",
    "core_token": "load",
}
TOKEN = COMPLETION | {
    "id": "token",
    "granularity": "token",
    "masked_code": "from demo import [token-mask]\n[token-mask](1)\n",
    "answer": "load",
}
LINE = COMPLETION | {
    "id": "line",
    "granularity": "line",
    "masked_code": "from demo import [token-mask]\n[line-mask]\n",
    "answer": "load(1)",
}
MIGRATION = {
    "id": "migration",
    "library": "demo",
    "target_release_time": datetime(2023, 1, 1, tzinfo=UTC),
    "direction": "old_to_new",
    "pattern": "minor_to_major",
    "source_code": "from demo import read\nread(1)\n",
    "target_path": "demo.load",
    "target_code": "from demo import load\nload(1)\n",
    "target_name": "load",
    "target_snippet_id": "s1",
    "target_lock_id": "lock",
    "discriminating": True,
}
CONTEXT = {
    "completion_id": "token",
    "library": "demo",
    "hint": "demo.",
    "reference_call": "demo.load(1)",
    "right_context_few_lines": "\nx = 2\n",
}
CONTROLLED = {
    "id": "controlled",
    "library": "demo",
    "hint": "demo.",
    "reference_call": "demo.load(number)",
    "document_id": "d2",
}
BLOCK = {
    "id": "block",
    "library": "guava",
    "language": "java",
    "answer": "Page page = new Page(1);\npage.show();",
    "core_token": "Page",
}
COMPATIBILITY = {
    "id": "compatibility",
    "library": "demo",
    "releases": ["1.0", "1.1", "2.0"],
    "compatible": ["1.0", "1.1"],
}
PROBLEM = {
    "id": "problem",
    "library": "demo",
    "starting_code": "import demo\n",
    "solution": "result = demo.load(1)\n",
    "api_calls": ["demo.load"],
    "category": "name",
    "test": "assert result == 1",
    "hidden_tests": "import sample\ndef test_it():\n    assert sample.result == 1\n",
    "module": "sample",
    "lock_id": "lock",
}
FUNCTION = {
    "id": "function",
    "library": "demo",
    "granularity": "block",
    "masked_code": "import demo\ndef solve(number):\n    [block-mask]\n",
    "answer": "page = demo.load(number)\n    return page",
    "core_token": "load",
    "discriminating": False,
}
REPOSITORY_TASK = {
    "id": "task",
    "library": "demo",
    "type": "function",
    "intra_class": ["demo.Page.show"],
    "intra_file": ["demo.load"],
    "cross_file": ["demo.pages.Page.__eq__"],
    "reference": "    self.show()\n    load(1) == 2\n",
}
DOCUMENT = {"library": "demo", "first_version": "1.0", "last_version": None}
DOCUMENTS = [
    DOCUMENT | {"id": "d1", "path": "demo.load", "canonical_path": "demo.pages.load"},
    DOCUMENT | {"id": "d2", "path": "demo.pages.load", "canonical_path": "demo.pages.load"},
    DOCUMENT | {"id": "d3", "path": "demo.save", "canonical_path": "demo.save"},
    DOCUMENT | {"id": "d4", "path": "demo.load", "canonical_path": "demo.load", "last_version": "1.9"},
]
TASKS: dict[str, list[dict[str, Any]]] = {
    "completions": [TOKEN, LINE],
    "contexts": [CONTEXT],
    "controlled_completions": [CONTROLLED],
    "block_completions": [BLOCK],
    "migrations": [MIGRATION],
    "compatibilities": [COMPATIBILITY],
    "problems": [PROBLEM],
    "functions": [FUNCTION],
    "repository_tasks": [REPOSITORY_TASK],
    "api_documents": DOCUMENTS,
}
REFERENCES = {
    ("token", "completion"): "load",
    ("line", "completion"): "load(1)",
    ("token", "context"): "load(1)",
    ("controlled", "controlled"): "load(number)",
    ("block", "block_completion"): BLOCK["answer"],
    ("migration", "migration"): MIGRATION["target_code"],
    ("compatibility", "compatibility"): "1.0, 1.1",
    ("problem", "problem"): "result = demo.load(1)\n",
    ("function", "function"): "page = demo.load(number)\nreturn page\n",
    ("task", "repository_task"): "    self.show()\n    load(1)\n",
}
"""What stood there, by id and family."""

RULES_OF_SCORES = load(RULES / "scores.yaml", ScoreRules)


def snapshot(folder: Path, tables: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    """Write the tasks of a snapshot."""
    for name, rows in (TASKS if tables is None else tables).items():
        write_columns(folder, name, rows)
    return stamp(folder)


def lines(*predictions: dict[str, Any]) -> bytes:
    """Return a file of predictions."""
    return b"".join(json.dumps(prediction).encode() + b"\n" for prediction in predictions)


def answers(texts: dict[tuple[str, str], str] | None = None) -> bytes:
    """Return predictions that answer tasks with one text each: what stood there, if nothing else is said."""
    found = REFERENCES if texts is None else texts
    return lines(*({"id": of, "family": family, "completions": [text]} for (of, family), text in found.items()))
