"""A small project as the stage before hands it over, and a runner that really runs its tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tree_sitter import Node

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.projects import FunctionType, ProjectOutcome, TestOutcome
from pipeline.core.vocabularies.running import Outcome, Rung
from pipeline.families.repository_tasks.project import Variant
from pipeline.families.repository_tasks.variant_runs import TestRun
from pipeline.families.scenes.rules import SceneRules
from pipeline.families.scenes.source import SourceFile, last_line
from pipeline.families.scenes.stage import scenes_stage
from pipeline.lake.ids import content_id, sha256_text
from pipeline.lake.rows import LineCoverageRow, ProjectFileRow, ProjectRow, SceneRow
from tests.families.problems.examples import MUTATION

PROJECT = content_id("project")

FILES = {
    "shop/prices.py": '''\
"""Prices."""


def with_tax(price, rate=0.2):
    """Return a price with tax."""
    if rate < 0:
        raise ValueError("no rate")
    return round(price * (1 + rate), 2)


def total(prices):
    result = 0.0
    # Every price is added to what was there before it.
    for price in prices:
        result = result + price * 1
    return result


def unused():
    return "nobody calls this"
''',
    "shop/cart.py": '''\
from shop.prices import total, with_tax


class Cart:
    def __init__(self):
        self.lines = []

    def add(self, price, number=1):
        self.lines.append(price * number)
        return self

    def sum(self, rate=0.2):
        """Return what is to be paid."""
        if not self.lines:
            return 0.0
        else:
            plain = total(self.lines)
        return with_tax(plain, rate)

    def heaviest(self):
        result = 0.0
        # The heaviest price is the one that counts here.
        for price in self.lines:
            result = result + price * 2
        return result
''',
}
TESTS = """\
from shop.cart import Cart
from shop.prices import total, with_tax


def test_sum():
    assert Cart().add(1.0).add(2.0, 2).sum() == 6.0


def test_empty():
    assert Cart().sum() == 0.0


def test_tax():
    assert with_tax(10) == 12.0


def test_total():
    assert total([1, 2]) == 3.0


def test_heaviest():
    Cart().add(1.0).heaviest()
"""
_OUTCOMES = {"PASSED": TestOutcome.PASSED, "FAILED": TestOutcome.FAILED, "ERROR": TestOutcome.ERROR}
REACHED = {
    "total": {"test_total": (11, 16), "test_sum": (11, 16)},
    "with_tax": {"test_tax": (4, 8), "test_sum": (4, 8)},
    "__init__": {"test_sum": (5, 6), "test_empty": (5, 6)},
    "add": {"test_sum": (8, 10)},
    "sum": {"test_sum": (12, 18), "test_empty": (12, 15)},
    "heaviest": {"test_heaviest": (20, 25)},
}
CALLED = {"sum": ["shop.prices.total", "shop.prices.with_tax"]}


def project(**columns: object) -> Any:
    row: Any = {
        "id": PROJECT,
        "library": "shop",
        "project": "shop",
        "version": "1.0",
        "release_time": datetime(2024, 1, 1, tzinfo=UTC),
        "outcome": ProjectOutcome.TRACED,
        "detail": None,
        "sdist": "shop-1.0.tar.gz",
        "sha256": "0" * 64,
        "size": 1,
        "url": None,
        "root": "shop-1.0",
        "import_root": "",
        "packages": ["shop"],
        "requirements": [],
        "requirements_from": [],
        "python": "3.11",
        "cutoff": None,
        "rung": Rung.WHEELS,
        "lock_id": "lock",
        "lock": "",
        "import_names": ["shop"],
        "tests_collected": 5,
        "tests_run": 5,
        "tests_passed": 5,
        "tests_failed": 0,
        "tests_skipped": 0,
        "tests_flaky": 0,
        "functions": len(REACHED),
        "purl": "pkg:pypi/shop@1.0",
        "project_url": None,
        "domain": None,
        "licence": "MIT",
        "attribution": "Ada",
        "duration_s": 0.1,
    }
    return row | columns


def files(texts: Mapping[str, str] = FILES) -> list[ProjectFileRow]:
    return [
        {"project_id": PROJECT, "library": "shop", "path": path, "sha256": sha256_text(text), "text": text}
        for path, text in texts.items()
    ]


def functions(texts: Mapping[str, str] = FILES) -> list[Any]:
    """The functions of the files, all of whose lines are executed."""
    return [row for path, text in texts.items() for row in functions_of(path, text)]


def functions_of(path: str, text: str) -> list[Any]:
    rows = []
    for line, node in SourceFile(text).functions().items():
        name = (node.child_by_field_name("name").text or b"").decode()  # type: ignore[union-attr]
        tests = REACHED.get(name, {})
        last = last_line(node)
        parent = next((each for each in _parents(node) if each.type == "class_definition"), None)
        owner = (parent.child_by_field_name("name").text or b"").decode() if parent else None  # type: ignore[union-attr]
        module = path.removesuffix(".py").replace("/", ".")
        rows.append(
            {
                "id": content_id(path, name, line),
                "project_id": PROJECT,
                "library": "shop",
                "version": "1.0",
                "path": path,
                "namespace": ".".join(part for part in (module, owner, name) if part),
                "type": FunctionType.METHOD if owner else FunctionType.FUNCTION,
                "class_name": owner,
                "name": name,
                "signature_first_line": line,
                "signature_last_line": line,
                "body_first_line": line + 1,
                "body_last_line": last,
                "indent": 4,
                "docstring": None,
                "intra_class": [],
                "intra_file": [],
                "cross_file": CALLED.get(name, []),
                "tests": len(tests),
                "executed_lines": list(range(line, last + 1)),
            }
        )
    return rows


def _parents(node: Node) -> Iterator[Node]:
    while parent := node.parent:
        yield (node := parent)


def line_coverage() -> list[LineCoverageRow]:
    ids = {row["name"]: row["id"] for row in functions()}
    return [
        {
            "function_id": ids[name],
            "library": "shop",
            "test": f"test_shop.py::{test}",
            "lines": list(range(first, last + 1)),
        }
        for name, tests in REACHED.items()
        for test, (first, last) in tests.items()
    ]


def ran(variant: Variant, outcomes: Mapping[str, TestOutcome], outcome: Outcome) -> TestRun:
    """What a run of all tests of a variant came to."""
    told = {test: outcomes.get(test, TestOutcome.NOT_RUN) for test in variant.tests}
    return TestRun(variant.id, outcome, None, told, len(told), None, 0.1)


def all_notice(project: ProjectRow, variants: Sequence[Variant]) -> list[TestRun]:
    """A run in which every test passes, and fails on changed files."""
    return [
        ran(
            variant,
            dict.fromkeys(variant.tests, TestOutcome.FAILED if variant.replacements else TestOutcome.PASSED),
            Outcome.PASSED,
        )
        for variant in variants
    ]


def scenes() -> list[SceneRow]:
    """Scenes of the project by the rules that ship, as if its tests noticed everything."""
    rules = load(RULES / "scenes.yaml", SceneRules)
    return list(
        scenes_stage(
            {
                "projects": [project()],
                "project_files": files(),
                "traced_functions": functions(),
                "line_coverage": line_coverage(),
            },
            rules,
            MUTATION,
            all_notice,
            lambda *_: (),
        ).tables["scenes"]
    )


class LocalRun:
    """Runs the tests in a folder with this interpreter's pytest, and notes what was run; of mutants each test fails."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variants: list[Variant] = []

    def __call__(self, project: ProjectRow, variants: Sequence[Variant]) -> list[TestRun]:
        if any(" mutant " in variant.id for variant in variants):
            return all_notice(project, variants)
        self.variants += variants
        return [ran(variant, self._run(variant), Outcome.PASSED) for variant in variants]

    def _run(self, variant: Variant) -> dict[str, TestOutcome]:
        for path, text in (
            FILES | dict(variant.replacements) | {"test_shop.py": TESTS, "shop/__init__.py": ""}
        ).items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        command = [sys.executable, "-B", "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", *variant.tests]
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        run = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        found = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
        return {test: _OUTCOMES[outcome] for outcome, test in found}
