"""A small project with tests of its own, in an environment that holds pytest and nothing else."""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline.environments import Environment, Sandbox, find_sandbox
from pipeline.repository import Project, RepositoryRules
from pipeline.repository.tree import Tree
from pipeline.rules import RULES, load
from tests.validation.conftest import empty_environment

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
    return load(RULES / "repository.yaml", RepositoryRules)


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


@pytest.fixture
def shop(rules: RepositoryRules, environment: Environment, sandbox: Sandbox) -> Project:
    return Project(tree(rules), ("shop",), environment, sandbox, rules)
