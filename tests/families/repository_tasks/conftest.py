"""A small project with tests of its own, an environment that holds pytest and nothing else, and the context of that project."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.core.vocabularies.running import EnvironmentOutcome, Rung
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.core.vocabularies.surface import ArtifactKind
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.stage import projects_stage
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.http import Unreachable
from pipeline.index.index import IndexFile
from pipeline.index.licences import LicenceRules
from pipeline.lake.rows import EnvironmentRow, ReleaseRow
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.quality import QualityRules
from tests.execution.validation.conftest import empty_environment

FILES = {
    "src/shop/__init__.py": "from shop.prices import total as total\n",
    "src/shop/money.py": """\
RATE = 0.2
ROUND = 2


def rounded(value):
    return round(value, ROUND)
""",
    "src/shop/prices.py": '''\
"""Prices."""
import functools

from . import money
from .money import rounded as to_cents

SCALE = 1


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@logged
def with_tax(price, rate=money.RATE):
    """Return a price together with the tax on it.

    :param price: what it costs without
    :return: what it costs
    """
    # Nobody gets money back.
    if rate < 0:
        raise ValueError("no rate")
    return to_cents(price * (1 + rate) * SCALE)


def total(prices, each=with_tax):
    """Return what all prices come to, tax included."""
    result = 0
    for price in prices:
        result += each(price)
    return money.rounded(result)


class Basket:
    def __init__(self):
        self.prices = []

    def add(self, price):
        """Put one more thing into the basket, by its price."""
        if price is None:
            self.unknown()
        self.prices.append(price)
        return self

    def unknown(self):
        raise ValueError("no price")

    @property
    def sum(self):
        return total(self.prices)

    def empty(self): return Basket()


def never():
    return total([])
''',
    "tests/conftest.py": "import pytest\nfrom shop.prices import Basket\n\n@pytest.fixture\ndef basket(): return Basket()\n",
    "tests/test_prices.py": """\
import os, threading, time
import pytest
from shop.prices import total, with_tax, Basket

def test_tax(): assert with_tax(10) == 12.0
def test_no_tax(): assert with_tax(10, 0) == 10
def test_wrong_rate():
    with pytest.raises(ValueError): with_tax(1, -1)
def test_total(): assert total([10, 20]) == 36
def test_basket(basket): assert basket.add(10).sum == 12
def test_type(): assert isinstance(total([1]), float)
def test_seed(): assert os.environ["PYTHONHASHSEED"] == "0"
def test_thread():
    thread = threading.Thread(target=lambda: Basket().add(1)); thread.start(); thread.join()
def test_fails(): assert total([]) == 1
@pytest.mark.skip
def test_skipped(): pass
""",
    "examples/test_elsewhere.py": "def test_no(): assert 0\n",
    "setup.cfg": "[tool:pytest]\naddopts = --cov=shop -n 4\ntestpaths = tests\n",
}

PACKED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="session")
def rules() -> RepositoryRules:
    # The functions of this small project have few tests and mutants.
    small = {"min_tests": 1, "min_coverage": 0.0, "min_mutants": 1}
    return load(RULES / "repository.yaml", RepositoryRules).model_copy(update=small)


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return find_sandbox()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = empty_environment(tmp_path_factory.mktemp("project"))
    for name in PACKED:
        shutil.copytree(Path(sysconfig.get_path("purelib"), name), made.site_packages / name)
    shutil.copy(Path(sysconfig.get_path("purelib"), "py.py"), made.site_packages)
    (made.site_packages / "shop").mkdir()
    (made.site_packages / "shop" / "_version.py").write_text("version = '1.0'\n")
    (made.site_packages / "shop" / "money.py").write_text("raise SystemExit('the installed file was taken')\n")
    return made


def tree(rules: RepositoryRules, files: Mapping[str, str] = FILES) -> Tree:
    return Tree("shop-1.0", {path: text.encode() for path, text in files.items()}, rules)


def run_tests(
    project: Project, tests: Sequence[str], replacements: Mapping[str, str] | None = None
) -> dict[str, TestOutcome]:
    """Run tests of a project with some files replaced, and return how each came out."""
    return dict(run_variants(project, [Variant("", tests, replacements or {})])[0].outcomes)


@pytest.fixture
def shop(rules: RepositoryRules, environment: Environment, sandbox: Sandbox) -> Project:
    return Project(tree(rules), ("shop",), environment, sandbox, rules)


TIME = datetime(2024, 5, 1, tzinfo=UTC)
METADATA = (
    "Metadata-Version: 2.1\nName: shop\nVersion: 1.0\nLicense: MIT\nAuthor: A. Person\n"
    "Project-URL: Source, https://example.org/shop\nClassifier: Topic :: Office/Business\n"
)
RELEASE: ReleaseRow = {
    "library": "shop",
    "version": "1.0",
    "release_time": TIME,
    "requires_python": None,
    "import_names": ["shop"],
    "licence": "MIT",
    "attribution": "A. Person",
}
DEPENDENT: Any = {
    "library": "shop",
    "source": SnippetSource.DOWNSTREAM,
    "place": "pkg:pypi/mall@2.0",
    "created_time": TIME,
    "licence": "GPL-3.0-only",
    "attribution": "B. Person",
}


@dataclass
class Sources:
    """Sources of projects that are in memory, or fail."""

    trees: Mapping[str, Tree]
    error: Exception | None = None

    def find(self, name: str, version: str) -> IndexFile | None:
        if isinstance(self.error, Unreachable):
            raise self.error
        filename = f"{name}-{version}.tar.gz"
        file = IndexFile(filename, "https://example.org/x", ArtifactKind.SDIST, "0" * 64, 9, None, False, TIME)
        return file if name in self.trees else None

    def tree(self, name: str, version: str, sha256: str, size: int = 0) -> Tree:
        if self.error:
            raise self.error
        return self.trees[name]


@dataclass
class Store:
    """A store that has one environment, for wishes that it does not refuse."""

    environment: Environment
    refuses: Callable[[EnvironmentRequest], bool] = lambda wanted: False
    asked: list[EnvironmentRequest] = field(default_factory=list)

    def build(self, wanted: EnvironmentRequest) -> EnvironmentRow:
        self.asked.append(wanted)
        outcome = EnvironmentOutcome.UNRESOLVABLE if self.refuses(wanted) else EnvironmentOutcome.BUILT
        made = {"python": "3.11", "cutoff": TIME, "rung": Rung.WHEELS, "lock_id": "l" * 32, "lock": "pytest==8.1.1"}
        return {"outcome": outcome, "detail": "nothing fits", "import_names": ["shop"], **made}

    def open(self, row: Any) -> Environment:
        assert row["outcome"] == EnvironmentOutcome.BUILT
        return self.environment


@pytest.fixture(scope="module")
def project_context(rules: RepositoryRules, environment: Environment, sandbox: Sandbox) -> ProjectContext:
    files = FILES | {"PKG-INFO": METADATA}
    sources: Any = Sources({"shop": tree(rules, files)})
    store: Any = Store(environment)
    return ProjectContext(sources, store, sandbox, rules, workers=2)


def with_files(project_context: ProjectContext, changed: Mapping[str, str], **updated: Any) -> ProjectContext:
    rules = project_context.rules.model_copy(update=updated)
    sources: Any = Sources({"shop": tree(rules, {**FILES, "PKG-INFO": METADATA, **changed})})
    return replace(project_context, sources=sources, rules=rules)


LICENCES = load(RULES / "licences.yaml", LicenceRules)
QUALITY = load(RULES / "quality.yaml", QualityRules)


def trace(project_context: ProjectContext, found: list[Any] | None = None) -> Output:
    return projects_stage(
        {"releases": [RELEASE], "code_samples": found or []}, project_context, LICENCES, QUALITY.licences
    )
