"""Statements that are nested too deeply for the parser, or for what walks over a tree, cost themselves alone."""

import sys
from collections.abc import Iterator

import pytest

from pipeline.core.vocabularies.review import RejectReason
from tests.api.history.releases import changes
from tests.api.surface.trees import rows, surface

SUM = " + ".join(["1"] * 6000)


@pytest.fixture(autouse=True)
def _as_python_starts() -> Iterator[None]:
    """Some packages, jedi among them, raise the limit for the whole process when they are imported."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("if x:\n    y = 1\n" + "".join(f"elif x == {n}:\n    y = {n}\n" for n in range(1500)), []),
        (f"y = {SUM}\n", ["y"]),
        (f"y = z = {SUM}\n", ["y", "z"]),
        (f"y, (z, w) = {SUM}\n", ["y"]),
        (f"y: int = {SUM}\n", ["y"]),
        (f"y = x{'.b()' * 1500}\n", ["y"]),
        # the parser's own stack overflows
        (f"y = {'-' * 8000}1\n", ["y"]),
        (f"x.check({SUM})\n", []),
        (f"def deep(a, b={SUM}): ...\n", ["deep"]),
        (f"@register({SUM})\nclass Deep: ...\n", ["Deep"]),
        (f"class K:\n    table = {SUM}\n    def m(self, b): ...\n    @property\n    def p(self, c={SUM}): ...\n", []),
    ],
    ids=lambda value: "names" if isinstance(value, list) else value[:8],
)
def test_the_rest_of_the_module_is_read(statement, names):
    read = surface({"pkg.py": f"x = 1\n{statement}def f(a): 'Doc.'\nLAST = 2\n"})
    assert read.problems == ()
    assert {"pkg.x", "pkg.f", "pkg.LAST"} <= read.symbols.keys()
    assert [parameter["name"] for parameter in read.symbols["pkg.f"]["parameters"]] == ["a"]
    lines = 2 if statement.startswith("class") else 1
    assert [(note.key, note.reason) for note in read.notes] == [("pkg.py", RejectReason.TOO_DEEP)] * lines
    # lines stay where they are
    assert read.documents["pkg.f"]["line"] == statement.count("\n") + 2
    assert [name for name in names if "opaque" not in read.symbols[f"pkg.{name}"]["labels"]] == []


def test_a_class_keeps_the_members_that_can_be_read():
    found = rows({"pkg.py": f"class K:\n    a = 1\n    table = {SUM}\n    def m(self, b): ...\n"})
    assert {path: row["labels"] for path, row in found.items() if path.startswith("pkg.K.")} == {
        "pkg.K.a": ["class-attribute", "instance-attribute"],
        "pkg.K.m": [],
        "pkg.K.table": ["opaque"],
    }


def test_what_cannot_be_read_any_more_has_not_changed_nor_gone():
    before = "def deep(a, b=1): ...\nif True:\n    inside = 1\nclass K:\n    a = 1\n"
    deep = f"def deep(a, b={SUM}): ...\nif [{SUM}]:\n    inside = 1\nclass K:\n    a = {SUM}\n"
    assert changes({"pkg.py": before}, {"pkg.py": deep}) == changes({"pkg.py": deep}, {"pkg.py": before}) == []
