"""A surface as a whole: files that do not parse, keeping it as bytes, determinism, rules."""

import pytest

from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.core.rules.load import RULES, RuleError, load
from pipeline.lake.schema import table
from tests.api.surface.trees import rows, surface
from tests.errors import raises

FILES = {
    "pkg/__init__.py": "from .good import f\nfrom .bad import g\n__all__ = ['f', 'g']\n",
    "pkg/good.py": "def f(a: int = 1) -> int:\n    'Doc.'\n",
    "pkg/bad.py": "x = 1\ndef g(:\n",
}


def test_a_file_that_does_not_parse_is_a_problem_with_its_line_and_its_module_stays():
    read = surface(FILES)
    assert [(p.key, str(p.reason)) for p in read.problems] == [("pkg/bad.py", "unparsed_source")]
    assert read.problems[0].detail.startswith("line 2: invalid syntax")
    assert read.modules == 3
    labels = {path: row["labels"] for path, row in read.symbols.items()}
    assert (labels["pkg.bad"], labels["pkg.g"], labels["pkg.good"]) == (["unparsed"], ["opaque"], [])


@pytest.mark.parametrize(
    "source", ["TABLE = {0: lambda x: %s}", "class TABLE:\n    A = %s", "def TABLE(x):\n    y = %s"]
)
def test_a_sum_too_deep_to_write_out_costs_nothing_but_its_text(source):
    found = rows({"pkg.py": source % " + ".join(["x"] * 900) + "\nLIMIT = 3\n"})
    assert {"pkg.TABLE", "pkg.LIMIT"} <= set(found)
    assert found["pkg.LIMIT"]["value"] == "3"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = '\xff'\n", "encoding"),
        (b"# -*- coding: no-such-code -*-\n", "unknown encoding"),
        (b"x = 1\x00\n", "null bytes"),
    ],
)
def test_a_file_that_is_no_text_is_a_problem(content, words):
    read = surface({"pkg.py": content})
    assert [words in problem.detail for problem in read.problems] == [True]


def test_a_declared_encoding_is_kept_to():
    content = "# -*- coding: latin-1 -*-\nNAME = 'é'\n".encode("latin-1")
    read = surface({"pkg.py": content})
    assert read.symbols["pkg.NAME"]["value"] == "'é'"


def test_equal_sources_in_any_order_give_equal_rows_in_equal_order():
    one, other = surface(FILES), surface(dict(reversed(FILES.items())))
    assert one == other
    assert [list(one.symbols), list(one.documents)] == [list(other.symbols), list(other.documents)]


def test_rows_fit_the_declared_tables():
    read = surface(FILES)
    coded = {"library": "pkg", "first_version": "1", "last_version": "1"}
    for name in ("symbols", "importable_names", "documents"):
        for row in getattr(read, name).values():
            table(name).check(row | coded)
    assert (len(read.symbols), len(read.documents)) == (6, 1)


def test_modules_that_import_each_other_come_to_an_end():
    read = surface(
        {
            "pkg/__init__.py": "from .a import *\nfrom .b import x\n",
            "pkg/a.py": "from .b import *\nfrom .b import x\nclass A(B): ...\n",
            "pkg/b.py": "from .a import *\nfrom .a import x\nclass B(A): ...\n",
        }
    )
    assert {"pkg.A", "pkg.B"} <= read.symbols.keys()


def test_a_rule_whose_example_does_not_hold_is_refused(tmp_path):
    text = (RULES / "surface.yaml").read_text()
    wrong = text.replace('gives: "2.4"', 'gives: "9.9"')
    assert wrong != text
    (tmp_path / "surface.yaml").write_text(wrong)
    with raises(RuleError, "surface.yaml", "2.4", "9.9", code="rule_example_wrong"):
        load(tmp_path / "surface.yaml", SurfaceRules)
