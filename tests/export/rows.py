"""A snapshot with rows of every family, of a small real project whose sources stand in an index."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.crawl import Period
from pipeline.lake import Row, table
from pipeline.lake.schema import Column, enum_of
from pipeline.publish import publish
from pipeline.terms import (
    Access,
    Direction,
    FlagKind,
    FunctionType,
    GitChameleonCategory,
    Granularity,
    Language,
    LibEvolutionEvalTag,
    ProjectOutcome,
    Scene,
    SnippetSource,
    VersiCodeTag,
)
from tests.instances.rows import releases
from tests.publish.lakes import Tables, fill

TIME = datetime(2021, 6, 1, 12, 30, 0, 123456, tzinfo=UTC)
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


def filled(name: str, /, **columns: Any) -> Row:
    """A row of a declared table; what is not said is as little as the declaration allows."""
    return {column.name: columns.get(column.name, _least(column)) for column in table(name).columns}


def _least(column: Column) -> Any:
    if column.nullable:
        return None
    if column.type.startswith("list["):
        return []
    if enum := enum_of(column.type):
        return next(iter(enum))
    return {"string": "", "int64": 1, "float64": 1.0, "bool": False, "timestamp": TIME}[column.type]


def problem() -> Row:
    """A problem whose reference passes its tests on any Python, with a name of its own for the program."""
    return filled(
        "published_problems",
        id="1f" * 16,
        library="lib",
        version="2.0",
        python="3.9",
        release_time=TIME,
        problem="Return the larger of two numbers.\n\nWrite the body of larger.",
        starting_code="def larger(a, b):\n",
        solution="    return max(a, b)\n",
        test="assert larger(1, 2) == 2\n",
        hidden_tests="import program\nfrom program import larger\n\n\ndef test_equal():\n    assert program.larger(3, 3) == larger(3, 3) == 3\n",
        module="program",
        category=GitChameleonCategory.SEMANTICS,
        target_entity="max",
        api_calls=["max"],
        solution_api_call=True,
        additional_dependencies=["numpy==1.21.6", "scipy==1.7.3"],
        functional=True,
        docs=["https://example.org/max.html"],
        canary="canary of the test, long enough",
    )


def project(sha256: str, version: str = "1.0", **columns: Any) -> Row:
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
        "domain": "Topic :: Text Processing :: General",
        "purl": f"pkg:pypi/{DEMO}@{version}",
    }
    return filled("projects", **told | columns)


def task(version: str = "1.0", **columns: Any) -> Row:
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


def scene(kind: Scene, version: str = "1.0") -> Row:
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
        release_time=TIME,
    )


def context(completion: Row) -> Row:
    """What stands around the use that a completion hides."""
    return filled(
        "published_contexts",
        completion_id=completion["id"],
        library=completion["library"],
        imports="from lib import [token-mask]\n",
        left_context="x = ",
        reference_call=f"{completion['core_token']}(1)",
        right_context="\nprint(x)\n",
        right_context_few_lines="\nprint(x)",
        query="Get the page.",
    )


def controlled(**columns: Any) -> Row:
    """A completion made from documentation."""
    told = {
        "id": "controlled",
        "library": "lib",
        "version": "1.1",
        "path": "lib.fetch",
        "access": Access.DIRECT,
        "libevolutioneval_tag": LibEvolutionEvalTag.DEPRECATED,
        "description": "Get the page of it.",
        "left_context": "# Get the page of it, given number\n",
        "hint": "lib.",
        "reference_call": "lib.fetch(number)",
        "core_token": "fetch",
    }
    return filled("published_controlled_completions", **told | columns)


CODE = {
    Granularity.TOKEN: ("from lib import [token-mask]\nx = [token-mask](1, number=2)\nprint(x)\n", "fetch"),
    Granularity.LINE: ("from lib import [token-mask]\n[line-mask]\nprint(x)\n", "x = fetch(1, number=2)"),
    Granularity.BLOCK: ("from lib import [token-mask]\n[block-mask]\n", "x = fetch(1, number=2)\nprint(x)"),
}
"""Masked code and answer of each granularity."""


def completion(granularity: Granularity, **columns: Any) -> Row:
    """A call of lib.fetch in 1.1, with a part of it masked."""
    masked, answer = CODE[granularity]
    told = {
        "id": f"completion-{granularity}",
        "library": "lib",
        "version": "1.1",
        "release_time": TIME,
        "path": "lib.fetch",
        "granularity": granularity,
        "code": "from lib import fetch\nx = fetch(1, number=2)\nprint(x)\n",
        "masked_code": masked,
        "answer": answer,
        "core_token": "fetch",
        "description": "Get the page of it.",
        "access": Access.DIRECT,
        "libevolutioneval_tag": LibEvolutionEvalTag.DEPRECATED,
        "versicode_tag": VersiCodeTag.DEPRECATION,
        "source": SnippetSource.GITHUB,
        "licence": "MIT",
        "flags": [FlagKind.AUDIT],
        "canary": "canary of the test, long enough",
    }
    return filled("published_completions", **told | columns)


def migration(direction: Direction) -> Row:
    """From lib.fetch of 1.1 to lib.load of 2.0, or back."""
    sides = [("1.1", "fetch", "lib.fetch"), ("2.0", "load", "lib.load")]
    if direction is Direction.NEW_TO_OLD:
        sides.reverse()
    (version, source, path), (target_version, target, target_path) = sides
    return filled(
        "published_migrations",
        id=f"migration-{direction}",
        library="lib",
        version=version,
        release_time=TIME,
        path=path,
        target_version=target_version,
        target_path=target_path,
        direction=direction,
        source_code=f"import lib\nlib.{source}(1)\n",
        target_code=f"import lib\nlib.{target}(1)\n",
        source_name=source,
        target_name=target,
    )


def foreign() -> Row:
    """A block in Java without a description."""
    return filled(
        "published_block_completions",
        id="foreign",
        library="lib",
        version="2.0",
        language=Language.JAVA,
        code="import org.lib.Page;\nPage page = new Page(1);\n",
        masked_code="import org.lib.[token-mask];\n[block-mask]\n",
        answer="Page page = new Page(1);",
        core_token="Page",
        source=SnippetSource.STACK_OVERFLOW,
    )


def document(path: str, first: str, last: str | None, description: str) -> Row:
    """What the documentation says of a function over a run of releases."""
    number = {"name": "number", "type": "int", "mandatory": True, "default": None, "description": "which page"}
    return filled(
        "api_documents",
        id=f"{path} {first}",
        library="lib",
        path=path,
        first_version=first,
        last_version=last,
        signature="(number)",
        parameters=[number],
        description=description,
    )


def lake_tables(sha256: str = "0" * 64) -> Tables:
    """The tables of a small lake with rows of every family; one project has a source distribution of that hash."""
    completions = [completion(granularity) for granularity in Granularity]
    return {
        "releases": releases("1.0", "1.1", "2.0"),
        "api_documents": [
            document("lib.fetch", "1.0", "1.1", "Get the page of it."),
            document("lib.load", "2.0", None, "Get a page of it."),
        ],
        "published_completions": completions,
        "published_migrations": [migration(direction) for direction in Direction],
        "published_block_completions": [foreign()],
        "published_contexts": [context(completions[0])],
        "published_controlled_completions": [controlled()],
        "published_problems": [problem()],
        "projects": [project(sha256)],
        "published_repository_tasks": [task()],
        "published_scenes": [scene(kind) for kind in Scene],
    }


def snapshot_of(content: Tables, folder: Path) -> Path:
    """Publish tables as a snapshot."""
    return publish(fill(folder / "lake", content), folder / "snapshots", "mine", ["lib"], Period(), "rules").path
