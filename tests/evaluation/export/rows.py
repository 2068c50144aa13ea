"""A snapshot with rows of every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.changes import GitChameleonCategory, LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Access, Direction, Granularity, Language, SnippetSource
from pipeline.core.vocabularies.scenes import Scene
from pipeline.index.release_selection import Period
from tests.evaluation.export.columns import TIME, filled
from tests.evaluation.export.demo import project, scene, task
from tests.families.completions_and_migrations.rows import releases
from tests.snapshots.lakes import Tables, fill, publish


def problem() -> Any:
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


def function(granularity: Granularity) -> Any:
    """A task function whose reference passes its tests on any Python, masked at a level."""
    masked_code, answer = {
        Granularity.TOKEN: ("def solve(a, b):\n    return [token-mask](a, b)\n", "max"),
        Granularity.LINE: ("def solve(a, b):\n    [line-mask]\n", "return max(a, b)"),
        Granularity.BLOCK: ("def solve(a, b):\n    [block-mask]\n", "return max(a, b)"),
    }[granularity]
    return filled(
        "published_functions",
        id=f"function-{granularity}",
        library="lib",
        version="2.0",
        release_time=TIME,
        versicode_tag=VersiCodeTag.ADDITION,
        libevolutioneval_tag=LibEvolutionEvalTag.INTRODUCED,
        source=SnippetSource.DOCSTRING,
        description="Return the larger of two numbers.",
        code="def solve(a, b):\n    return max(a, b)\n",
        core_token="max",
        granularity=granularity,
        masked_code=masked_code,
        answer=answer,
        function="solve",
        module="function_f",
        tests="from function_f import solve\n\n\ndef test_normal_input_1():\n    assert solve(1, 2) == 2\n",
        return_type=0,
        normal_input=1,
        boundary_values=0,
        functionality=0,
        canary="canary of the test, long enough",
    )


def context(completion: Any) -> Any:
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
        version_comment="# lib==1.1",
        query="Get the page.",
    )


def controlled(**columns: Any) -> Any:
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


def compatibility(**columns: Any) -> Any:
    """A program that runs in 1.1 alone."""
    stated = {
        "id": "compatibility",
        "library": "lib",
        "version": "1.1",
        "release_time": TIME,
        "path": "lib.fetch",
        "code": "from lib import fetch\nprint(fetch(1, number=2))  # 2\n",
        "output": "2\n",
        "releases": ["1.0", "1.1"],
        "compatible": ["1.1"],
        "outcomes": [Outcome.API_MISSING, Outcome.PASSED],
        "snippet_id": "snippet",
        "source": SnippetSource.OWN_TEST,
        "licence": "MIT",
        "discriminating": True,
    }
    return filled("published_compatibilities", **stated | columns)


CODE = {
    Granularity.TOKEN: ("from lib import [token-mask]\nx = [token-mask](1, number=2)\nprint(x)\n", "fetch"),
    Granularity.LINE: ("from lib import [token-mask]\n[line-mask]\nprint(x)\n", "x = fetch(1, number=2)"),
    Granularity.BLOCK: ("from lib import [token-mask]\n[block-mask]\n", "x = fetch(1, number=2)\nprint(x)"),
}
"""Masked code and answer of each granularity."""


def completion(granularity: Granularity, **columns: Any) -> Any:
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


def migration(direction: Direction) -> Any:
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
        versicode_tag=VersiCodeTag.GENERAL,
        source=SnippetSource.DOCSTRING,
    )


def foreign() -> Any:
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


def document(path: str, first: str, last: str | None, description: str) -> Any:
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
        "published_compatibilities": [compatibility()],
        "published_problems": [problem()],
        "published_functions": [function(granularity) for granularity in Granularity],
        "projects": [project(sha256)],
        "published_repository_tasks": [task()],
        "published_scenes": [scene(kind) for kind in Scene],
    }


def snapshot_of(content: Tables, folder: Path) -> Path:
    """Publish tables as a snapshot."""
    lake = fill(folder / "lake", content)
    return publish(lake, folder / "candidates", folder / "snapshots", "mine", ["lib"], Period(), {}).path
