"""The reference of a task is nowhere in the folder in which answers to it run."""

from __future__ import annotations

import hashlib
import io
import marshal
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.scenes import Scene
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import Unpack
from pipeline.evaluation.export.projects import masked
from tests.evaluation.export.demo import DEMO, FILES, SOURCE, scene, task
from tests.evaluation.export.restore import records
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.index_server import Index, sdist

LONG = 12
"""Characters from which on a line is a statement of its own."""
CLIP = "    if number > most:\n        return most\n    return number\n"
OTHER = "def half(number: int) -> int:\n    halved = number // 2\n    return halved\n"


def tarball(content: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("demo-1.0/demo/counting.py")
        member.size = len(content.encode())
        archive.addfile(member, io.BytesIO(content.encode()))
    return packed.getvalue()


def wheel(content: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("demo/counting.py", content)
    return packed.getvalue()


COPIES: Mapping[str, str | bytes] = {
    "build/lib/demo/counting.py": SOURCE,
    "build/lib.linux/demo/counting.py": SOURCE.replace("LIMIT = 3", "LIMIT = 4"),
    "vendored/counted.py": SOURCE,
    "dist/demo-1.0.tar.gz": tarball(SOURCE),
    "dist/demo-1.0-py3-none-any.whl": wheel(SOURCE),
    "tests/data/old.zip": wheel(SOURCE.replace("LIMIT = 3", "LIMIT = 4")),
    "demo/__pycache__/counting.cpython-311.pyc": bytes(16) + marshal.dumps(compile(SOURCE, "counting.py", "exec")),
}
NEEDED: Mapping[str, str | bytes] = {
    "tests/data/other.zip": wheel(OTHER),
    "demo/aio/counting.py": OTHER,
}
UNREADABLE = {"tests/data/damaged.whl": b"PK no archive"}
"""Nobody knows what is in it: it may be a copy."""


def statements(code: str) -> set[bytes]:
    return {line.strip().encode() for line in code.splitlines() if len(line.strip()) >= LONG}


def holding(folder: Path, lines: set[bytes]) -> dict[str, set[bytes]]:
    """The files below a folder that hold some lines, also packed or compiled."""
    found: dict[str, set[bytes]] = {}
    for path in folder.rglob("*"):
        content = text_of(path) if path.is_file() else b""
        if held := {line for line in lines if line in content}:
            found[path.relative_to(folder).as_posix()] = held
    return found


def text_of(path: Path) -> bytes:
    if path.suffix == ".pyc":
        return b"\n".join(statements(SOURCE))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return b"\n".join(map(archive.read, archive.namelist()))
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as packed:
            return b"\n".join(file.read() for one in packed if (file := packed.extractfile(one)))
    return path.read_bytes()


@pytest.fixture
def tables(index: Index) -> Any:
    """Rows of two tasks in one file, and of scenes, in a project with copies of itself."""
    content = sdist(DEMO, "1.0", {**FILES, **COPIES, **NEEDED, **UNREADABLE})
    index.add(DEMO, "1.0", content, "2021-06-01T12:30:00Z")
    found = lake_tables(hashlib.sha256(content[1]).hexdigest())
    clip: Any = task() | {
        "id": "task-clip",
        "namespace": "demo.counting.clip",
        "name": "clip",
        "class_name": None,
        "signature_first_line": 6,
        "signature_last_line": 6,
        "body_first_line": 8,
        "body_last_line": 10,
        "indent": 4,
        "reference": CLIP,
    }
    found["published_repository_tasks"].append(clip)
    return found


def test_the_body_of_a_task_is_not_in_its_folder(tables: Any, sources: Unpack, tmp_path: Path) -> None:
    export(snapshot_of(tables, tmp_path), ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    bodies = {row["namespace"]: row["reference"] for row in tables["published_repository_tasks"]}
    tasks = records(tmp_path / "out", "data.jsonl")
    assert {one["namespace"] for one in tasks} == set(bodies)
    for one in tasks:
        folder, _, path = one["completion_path"].partition("/")
        place, lines = tmp_path / "out" / "Source_Code" / folder, statements(bodies[one["namespace"]])
        assert holding(place, lines) == {}
        assert {name for name in {**NEEDED, **UNREADABLE} if (place / name).is_file()} == set(NEEDED)
        shown = (place / path).read_text().split("\n")
        first, last = one["body_position"]
        assert shown[: first - 1] == SOURCE.split("\n")[: first - 1]
        assert shown[last:] == SOURCE.split("\n")[last:]
        # All that has the body: the records of this task and others, and copies for other tasks.
        elsewhere = {name.split("/")[0] for name in holding(tmp_path / "out", lines)}
        assert elsewhere <= {"unsupported_columns.jsonl", "prompt", "Source_Code"}


def test_what_a_scene_asks_for_is_not_in_its_folder(tables: Any, sources: Unpack, tmp_path: Path) -> None:
    tables["published_scenes"].append(
        scene(Scene.WHOLE_BLOCK)
        | {"id": "none", "middle": "", "path": "demo/__init__.py", "block_key": "demo/__init__.py#L1-L1"}
    )
    export(snapshot_of(tables, tmp_path), ExportFormat.CODEVBENCH, tmp_path / "out", sources)
    place = tmp_path / "out" / "Source_Code"
    rows = {row["middle"] for row in tables["published_scenes"] if row["path"] == "demo/counting.py"}
    asked = set().union(*(statements(middle) for middle in rows))
    assert asked
    found = {folder.name: set(holding(folder, asked)) for folder in place.iterdir()}
    whole = {"demo/counting.py", *COPIES} - {"demo/__pycache__/counting.cpython-311.pyc"}
    assert sorted(found.values(), key=len) == [set(), whole], "the copy for another file has all but bytecode"


def test_the_search_finds_each_copy(tmp_path: Path) -> None:
    for path, content in COPIES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content.encode() if isinstance(content, str) else content)
    assert set(holding(tmp_path, statements(CLIP))) == set(COPIES)


@pytest.mark.parametrize(
    ("content", "spans", "stub", "shown"),
    [
        (b"a\n\tb\n\tc\nd\n", [(2, 3)], "pass", b"a\n\tpass\n\nd\n"),
        (b"a\r\nb\rc\x0cd\r\n", [(2, 2)], "", b"a\n\nc\x0cd\n"),
        (b"a\nb", [(2, 9), (7, 9)], "pass", b"a\npass"),
        (b"a\nb\nc", [(1, 2), (2, 3)], "", b"\n\n"),
    ],
)
def test_lines_keep_their_numbers(content: bytes, spans: list[tuple[int, int]], stub: str, shown: bytes) -> None:
    assert masked(content, spans, stub) == shown
