"""A refresh in which a model writes problems about the changes of a library without examples."""

from __future__ import annotations

import json
import shutil
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from pipeline.publish import verify
from pipeline.rules import RULES
from tests.drafting.kinds.test_description import data_of
from tests.e2e.test_model_drafts import change, environment, refresh, rows, set_up
from tests.index_server import Index, serve
from tests.model_server import ModelServer, serving
from tests.problems.changed_world import GOOD
from tests.problems.stores import TOOLS

pytestmark = pytest.mark.slow

RELEASES = {
    "1.0": '''
def glue_up(parts, mark):
    """Put texts together."""
    return mark.join(parts)
''',
    "1.1": '''
def fuse(parts, mark):
    """Put texts together."""
    return mark.join(parts)


def chop(items, size):
    """Part items into lists of a size."""
    return [items[at : at + size] for at in range(0, len(items), size)]
''',
}


def reply(params: dict[str, Any]) -> dict[str, Any]:
    """Write problems, and decline everything else."""
    told = data_of(params)
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


def test_a_model_writes_problems_of_a_library_without_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rules"
    shutil.copytree(RULES, folder)
    change(folder / "models.yaml", poll_s=0.1, wait_s=60, longest_pause_s=0.1)
    with serve(Index()) as index, serving(ModelServer(reply)) as server:
        for month, (version, source) in enumerate(RELEASES.items(), 1):
            files, uploaded = {"lib/__init__.py": source}, f"2024-0{month}-01T00:00:00Z"
            index.add_wheel("demo", version, files, uploaded, requires_python=">=3.11")
        index.add_wheel("pytest", "8.0", pytest_in_one_wheel(), "2020-01-01T00:00:00Z")
        set_up(monkeypatch, environment(index, tmp_path / "data", folder, server.url))
        published = refresh("first")
    assert verify(published.path) == []
    made = {row["path"]: row for row in rows(published, "problems")}
    assert set(made) == {"lib.fuse", "lib.chop"}
    assert {row["drafter"] for row in made.values()} == {"model"}
    assert {(row["source"], row["snippet_id"], row["coverage"]) for row in made.values()} == {("change", None, 1.0)}
    assert made["lib.fuse"]["discriminating"]
    assert made["lib.chop"]["other_outcome"] == "api_missing"
