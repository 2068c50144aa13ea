"""A small real project whose own tests reach its functions, and the rows that are made of it."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.projects import FunctionType, ProjectOutcome
from pipeline.core.vocabularies.scenes import Scene
from tests.evaluation.export.columns import TIME, filled

DEMO = "demo"
SOURCE = '''"""Counting."""

LIMIT = 3


def clip(number: int, most: int = LIMIT) -> int:
    """Return a number, or the most that is allowed."""
    if number > most:
        return most
    return number


class Counter:
    """Counts up to a limit."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, number: int) -> int:
        """Add a number and return the sum, clipped."""
        self.count = clip(self.count + number)
        return self.count
'''
TESTS = """from demo.counting import Counter, clip


def test_clip():
    assert clip(5) == 3
    assert clip(1) == 1


def test_add():
    counter = Counter()
    assert counter.add(2) == 2
    assert counter.add(2) == 3
"""
FILES = {"demo/__init__.py": "", "demo/counting.py": SOURCE, "tests/test_counting.py": TESTS}


def project(sha256: str, version: str = "1.0", **columns: Any) -> Any:
    """A release of the demo project whose tests ran."""
    told = {
        "id": f"project-{version}",
        "library": "lib",
        "project": DEMO,
        "version": version,
        "release_time": TIME,
        "outcome": ProjectOutcome.TRACED,
        "sdist": f"{DEMO}-{version}.tar.gz",
        "sha256": sha256,
        "root": f"{DEMO}-{version}",
        "python": "3.11",
        "lock_id": "lock",
        "lock": f"{DEMO}=={version} \\\n    --hash=sha256:{sha256}\n",
        "packages": [DEMO],
        "import_names": [DEMO],
        "domain": "Topic :: Text Processing :: General",
        "purl": f"pkg:pypi/{DEMO}@{version}",
    }
    return filled("projects", **told | columns)


def task(version: str = "1.0", **columns: Any) -> Any:
    """The method Counter.add as a task."""
    told = {
        "id": f"task-{version}",
        "library": "lib",
        "project_id": f"project-{version}",
        "project": DEMO,
        "version": version,
        "release_time": TIME,
        "namespace": "demo.counting.Counter.add",
        "type": FunctionType.METHOD,
        "class_name": "Counter",
        "name": "add",
        "path": "demo/counting.py",
        "signature_first_line": 19,
        "signature_last_line": 19,
        "body_first_line": 21,
        "body_last_line": 22,
        "indent": 8,
        "functionality": "Add a number and return the sum, clipped.",
        "arguments": ":param number: int\n:return: int",
        "intra_class": ["demo.counting.Counter.count"],
        "intra_file": ["demo.counting.clip"],
        "tests": ["tests/test_counting.py::test_add"],
        "input_code": "    def add(self, number: int) -> int:\n",
        "reference": "        self.count = clip(self.count + number)\n        return self.count\n",
        "contexts_above": SOURCE[: SOURCE.index("    def add")],
        "domain": "Topic :: Text Processing :: General",
    }
    return filled("published_repository_tasks", **told | columns)


def scene(kind: Scene, version: str = "1.0") -> Any:
    """The if statement of clip in a scene."""
    start = SOURCE.index("    if number")
    end = start if kind is Scene.COMPLETE_BLOCK else SOURCE.index("    return number\n")
    shown = {Scene.NOTHING_BELOW: len(SOURCE), Scene.FUNCTION_EMPTY_BELOW: SOURCE.index("\n\nclass")}.get(kind, end)
    return filled(
        "published_scenes",
        id=f"scene-{kind}-{version}",
        library="lib",
        version=version,
        project_id=f"project-{version}",
        function_id="function",
        scene=kind,
        block_type="if",
        block_key="demo/counting.py#L8-L9",
        func_name="demo/counting.py#L6-L10",
        namespace="demo.counting.clip",
        path="demo/counting.py",
        middle_start=start,
        middle_end=end,
        suffix_start=shown,
        prefix=SOURCE[:start],
        middle=SOURCE[start:end],
        suffix=SOURCE[shown:],
        test_suffix=SOURCE[end:],
        unit_test_ids=["tests/test_counting.py::test_clip"],
        discriminating=True,
        release_time=TIME,
    )
