from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.text import source_of
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.corpus.usages.rows import surfaces

USAGE = load(RULES / "usage.yaml", UsageRules)
FILES = load(RULES / "python_files.yaml", PythonFileRules)
HEAD = '''
"""Library."""
'''
DOC = '''
def f(x):
    """Does.

    >>> f(1)
    2
    """
'''


def rules(**changes: object) -> SnippetRules:
    return load(RULES / "snippets.yaml", SnippetRules).model_copy(update=changes)


def run(files_of: Mapping[str, str | Mapping[str, str]], **changes: object) -> Output:
    history = {v: {"lib/__init__.py": f} if isinstance(f, str) else f for v, f in files_of.items()}
    releases, surface = surfaces(history)
    tables = surface.tables
    output = snippets_stage(
        {"releases": releases, "documents": tables["documents"], "symbols": tables["symbols"], "code_samples": []},
        rules(**changes),
        FILES,
        {"MIT"},
        USAGE,
    )
    for row in output.tables["snippets"]:
        table("snippets").check(row)
    return output


def spans(output: Output) -> list[tuple[str | None, str, str]]:
    return [(row["path"], row["version"], row["last_version"]) for row in output.tables["snippets"]]


def only(output: Output) -> Any:
    (row,) = output.tables["snippets"]
    return row


def test_a_snippet_has_its_place_and_time() -> None:
    row = only(run({"1.0": DOC}))
    assert (row["path"], row["file"], row["line"]) == ("lib.f", "lib/__init__.py", 5)
    assert (row["purl"], row["licence"], row["attribution"]) == ("pkg:pypi/lib@1.0", "MIT", "author of 1.0")
    assert source_of(row) == "from lib import f\nf(1)\n"
    assert row["checks"] == [{"statement": "f(1)\n", "expected": "2\n", "options": []}]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ({"1": DOC, "2": DOC}, [("lib.f", "1", "2")]),
        ({"1": DOC, "2": DOC.replace("Does.", "Does it."), "3": DOC}, [("lib.f", "1", "3")]),
        ({"1": DOC, "2": DOC.replace("f(1)", "f(2)"), "3": DOC}, [("lib.f", "1", "1"), ("lib.f", "2", "2"), ("lib.f", "3", "3")]),
        ({"1": DOC, "2": DOC.replace("  2\n", "  3\n")}, [("lib.f", "1", "1"), ("lib.f", "2", "2")]),
        ({"1": DOC, "2": HEAD, "3": DOC}, [("lib.f", "1", "1"), ("lib.f", "3", "3")]),
        ({"1": HEAD, "2": DOC}, [("lib.f", "2", "2")]),
    ],
)  # fmt: skip
def test_a_snippet_spans_the_releases_that_have_the_same_code(
    history: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    assert sorted(spans(run(history))) == expected


REFUSED = {
    "broken_example": (DOC.replace("f(1)", "print f(1)"), "lib/__init__.py:5: line 1: Missing parentheses"),
    "too_short": (DOC.replace("f(1)", "import lib"), "lib/__init__.py:5: 0 statements beside imports"),
    "too_long": (DOC.replace("f(1)", "f('" + "x" * 5000 + "')"), "lib/__init__.py:5: 1 lines, 5006 characters"),
    "no_use": (DOC.replace("f(1)", "g(1)"), "lib/__init__.py:5: 1 lines, none of which uses the library"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_example_is_a_reject_with_its_place(reason: str) -> None:
    source, detail = REFUSED[reason]
    output = run({"1": source, "2": source})
    (reject,) = output.rejects
    assert (reject.key, reject.reason, output.units_in) == ("lib.f 1 #1", reason, 1)
    assert reject.detail.startswith(detail)


def test_an_inherited_example_counts_once_where_it_is_defined() -> None:
    method = "\n    def m(self):\n        '''Does.\n\n        >>> Base().m()\n        '''\n"
    output = run(
        {"1": f"class A:\n    pass\nclass Base:{method}\nclass Own(Base):\n    pass\nclass Ab(Base):\n    pass\n"}
    )
    assert spans(output) == [("lib.Base.m", "1", "1")]
    assert sorted((r.key, r.reason) for r in output.rejects) == [
        ("lib.Ab.m 1 #1", "duplicate"),
        ("lib.Own.m 1 #1", "duplicate"),
    ]


def test_the_same_code_in_releases_apart_is_no_duplicate() -> None:
    other = DOC.replace("def f", "def g")
    output = run({"1": f"def f(x): ...\n{other}", "2": f"{DOC}\ndef g(x): ..."})
    assert sorted(spans(output)) == [("lib.f", "2", "2"), ("lib.g", "1", "1")]


def test_the_same_code_twice_in_a_docstring_is_a_duplicate() -> None:
    twice = 'def f(x):\n    """Does::\n\n        f(1)\n\n    Again::\n\n        f(1)\n    """\n'
    output = run({"1": twice, "2": twice})
    assert spans(output) == [("lib.f", "1", "2")]
    assert [(reject.key, reject.reason) for reject in output.rejects] == [("lib.f 1 #2", "duplicate")]


def preamble(example: str, files: Mapping[str, str] | None = None, **changes: object) -> str:
    source = DOC.replace("f(1)", example)
    output = run({"1": {"lib/__init__.py": source, **(files or {})}}, **changes)
    return str(only(output)["preamble"])


SUB = {
    "lib/sub/__init__.py": "",
    "lib/sub/deep.py": "class Unique: ...\nclass Twice: ...\n",
    "lib/two.py": "class Twice: ...",
}
PREAMBLES = [
    ("f(1)", "from lib import f\n"),
    ("lib.f(1)", "import lib\n"),
    ("lib.f(np.array(1))", "import numpy as np\nimport lib\n"),
    ("from lib import f; f(1)", ""),
    ("f(Unique())", "from lib import f\nfrom lib.sub.deep import Unique\n"),
    ("f(Twice())", "from lib import f\n"),
    ("f(two.Twice())", "from lib import f, two\n"),
    ("f(nowhere)", "from lib import f\n"),
    ("f = lib.f; f(1)", "import lib\n"),
    ("f(thing)", "thing = 1\nfrom lib import f\n"),
]


@pytest.mark.parametrize(("example", "expected"), PREAMBLES)
def test_the_preamble_has_the_imports_of_a_reader(example: str, expected: str) -> None:
    assert preamble(example, SUB, libraries={"lib": {"thing": "thing = 1"}}) == expected


def test_a_private_module_is_never_imported_from() -> None:
    files = {
        "lib/__init__.py": "from lib._impl import Thing as Thing, shown\n__all__ = ['Thing', 'shown']\n",
        "lib/_impl.py": "class Thing:\n    def m(self):\n        '''Does.\n\n        >>> Thing().m(shown)\n        '''\ndef shown(): ...\n",
    }  # fmt: skip
    assert only(run({"1": files}))["preamble"] == "from lib import Thing, shown\n"


def test_a_preamble_follows_a_name_that_moves() -> None:
    first = {"lib/__init__.py": "", "lib/a.py": DOC}
    then = {"lib/__init__.py": "from lib.a import f\n__all__ = ['f']\n", "lib/a.py": DOC}
    rows = run({"1": first, "2": then}).tables["snippets"]
    assert sorted((row["version"], row["preamble"]) for row in rows) == [
        ("1", "from lib.a import f\n"),
        ("2", "from lib import f\n"),
    ]


def test_a_snippet_ends_where_its_preamble_changes() -> None:
    used = DOC.replace("f(1)", "f(helper)")
    files = {"lib/a.py": "def helper(): ...\n"}
    then = {"lib/__init__.py": f"from lib.a import helper\n__all__ = ['f', 'helper']\n{used}", **files}
    rows = run({"1": {"lib/__init__.py": used, **files}, "2": then}).tables["snippets"]
    assert sorted((row["path"], row["version"], row["last_version"], row["preamble"]) for row in rows) == [
        ("lib.f", "1", "1", "from lib import f\nfrom lib.a import helper\n"),
        ("lib.f", "2", "2", "from lib import f, helper\n"),
    ]


def test_a_method_finds_the_names_of_its_module_first() -> None:
    there = (
        "class Twice: ...\nclass Own:\n    def m(self):\n        '''Does.\n\n        >>> Own().m(Twice)\n        '''\n"
    )
    output = run({"1": {"lib/__init__.py": "class Twice: ...\n", "lib/a.py": there}})
    assert only(output)["preamble"] == "from lib.a import Own, Twice\n"


def test_a_future_import_stays_the_first_statement() -> None:
    code = "from __future__ import annotations; import lib; lib.f(np)"
    assert preamble(code) == ""


def test_the_stage_gives_the_same_rows_again() -> None:
    history = {"1": DOC, "2": DOC.replace("f(1)", "f(2)")}
    assert run(history) == run(history)
