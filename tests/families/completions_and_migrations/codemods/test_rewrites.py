"""Old library, new library, old code: what the codemods write, and that it runs where the old code fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.families.completions_and_migrations.codemods.library import (
    Files,
    example,
    instances,
    module,
    over,
    package,
    rewritten,
    run,
)
from tests.families.completions_and_migrations.rows import CODEMODS

BODY = '    """Fetch a page, slowly and surely."""\n    page = [name, size]\n    page.reverse()\n    return page\n'


@dataclass(frozen=True)
class Case:
    """The library in two releases, a program that sets `x` for the first, and what becomes of it for the second."""

    old: Files
    new: Files
    code: str
    expected: str


FETCH = f"def fetch(name, size=1):\n{BODY}"
LOAD = f"def load(name, size=1):\n{BODY}"
RENAMED = module(FETCH), module(LOAD)
MOVED = (
    package(init="from lib import a, b\n", a=FETCH, b="def other(): return 1\n"),
    package(init="from lib import a, b\n", a="def another(): return 1\n", b=f"def other(): return 1\n{FETCH}"),
)
NESTED = (
    {"lib/__init__.py": "from lib import future, a\n", "lib/future/__init__.py": "from lib.future import a\n"}
    | {"lib/future/a.py": FETCH, "lib/a.py": "def other(): return 1\n"},
    {"lib/__init__.py": "from lib import future, a\n", "lib/future/__init__.py": "from lib.future import a\n"}
    | {"lib/future/a.py": "def another(): return 2\n", "lib/a.py": f"def other(): return 1\n{FETCH}"},
)
METHOD = "class Page:\n" + "".join(
    f"    {line}" for line in FETCH.replace("(name", "(self, name").splitlines(keepends=True)
)
METHODS = module(METHOD), module(METHOD.replace("fetch", "load"))

LEAF = "class Leaf(Page): pass\n"
SUBCLASSES = module(METHOD + LEAF), module(METHOD.replace("fetch", "load") + LEAF)
WARNS = """    if how is not UNSET:
        warnings.warn("The 'how' argument is deprecated. Use 'way' instead.", DeprecationWarning, stacklevel=2)
        if way is UNSET:
            way = how
"""

REPLACED = (
    module(
        "def fetch(name, how=None, way=None):\n"
        '    """Fetch.\n\n    .. versionchanged:: 2.0\n        ``way`` replaces the ``how`` parameter.\n    """\n'
        "    return name, way or how\n"
    ),
    module("def fetch(name, way=None): return name, way\n"),
)

CASES = {
    "a rename, by the module": Case(*RENAMED, "import lib\nx = lib.fetch('a')\n", "import lib\nx = lib.load('a')\n"),
    "a rename, by a short name of the module": Case(
        *RENAMED, "import lib as l\nx = l.fetch('a')\n", "import lib as l\nx = l.load('a')\n"
    ),
    "a rename, imported": Case(
        *RENAMED,
        "from lib import fetch\nx = fetch('a')\ny = [fetch]\n",
        "from lib import load\nx = load('a')\ny = [load]\n",
    ),
    "a rename, imported under another name": Case(
        *RENAMED, "from lib import fetch as get\nx = get('a')\n", "from lib import load as get\nx = get('a')\n"
    ),
    "a rename, among other imports": Case(
        RENAMED[0] | {"lib.py": FETCH + "y = 1\n"},
        RENAMED[1] | {"lib.py": LOAD + "y = 1\n"},
        "from lib import (\n    fetch,\n    y,\n)\nx = fetch(y)\n",
        "from lib import (\n    load,\n    y,\n)\nx = load(y)\n",
    ),
    "layout and comments stay": Case(
        *RENAMED,
        "import lib\n# first\nx = lib.fetch( 'a',  # the name\n    size = 2 )\n",
        "import lib\n# first\nx = lib.load( 'a',  # the name\n    size = 2 )\n",
    ),
    "a method renamed": Case(
        *METHODS, "import lib\np = lib.Page()\nx = p.fetch('a')\n", "import lib\np = lib.Page()\nx = p.load('a')\n"
    ),
    "a rename, as a decorator": Case(
        *RENAMED,
        "from lib import fetch\n@fetch\ndef x(): return 1\nx = len(x)\n",
        "from lib import load\n@load\ndef x(): return 1\nx = len(x)\n",
    ),
    "a method renamed, of a class that inherits it": Case(
        *SUBCLASSES, "import lib\np = lib.Leaf()\nx = p.fetch('a')\n", "import lib\np = lib.Leaf()\nx = p.load('a')\n"
    ),
    "a move, imported": Case(
        *MOVED, "from lib.a import fetch\nx = fetch('a')\n", "from lib.b import fetch\nx = fetch('a')\n"
    ),
    "a move, by the package": Case(
        *MOVED, "import lib.a\nx = lib.a.fetch('a')\n", "from lib import b\nx = b.fetch('a')\n"
    ),
    "a move to a module of the same name": Case(
        *NESTED,
        "from lib.future import a\nx = a.fetch('a')\ny = a.fetch('b')\n",
        "from lib import a\nx = a.fetch('a')\ny = a.fetch('b')\n",
    ),
    "a move from a module that stays needed": Case(
        NESTED[0] | {"lib/future/a.py": f"{FETCH}def another(): return 2\n"},
        NESTED[1],
        "from lib.future import a\nx = a.fetch(a.another())\n",
        "from lib.future import a\nfrom lib.a import fetch\nx = fetch(a.another())\n",
    ),
    "a move to a module that is imported": Case(
        *MOVED,
        "from lib import a, b\nx = a.fetch(b.other())\n",
        "from lib import b\nx = b.fetch(b.other())\n",
    ),
    "a move to a module whose name is taken": Case(
        *MOVED, "from lib import a\nb = 1\nx = a.fetch(b)\n", "from lib.b import fetch\nb = 1\nx = fetch(b)\n"
    ),
    "a parameter renamed": Case(
        module("def fetch(name, how): return name, how\n"),
        module("def fetch(name, way): return name, way\n"),
        "import lib\nx = lib.fetch('a', how=1)\n",
        "import lib\nx = lib.fetch('a', way=1)\n",
    ),
    "a parameter renamed, by name only": Case(
        module("def fetch(name, in_rows=False): return [name, in_rows]\n"),
        module("def fetch(name, *, in_columns=False): return [name, in_columns]\n"),
        "import lib\nx = lib.fetch('a', in_rows=True)\n",
        "import lib\nx = lib.fetch('a', in_columns=True)\n",
    ),
    "a parameter gone for one that the library names": Case(
        module(
            f"import warnings\nUNSET = set()\ndef fetch(name, how=UNSET, way=UNSET):\n{WARNS}    return name, way or how\n"
        ),
        module("UNSET = set()\ndef fetch(name, way=UNSET): return name, way\n"),
        "import lib\nx = lib.fetch('a', how=1)\n",
        "import lib\nx = lib.fetch('a', way=1)\n",
    ),
    "a parameter gone for one that its documentation names, and a text": Case(
        *REPLACED, "import lib\nx = lib.fetch('a', how='fast')\n", "import lib\nx = lib.fetch('a', way='fast')\n"
    ),
    "a parameter gone that had its default": Case(
        module("def fetch(name, how=None, size=1): return name, size\n"),
        module("def fetch(name, size=1): return name, size\n"),
        "import lib\nx = lib.fetch('a', None, 3)\n",
        "import lib\nx = lib.fetch('a', 3)\n",
    ),
    "a parameter by name only": Case(
        module("def fetch(name, how=None): return name, how\n"),
        module("def fetch(name, *, how=None): return name, how\n"),
        "import lib\nx = lib.fetch(\n    'a',\n    2,\n)\n",
        "import lib\nx = lib.fetch(\n    'a',\n    how=2,\n)\n",
    ),
    "a parameter by position only": Case(
        module("def fetch(name, how): return name, how\n"),
        module("def fetch(name, how, /): return name, how\n"),
        "import lib\nx = lib.fetch('a', how=2)\n",
        "import lib\nx = lib.fetch('a', 2)\n",
    ),
    "a parameter required": Case(
        module("def fetch(name, how='slow'): return name, how\n"),
        module("def fetch(name, how): return name, how\n"),
        "import lib\nx = lib.fetch('a')\n",
        "import lib\nx = lib.fetch('a', how='slow')\n",
    ),
    "a parameter in between": Case(
        module("def fetch(name, size=1): return name, size\n"),
        module("def fetch(name, how: str = 'slow', size=1): return (name, size) if how == 'slow' else 1 / 0\n"),
        "import lib\nx = lib.fetch('a', 2)\n",
        "import lib\nx = lib.fetch('a', size=2)\n",
    ),
    "an argument that is a generator": Case(
        module("def fetch(names, size=1): return list(names), size\n"),
        module("def fetch(names, size): return list(names), size\n"),
        "import lib\nx = lib.fetch(n for n in 'ab')\n",
        "import lib\nx = lib.fetch((n for n in 'ab'), size=1)\n",
    ),
    "two things at once, one in the other": Case(
        module(f"{FETCH}def show(page, big=False): return page, big\n"),
        module(f"{LOAD}def show(page, *, big=False): return page, big\n"),
        "import lib\nx = lib.show(lib.fetch('a'), True)\n",
        "import lib\nx = lib.show(lib.load('a'), big=True)\n",
    ),
    "another default": Case(
        module("def fetch(name, how='slow'): return name, how\n"),
        module("def fetch(name, how='fast'): return name, how\n"),
        "import lib\nx = lib.fetch('a')\nassert x[1] == 'slow'\n",
        "import lib\nx = lib.fetch('a', how='slow')\nassert x[1] == 'slow'\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written(name: str) -> None:
    case = CASES[name]
    (row,) = rewritten(case.old, case.new, example(case.code, "2"))
    assert row["preamble"] + row["code"] == case.expected
    assert row["edits"], "what was done is told"


@pytest.mark.parametrize("name", CASES)
def test_the_strong_form_holds(name: str) -> None:
    """Old code passes in the old release and fails in the new one; new code gives the same in the new one."""
    case = CASES[name]
    assert run(case.old, case.code)["x"] == run(case.new, case.expected)["x"]
    with pytest.raises((ImportError, AttributeError, TypeError, AssertionError, ZeroDivisionError)):
        run(case.new, case.code)


@pytest.mark.parametrize("name", ["a rename, imported", "a move, imported", "a parameter renamed", "a method renamed"])
def test_what_only_the_new_release_documents_is_written_backwards(name: str) -> None:
    case = CASES[name]
    made = instances(case.old, case.new, example(case.expected, "3"))
    (row,) = made.tables["rewrites"]
    assert (row["version"], row["snippet_version"]) == ("2", "3")
    assert row["preamble"] + row["code"] == case.code
    directions = {m["direction"]: m for m in made.tables["migrations"]}
    up, down = directions["old_to_new"], directions["new_to_old"]
    assert (up["source_code"], up["target_code"]) == (case.code, case.expected)
    assert (up["source_rewrite_id"], up["target_rewrite_id"]) == (row["id"], None)
    assert (down["source_rewrite_id"], down["target_rewrite_id"]) == (None, row["id"])


REFUSED = {
    "a parameter gone for one that may mean the opposite": (
        *REPLACED,
        "import lib\nx = lib.fetch('a', how=False)\n",
        "how is gone, and False is not what is taken without it",
    ),
    "a parameter gone for its opposite": (
        module(f"import warnings\ndef fetch(name, how=False, way=False):\n{WARNS}    return name, way or not how\n"),
        module("def fetch(name, way=False): return name, way\n"),
        "import lib\nlib.fetch('a', how=True)\n",
        "how is gone, and True is not what is taken without it",
    ),
    "the value of what is gone": (
        module("def fetch(name, how=None): ...\n"),
        module("def fetch(name): ...\n"),
        "import lib\nlib.fetch('a', how='fast')\n",
        "how is gone, and 'fast' is not what is taken without it",
    ),
    "what is unpacked": (
        module("def fetch(name, how=None): ...\n"),
        module("def fetch(name): ...\n"),
        "import lib\na = ('a',)\nlib.fetch(*a)\n",
        "unpacks a",
    ),
    "nothing tells a required value": (
        module("def fetch(name): ...\n"),
        module("def fetch(name, how): ...\n"),
        "import lib\nlib.fetch('a')\n",
        "how is required, and nothing tells",
    ),
    "a name in a string of names": (
        *RENAMED,
        "from lib import fetch\ndef f():\n    global fetch\n    fetch('a')\n",
        "cannot be followed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_written(name: str) -> None:
    old, new, code, detail = REFUSED[name]
    made = instances(old, new, example(code, "2"))
    assert not made.tables["rewrites"]
    (reject,) = [reject for reject in made.rejects if reject.reason == "no_codemod"]
    assert detail in reject.detail


def test_code_that_the_change_leaves_alone_is_no_candidate() -> None:
    case = CASES["a parameter renamed"]
    made = instances(case.old, case.new, example("import lib\nlib.fetch('a', 1)\n", "2", "3"))
    assert not made.tables["migrations"]
    assert "no_codemod" not in made.reasons


def test_statements_are_rewritten_with_what_they_state() -> None:
    case = CASES["a rename, by the module"]
    code = "import lib\nx = lib.fetch(\n    'a')\nx; lib.fetch('b')\n"
    (row,) = rewritten(case.old, case.new, example(code, "2", outputs=("[1, 'a']\n[1, 'b']\n",)))
    assert [(check["statement"], check["expected"]) for check in row["checks"]] == [
        ("x = lib.load(\n    'a')\n", None),
        ("x; lib.load('b')\n", "[1, 'a']\n[1, 'b']\n"),
    ]
    assert row["code"] == "".join(check["statement"] for check in row["checks"])


@pytest.mark.parametrize(
    ("importing", "statements"),
    [
        ("from lib.a import fetch\n", ["from lib.b import fetch\n"]),
        ("from lib.a import fetch, another\n", ["from lib.a import another\n", "from lib.b import fetch\n"]),
        ("from lib.b import other; import lib.a\n", ["from lib.b import other; import lib.a\n"]),
    ],
)
def test_an_import_among_the_statements_is_one_statement_each(importing: str, statements: list[str]) -> None:
    """Doctest takes one statement at a time, and none that is empty."""
    old, new = ({**files, "lib/a.py": files["lib/a.py"] + "def another(): return 3\n"} for files in MOVED)
    use = "lib.a.fetch" if "import lib.a" in importing else "fetch"
    code = f"import lib.a\ny = 1\n{importing}x = {use}('a')\nx\n"
    (row,) = rewritten(old, new, example(code, "2", outputs=("[1, 'a']\n",)))
    assert [check["statement"] for check in row["checks"]][1:-2] == statements
    assert [check["expected"] for check in row["checks"]] == [None] * (len(row["checks"]) - 1) + ["[1, 'a']\n"]
    assert all(check["statement"].strip() for check in row["checks"])


def test_a_statement_that_only_the_old_code_needed_goes() -> None:
    code = "import lib\ny = 1\nfrom lib import a\nx = a.fetch(y)\nx\n"
    (row,) = rewritten(*MOVED, example(code, "2", outputs=("[1, 1]\n",)))
    assert [check["statement"] for check in row["checks"]] == ["y = 1\n", "x = b.fetch(y)\n", "x\n"]


def deprecated(body: str, words: str) -> str:
    return f'import warnings\ndef fetch(name):\n    warnings.warn("{words}", DeprecationWarning)\n{body}'


ONE, TWO = "    return [name]\n", "def load(name):\n    return [name]\n"


def test_a_stated_replacement_under_another_name_needs_an_output() -> None:
    old, new = module(deprecated(ONE, "use load instead") + TWO), module(TWO)
    code = "import lib\nlib.fetch('a')\n"
    assert not rewritten(old, new, example(code, "2"))
    (row,) = rewritten(old, new, example(code, "2", outputs=("['a']\n",)))
    assert row["code"] == "lib.load('a')\n"
    (up,) = instances(old, new, example(code, "2", outputs=("['a']\n",))).tables["migrations"][:1]
    assert up["basis"] == "replacement"


DEPRECATED = """    def append(self, other, size=1):
        '''Put two pages together.

        .. deprecated:: 2
            Use :func:`{}` instead.
        '''
        return (self.n, other.n)
"""
PAGE = "class Page:\n    def __init__(self, n=1): self.n = n\n"
FUNCTIONS = """
def join(pages: Iterable[Page], size=1): return tuple(page.n for page in pages)
def pair(page: Page, other: Page, size=1): return page.n, other.n
"""


@pytest.mark.parametrize(
    ("function", "call", "expected"),
    [
        ("join", "p.append(lib.Page(2))", "lib.join([p, lib.Page(2)])"),
        ("join", "p.append([lib.Page(2), p])", "lib.join([p, lib.Page(2), p])"),
        ("join", "p.append(lib.Page(2), size=3)", "lib.join([p, lib.Page(2)], size=3)"),
        ("pair", "p.append(lib.Page(2))", "lib.pair(p, lib.Page(2))"),
        ("pair", "p.append(other=lib.Page(2))", "lib.pair(p, other=lib.Page(2))"),
        ("join", "p.append(other=lib.Page(2))", None),
        ("pair", "p.append(*[lib.Page(2)])", None),
    ],
)
def test_a_function_that_replaces_a_method_takes_the_object(function: str, call: str, expected: str | None) -> None:
    new = module(f"from typing import Iterable\n{PAGE}{FUNCTIONS}")
    old = module(f"from typing import Iterable\n{PAGE}{DEPRECATED.format(function)}{FUNCTIONS}")
    code = f"import lib\np = lib.Page()\n{call}\n"
    rows = rewritten(old, new, example(code, "2", outputs=("(1, 2)\n",)))
    assert [row["code"] for row in rows] == ([f"p = lib.Page()\n{expected}\n"] if expected else [])
    without = "from lib import Page\n" + code.removeprefix("import lib\n").replace("lib.", "")
    rows = rewritten(old, new, example(without, "2", outputs=("(1, 2)\n",)))
    imports = f"from lib import Page\nfrom lib import {function}\n"
    assert [row["preamble"] for row in rows] == ([imports] if expected else [])


def test_a_member_that_the_replacement_of_its_class_does_not_have_is_not_written() -> None:
    """Flask says that `Flask.json` replaces `flask.json.JSONEncoder`: there is no `Flask.json.default`."""
    mark = 'import warnings\nwarnings.warn("Page is deprecated, use Sheet instead", DeprecationWarning)\n'
    page = f"class Page:\n    def __init__(self):\n        {mark.replace(chr(10), chr(10) + ' ' * 8)}\n    def fetch(self): ...\n"
    sheet = "class Sheet:\n    def load(self): ...\n"
    made = instances(module(page + sheet), module(sheet), example("import lib\nlib.Page.fetch\n", "2"))
    (reject,) = [reject for reject in made.rejects if reject.reason == "no_codemod"]
    assert "lib.Sheet.fetch is no public path of 3" in reject.detail


def test_a_replacement_in_another_distribution_is_imported() -> None:
    old = module(deprecated(ONE, "Import 'elsewhere.fetch' instead."))
    (row,) = rewritten(old, module("y = 1\n"), example("from lib import fetch\nfetch('a')\n", "2"))
    assert (row["preamble"], row["code"]) == ("from elsewhere import fetch\n", "fetch('a')\n")


def test_rules_say_what_is_followed() -> None:
    case = CASES["a parameter renamed"]
    rules = CODEMODS.model_copy(update={"follow": frozenset()})
    assert not instances(case.old, case.new, example(case.code, "2"), rules=rules).tables["rewrites"]
    short = CODEMODS.model_copy(update={"max_lines": 1})
    assert instances(case.old, case.new, example(case.code, "2"), rules=short).reasons["too_long"] == 1


def test_the_row_says_what_it_comes_from() -> None:
    case = CASES["two things at once, one in the other"]
    source: Any = example(case.code, "2")
    (row,) = rewritten(case.old, case.new, source)
    assert (row["snippet_id"], row["snippet_version"], row["version"]) == (source["id"], "2", "3")
    assert len(row["changes"]) == 2
    assert {(edit["codemod"], edit["path"], edit["old"], edit["new"]) for edit in row["edits"]} == {
        ("name", "lib.fetch", "lib.fetch", "lib.load"),
        ("by_name", "lib.show", "True", "big=True"),
    }


def test_order_does_not_matter() -> None:
    case = CASES["two things at once, one in the other"]
    several = [example(case.code.replace("'a'", f"'{n}'"), "2") for n in range(3)]
    forwards, backwards = (instances(case.old, case.new, *rows) for rows in (several, several[::-1]))
    assert forwards.tables == backwards.tables
    assert forwards.rejects == backwards.rejects


OLD, NEW = RENAMED
HISTORY = {"1.9": module(""), "2.0.0": OLD, "2.1.0": OLD, "2.2.0": NEW, "3.0.0": NEW}
TO_NEIGHBOUR = {("2.1.0", "2.2.0", "minor_to_minor"), ("2.2.0", "2.1.0", "minor_to_minor")}
BETWEEN_MAJORS = {("2.0.0", "3.0.0", "major_to_major"), ("3.0.0", "2.0.0", "major_to_major")}
FROM_EARLIER = {("2.0.0", "2.2.0", "major_to_minor"), ("2.2.0", "2.0.0", "minor_to_major")}


@pytest.mark.parametrize(
    ("last", "switched_off", "expected"),
    [
        ("2.1.0", [], TO_NEIGHBOUR | BETWEEN_MAJORS),
        ("2.1.0", ["majors"], TO_NEIGHBOUR),
        ("2.0.0", [], FROM_EARLIER | BETWEEN_MAJORS),
        ("2.0.0", ["majors"], FROM_EARLIER),
        ("2.0.0", ["before_the_change"], set()),
    ],
)
def test_versions_that_are_paired(last: str, switched_off: list[str], expected: set[tuple[str, str, str]]) -> None:
    source = example(CASES["a rename, imported"].code, "2.0.0", last)
    rules = CODEMODS.model_copy(update=dict.fromkeys(switched_off, False))
    made = over(HISTORY, source, rules=rules)[1].tables["migrations"]
    assert {(row["version"], row["target_version"], str(row["pattern"])) for row in made} == expected
