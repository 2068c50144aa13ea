"""A refresh in which a model writes problems about changes, and the other side of a migration."""

from __future__ import annotations

import json
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES
from pipeline.snapshots.snapshot import Published
from pipeline.snapshots.verify import verify
from tests.e2e.test_model_drafts import change, environment, refresh, rows, set_up
from tests.families.problems.changed_world import GOOD
from tests.families.problems.stores import TOOLS
from tests.index_server import Index, serve
from tests.llm.tasks.test_description import data_of
from tests.model_server import ModelServer, serving

pytestmark = pytest.mark.slow

RELEASES = {
    "1.0": '''
def glue_up(parts, mark):
    """Put texts together."""
    return mark.join(parts)


def total(numbers):
    """Add numbers up.

    >>> total([20, 300, 1])
    321
    """
    return sum(numbers)
''',
    "1.1": '''
def fuse(parts, mark):
    """Put texts together."""
    return mark.join(parts)


def chop(items, size):
    """Part items into lists of a size."""
    return [items[at : at + size] for at in range(0, len(items), size)]


def come_to(start, numbers):
    return sum(numbers, start)
''',
}
MIGRATED = {
    "preamble": "from lib import come_to",
    "statements": ["come_to(0, [20, 300, 1])"],
    "core_name": "come_to",
    "description": "Give back what all of the numbers are together.",
}


def reply(params: dict[str, Any]) -> dict[str, Any]:
    """Write problems and what takes the place of `total`, and decline everything else."""
    told = data_of(params)
    if "target_version" in told:
        return {"text": json.dumps(MIGRATED)}
    if told.get("function") != "solve" or told.get("path") not in GOOD:
        return {"text": "", "stop_reason": "refusal"}
    return {"text": json.dumps(GOOD[told["path"]])}


def pytest_in_one_wheel() -> dict[str, str]:
    """The files of pytest and of all that it needs, as they are installed here."""
    library = Path(sysconfig.get_path("purelib"))
    files = [path for name in TOOLS for path in sorted((library / name).rglob("*.py"))]
    return {path.relative_to(library).as_posix(): path.read_text() for path in files} | {
        "py.py": (library / "py.py").read_text()
    }


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    tmp_path = tmp_path_factory.mktemp("refresh")
    folder = tmp_path / "rules"
    shutil.copytree(RULES, folder)
    change(folder / "models.yaml", poll_s=0.1, wait_s=60, longest_pause_s=0.1)
    with (
        serve(Index()) as index,
        serving(ModelServer(reply)) as server,
        pytest.MonkeyPatch.context() as monkeypatch,
    ):
        # What came and went with a release is known only beside the one before.
        for month, (version, source) in enumerate({"0.9": RELEASES["1.0"], **RELEASES}.items(), 1):
            files, uploaded = {"lib/__init__.py": source}, f"2024-0{month}-01T00:00:00Z"
            index.add_wheel("demo", version, files, uploaded, requires_python=">=3.11")
        index.add_wheel("pytest", "8.0", pytest_in_one_wheel(), "2020-01-01T00:00:00Z")
        set_up(monkeypatch, environment(index, tmp_path / "data", folder, server.url))
        yield refresh("first")


def test_a_model_writes_problems_about_changes_without_examples(published: Published) -> None:
    assert verify(published.path) == []
    made = {row["path"]: row for row in rows(published, "problems") if row["source"] == "change"}
    # Rules make the one whose program shows a value, so that no model is paid for it.
    assert {path: row["drafter"] for path, row in made.items()} == {"lib.fuse": "model", "lib.chop": "offline"}
    assert {(row["drafter"], row["snippet_id"] is None, row["coverage"]) for row in made.values()} == {
        ("model", True, 1.0),
        ("offline", False, 1.0),
    }
    assert made["lib.fuse"]["discriminating"]
    assert made["lib.chop"]["other_outcome"] == "api_missing"


def test_a_model_writes_the_side_of_a_migration_that_nothing_else_has(published: Published) -> None:
    up, down = sorted(rows(published, "migrations"), key=lambda row: str(row["version"]))
    assert {(row["basis"], row["evidence"], row["drafter"]) for row in (up, down)} == {("model", "executed", "model")}
    assert (up["path"], up["version"], up["target_path"], up["target_version"]) == (
        "lib.total", "1.0", "lib.come_to", "1.1",
    )  # fmt: skip
    assert (down["path"], down["target_path"]) == ("lib.come_to", "lib.total")
    assert up["target_code"] == "from lib import come_to\ncome_to(0, [20, 300, 1])\n"
    assert up["discriminating"]
    assert up["description"] == MIGRATED["description"]
    (rewrite,) = rows(published, "rewrites")
    assert {up["target_rewrite_id"], down["source_rewrite_id"]} == {rewrite["id"]}
