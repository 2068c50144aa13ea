"""What names lead to, and what of it a function used as it ran."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.repository_tasks.bindings import Bindings, read_module
from pipeline.families.repository_tasks.dependencies import dependencies
from pipeline.families.repository_tasks.functions import Function, functions_of

MODULES = {
    "pkg": "from .tools import help_me as aid\nfrom pkg.base import *\nimport os\n",
    "pkg.base": "class Base:\n    def hook(self):\n        return 1\n_HIDDEN = 1\nLIMIT = 2\n",
    "pkg.tools": "if True:\n    def help_me(x):\n        return x\nSIZE: int = 1\n",
    "pkg.sub": "",
    "pkg.sub.deep": "PLACE, OTHER = 1, 2\n",
}
PACKAGES = {"pkg", "pkg.sub"}
LEADS = {
    "imported name": ("from pkg.tools import help_me\n", "help_me", "pkg.tools.help_me"),
    "imported as another name": ("from pkg.tools import help_me as h\n", "h", "pkg.tools.help_me"),
    "through the package": ("from pkg import aid\n", "aid", "pkg.tools.help_me"),
    "through a star": ("from pkg import LIMIT\n", "LIMIT", "pkg.base.LIMIT"),
    "star imports bring no hidden names": ("from pkg import _HIDDEN\n", "_HIDDEN", None),
    "module, then its name": ("import pkg.sub.deep\n", "pkg.sub.deep.PLACE", "pkg.sub.deep.PLACE"),
    "module by another name": ("import pkg.tools as t\n", "t.SIZE", "pkg.tools.SIZE"),
    "module from its package": ("from pkg.sub import deep\n", "deep.OTHER", "pkg.sub.deep.OTHER"),
    "relative": ("from .tools import SIZE\n", "SIZE", "pkg.tools.SIZE"),
    "own": ("def own(): pass\n", "own", "pkg.mine.own"),
    "a module by itself": ("import pkg.tools as t\n", "t", None),
    "another library's": ("import os\n", "os.path", None),
    "nothing binds it": ("", "print", None),
}


def bindings(text: str) -> Bindings:
    read = {name: read_module(name, name in PACKAGES, ast.parse(source)) for name, source in MODULES.items()}
    return Bindings({**read, "pkg.mine": read_module("pkg.mine", False, ast.parse(text))})


@pytest.mark.parametrize(("text", "chain", "leads"), LEADS.values(), ids=LEADS)
def test_names_lead_to_definitions(text: str, chain: str, leads: str | None) -> None:
    assert bindings(text).resolve("pkg.mine", chain) == leads


def test_imports_in_a_circle_lead_nowhere() -> None:
    circle = {
        "a": read_module("a", False, ast.parse("from b import x\n")),
        "b": read_module("b", False, ast.parse("from a import x\n")),
    }
    assert Bindings(circle).resolve("a", "x") is None


TEXT = """\
from pkg.base import Base, LIMIT
from pkg.tools import help_me as aid, SIZE
import pkg.sub.deep as deep

LOCAL = 3
def other(x=None): return x

class Mine(Base):
    def run(self, call, SIZE):
        if call is None:
            return other(LIMIT)
        value = aid(SIZE) + self.own()
        from pkg.sub.deep import OTHER
        return [deep.PLACE for _ in range(value)], OTHER, call(), Mine
    def own(self):
        return self.hook() + LOCAL
"""


def function(name: str) -> Function:
    [found] = [one for one in functions_of(TEXT, "pkg.mine") if one.namespace.endswith(name)]
    assert isinstance(found, Function)
    return found


HOOK = next(one for one in functions_of(MODULES["pkg.base"], "pkg.base") if isinstance(one, Function))


def used(name: str, executed: set[int], called: list[Function]) -> tuple[tuple[str, ...], ...]:
    found = dependencies(function(name), TEXT.split("\n"), executed, called, "pkg.mine", bindings(TEXT))
    return found.intra_class, found.intra_file, found.cross_file


def test_only_what_was_executed_counts() -> None:
    assert used("run", {10, 11}, []) == ((), ("pkg.mine.other",), ("pkg.base.LIMIT",))


def test_calls_names_and_imports_within_count_and_parameters_do_not() -> None:
    found = used("run", {10, 12, 13, 14}, [function("own"), HOOK])
    assert found == (
        ("pkg.mine.Mine.own",),
        ("pkg.mine.Mine",),
        ("pkg.sub.deep.OTHER", "pkg.sub.deep.PLACE", "pkg.tools.help_me"),
    )


def test_a_call_that_no_executed_line_names_is_not_its_own() -> None:
    assert used("own", {16}, [HOOK, function("run")]) == ((), ("pkg.mine.LOCAL",), ("pkg.base.Base.hook",))
