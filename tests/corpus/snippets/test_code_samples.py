"""Code of others becomes snippets, or rejects with their reason."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import Language, SnippetSource, VersionEvidence
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.snippets.stage import snippets_stage
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.stage import usage_stage
from pipeline.corpus.usages.text import source_of
from pipeline.lake.schema import Row, table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.quality import QualityRules
from tests.corpus.snippets.rows import TIME, found
from tests.corpus.usages.rows import LIB, surfaces

RULES_OF_SNIPPETS = load(RULES / "snippets.yaml", SnippetRules)
FILES = load(RULES / "python_files.yaml", PythonFileRules)
USAGE = load(RULES / "usage.yaml", UsageRules)
LICENCES = load(RULES / "quality.yaml", QualityRules).licences
DOCUMENTED = {**LIB, "lib/sub.py": LIB["lib/sub.py"].replace("def helper(x): ...", 'def helper(x):\n    """Does.\n\n    >>> helper(1)\n    """')}  # fmt: skip
RELEASES, SURFACE = surfaces({"1": LIB, "2": LIB, "3": DOCUMENTED})
POST, PAGE = SnippetSource.STACK_OVERFLOW, SnippetSource.DOCUMENTATION


def run(*rows: Row, **changes: Any) -> Output:
    rules = RULES_OF_SNIPPETS.model_copy(update={"found": RULES_OF_SNIPPETS.found.model_copy(update=changes)})
    tables = SURFACE.tables
    made = snippets_stage(
        {"releases": RELEASES, "documents": tables["documents"], "symbols": tables["symbols"], "found": rows},
        rules,
        FILES,
        LICENCES,
        USAGE,
    )
    for row in made.tables["snippets"]:
        table("snippets").check(row)
    return made


def snippets(made: Output) -> list[Row]:
    return [row for row in made.tables["snippets"] if row["source"] != SnippetSource.DOCSTRING]


def only(made: Output) -> Row:
    (row,) = snippets(made)
    return row


def refused(made: Output) -> list[tuple[str, str]]:
    return [(str(reject.reason), reject.detail) for reject in made.rejects]


FILE = '''"""A module."""
import os

import lib as l

LIMIT = 3


class Reader:
    """Reads."""

    def __init__(self, path):
        self.thing = l.make(path)

    def read(self, name):
        # end reads on to the end
        return self.thing.other_of(os.sep, LIMIT).end()


def write(thing):
    return thing
'''


def test_a_file_is_cut_into_what_uses_the_library() -> None:
    made = run(found(FILE))
    rows = {row["line"]: row for row in snippets(made)}
    assert {line: (row["style"], row["code"]) for line, row in rows.items()} == {
        12: ("method", "    def __init__(self, path):\n        self.thing = l.make(path)\n"),
        15: ("method", "    def read(self, name):\n        return self.thing.other_of(os.sep, LIMIT).end()\n"),
    }
    head = 'import os\nimport lib as l\nLIMIT = 3\nclass Reader:\n    """Reads."""\n'
    initialiser = rows[12]["code"]
    assert rows[15]["preamble"] == head.replace('    """Reads."""\n', "") + initialiser
    assert (rows[15]["comments_removed"], rows[12]["comments_removed"], made.rejects) == (1, 0, [])


def test_a_snippet_says_whose_work_it_is_and_how_its_version_is_known() -> None:
    row = only(run(found("import lib\nx = lib.make()\n", "2")))
    expected: Row = {
        "version": "2", "last_version": "2", "path": None, "language": "python", "source": "downstream",
        "version_evidence": "dependency_matrix", "stated": "Requires-Dist: lib>=1", "origin": "pypi:user",
        "place": "pkg:pypi/user@2.0", "purl": "pkg:pypi/user@2.0", "file": "user/core.py", "line": 2, "created_time": TIME,
        "licence": "MIT", "attribution": "Ada", "checks": [], "style": "statements", "redacted": 0,
    }  # fmt: skip
    assert {column: row[column] for column in expected} == expected
    assert source_of(row) == "import lib\nx = lib.make()\n"


@pytest.mark.parametrize(
    ("source", "purl"),
    [
        (SnippetSource.GITHUB, "pkg:github/ada/user@0123456789abcdef0123456789abcdef01234567"),
        (POST, None),
        (PAGE, None),
    ],
)
def test_what_stands_in_no_package_has_no_package_url(source: SnippetSource, purl: str | None) -> None:
    assert only(run(found("import lib\nlib.make()\n", source=source)))["purl"] == purl


USE = "import lib\nlib.make()\n"
LONG = "def f():\n" + "    lib.make()\n" * 60
REFUSED = {
    "licence": (found(USE, licence="GPL-3.0-only"), "GPL-3.0-only is not on the list"),
    "licence unknown": (found(USE, licence=None), "no licence that can be read"),
    "licence asks for a name": (found(USE, source=POST, licence="CC-BY-SA-4.0", attribution=None), "CC-BY-SA-4.0 asks to name the author"),
    "too_large": (found(USE + "#\n" * 200000), "400022 bytes, the limit is 262144"),
    "out_of_scope": (found(USE, file="tests/test_core.py"), "test code"),
    "out_of_scope by text": (found("# Generated by protoc. DO NOT EDIT!\n" + USE), "generated code, as its head says"),
    "out_of_scope by lines": (found(USE + f"x = {list(range(900))}\n"), "a line of "),
    "version_not_covered": (found(USE, "9"), "known from Requires-Dist: lib>=1"),
    "python_2": (found("import lib\nprint lib.make()\n"), "line 2: Missing parentheses"),
    "python_2 in a block": (found("print lib.make()", source=POST), "line 1: Missing parentheses"),
    "unparsed_source": (found("import lib\nlib.make(\n"), "line 2: '(' was never closed"),
    "unparsed_source of bytes": (found("import lib\0\n"), "source code string cannot contain null bytes"),
    "broken_example": (found("lib.make(...\n", source=POST), "line 1: '(' was never closed"),
    "broken_example outside a function": (found("return lib.make()", source=POST), "line 1: 'return' outside function"),
    "too_short": (found("import lib", source=PAGE), "0 statements beside imports"),
    "no_use": (found("import other\nother.make()\n"), "nothing in the file uses lib"),
    "no_use of what is imported": (found("import lib\n\ndef f():\n    return 1\n"), "nothing in the file uses lib"),
    "no_use in a block": (found("x = 1", source=POST), "nothing in the block uses lib"),
    "too_long": (found(f"import lib\n{LONG}"), "61 lines, 909 characters"),
    "too_long in a block": (found(f"import lib\n{LONG}", source=POST), "62 lines"),
    "secret": (found("import lib\nlib.make('-----BEGIN PRIVATE KEY-----'\n  'MIIEowIBAAKCAQEAx0123456789abcdef')\n"), "private_key"),
    "too_short in Java": (found("int x;", source=POST, language=Language.JAVA), "1 lines"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_where_and_why(name: str) -> None:
    row, detail = REFUSED[name]
    made = run(row)
    (reject,) = made.rejects
    assert (str(reject.reason), snippets(made)) == (name.partition(" ")[0], [])
    assert reject.key.startswith(f"{row['place']} {row['file']}".strip() + ":")
    assert reject.detail.startswith(f"for lib {row['version']}: ")
    assert detail in reject.detail


def test_documentation_of_unknown_licence_is_kept_for_a_person_to_look_at() -> None:
    assert only(run(found(USE, source=PAGE, licence=None)))["licence"] is None


BLOCKS: Mapping[str, tuple[str, list[tuple[str, str, int]]]] = {
    "plain": ("x = lib.make()", [("import lib\nx = lib.make()\n", "post", 7)]),
    "with imports": ("from lib import make\r\nmake()", [("from lib import make\nmake()\n", "post", 7)]),
    "prompts": ("Try\n>>> x = lib.make()\n>>> x\n3\n", [("import lib\nx = lib.make()\nx\n", "doctest", 8)]),
    "conventions": ("lib.make(np.e)", [("import numpy as np\nimport lib\nlib.make(np.e)\n", "post", 7)]),
    "IPython": (
        "In [1]: x = lib.make()\n   ...: y = [\n   ...:     x]\n\nIn [2]: %timeit x\nOut[2]: 3\n",
        [("import lib\nx = lib.make()\ny = [\n    x]\n", "post", 7)],
    ),
    "names that may be anything": ("lib.make(helper, find)", [("import lib\nlib.make(helper, find)\n", "post", 7)]),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_read_as_their_readers_do(name: str) -> None:
    text, expected = BLOCKS[name]
    rows = snippets(run(found(text, source=POST)))
    assert [(source_of(row), row["style"], row["line"]) for row in rows] == expected


def test_a_block_takes_along_what_it_needs_of_the_blocks_before_it() -> None:
    blocks = [
        "import numpy as np\ndata = np.ones(3)",
        "x = 3",
        "x = lib.make(data)",
        "x.plain(np.e)",
        "x.other_of()",
    ]
    rows = [found(f"{text}\n", source=PAGE, line=10 * at) for at, text in enumerate(blocks, 1)]
    elsewhere = found("x = lib.find(1)", source=PAGE, place="https://lib.example/other.html", line=39)
    made = {row["line"]: row for row in snippets(run(*rows, elsewhere)) if row["place"] == rows[0]["place"]}
    assert made[30]["preamble"] == f"import lib\n{blocks[0]}\n"
    assert made[40]["preamble"] == f"import lib\n{blocks[0]}\n{blocks[2]}\n"
    assert made[50]["preamble"] == made[40]["preamble"]
    short = {row["line"]: row["preamble"] for row in snippets(run(*rows, max_preamble_lines=2))}
    nearest = f"import lib\n{blocks[2]}\n"
    assert short == {30: f"import lib\n{blocks[0]}\n", 40: f"import numpy as np\n{nearest}", 50: nearest}


def test_a_block_with_a_secret_is_not_taken_along() -> None:
    secret = "x = lib.make('-----BEGIN PRIVATE KEY-----'\n  'MIIEowIBAAKCAQEAx0123456789abcdef')\n"
    made = run(found(secret, source=PAGE), found("y = lib.find(x)\n", source=PAGE, line=20))
    assert only(made)["preamble"] == "import lib\n"


def test_what_prompts_show_is_kept_and_cleaned_alike() -> None:
    row = only(run(found(">>> # make it so\n>>> lib.make('ada@acme.com')  # make\n'ada@acme.com'\n", source=PAGE)))
    assert row["checks"] == [
        {"statement": "lib.make('user1@example.com')\n", "expected": "'user1@example.com'\n", "options": []}
    ]
    assert (row["code"], row["redacted"], row["comments_removed"]) == ("lib.make('user1@example.com')\n", 2, 1)


def test_personal_data_is_replaced_in_code_and_in_what_it_needs() -> None:
    text = "import lib\nHOME = '/home/ada/x'\n\ndef f():\n    lib.make(HOME)  # by ada@acme.com\n"
    row = only(run(found(text)))
    assert source_of(row) == text.replace("/ada/", "/user1/").replace("ada@acme.com", "user1@example.com").replace(
        "\n\n", "\n"
    )
    assert row["redacted"] == 2


def test_the_same_data_has_the_same_placeholder_wherever_a_snippet_holds_it() -> None:
    text = "import lib\nBOSS = 'ada@acme.com'\n\ndef f():\n    lib.make(BOSS, 'bob@acme.com', 'ada@acme.com')\n"
    row = only(run(found(text)))
    assert row["preamble"] == "import lib\nBOSS = 'user1@example.com'\n"
    assert row["code"] == "def f():\n    lib.make(BOSS, 'user2@example.com', 'user1@example.com')\n"
    first, second = "boss = 'ada@acme.com'\n", "lib.make(boss, 'ada@acme.com', 'bob@acme.com')\n"
    page = only(run(found(first, source=PAGE, line=3), found(second, source=PAGE)))
    assert source_of(page).endswith(
        "boss = 'user1@example.com'\nlib.make(boss, 'user1@example.com', 'user2@example.com')\n"
    )


def test_what_is_said_about_a_piece_has_no_secrets_either() -> None:
    stated = "requirements.txt:3: lib @ git+https://ada:s3cret@acme.com/lib@v2"
    row = only(run(found(USE, stated=stated, title="Why does ada@acme.com fail?")))
    assert row["stated"] == "requirements.txt:3: lib @ git+https://user:password@acme.com/lib@v2"
    assert row["title"] == "Why does user1@example.com fail?"


NASTY = [
    "x = " + "-" * 3000 + "1\nlib.make()",
    "lib" + ".make()" * 3000,
    "lib" + ".make()" * 300,
    ">>> lib" + ".make()" * 300,
    " + ".join(["lib.make()"] * 600),
    "lib.make(" + "[" * 150 + "]" * 150 + ")",
    "x = (" * 250,
    "lib.make()\n" + "if x:\n" + "".join(" " * depth + "if x:\n" for depth in range(1, 99)),
    " + ".join(["lib.make()"] * 3000),
    "lib.make()\n\f\n\x0clib.make()\n\v",
    "lib.make('\\ud800')",
    "\ufeffimport lib\nlib.make()",
    "import lib;lib.make();lib.make()",
    "class lib: make = lib.make()",
    'lib.make("""\n>>> lib.make()\n""")',
    ">>> lib.make(\n... )\n>>>\n... x",
    "import lib\rlib.make()\r",
    "print `lib.make()`",
    "$ pip install lib\n%matplotlib inline\nlib.make()",
    "",
    "\0",
]


@pytest.mark.parametrize("source", [SnippetSource.GITHUB, POST])
@pytest.mark.parametrize("text", NASTY)
def test_odd_code_ends_as_a_snippet_or_a_reject(text: str, source: SnippetSource) -> None:
    wide = {"max_line_characters": 100_000, "max_characters": 100_000}
    for language in (Language.PYTHON, Language.JAVASCRIPT):
        made = run(found(f"import lib\n{text}", source=source, language=language), **wide)
        assert len(snippets(made)) + len(made.rejects) > 0
        for row in snippets(made):
            assert language is Language.JAVASCRIPT or ast.parse(source_of(row))


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.sampled_from([FILE, USE, *NASTY]), st.text(max_size=20)), max_size=4).map("\n".join),
    st.data(),
)
def test_damaged_code_ends_as_a_snippet_or_a_reject(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    made = run(found(text[cut:] + text[:cut], source=data.draw(st.sampled_from([POST, SnippetSource.GITHUB]))))
    assert made.seen == made.made + len(made.rejects) > 0


JAVA = 'import lib.Maker;\n\nMaker maker = new Maker("ada@acme.com");\nmaker.make();\n'


def test_a_block_in_another_language_stays_whole_and_has_no_uses() -> None:
    made = run(found(JAVA, "31.1-jre", source=POST, language=Language.JAVA))
    row = only(made)
    assert (row["language"], row["style"], row["preamble"], row["version"]) == ("java", "post", "", "31.1-jre")
    assert (row["code"], row["redacted"]) == (JAVA.replace("ada@acme.com", "user1@example.com"), 1)
    rules = load(RULES / "usage.yaml", UsageRules)
    assert (
        usage_stage({"releases": RELEASES, "snippets": [row], "symbols": SURFACE.tables["symbols"]}, rules).tables[
            "usages"
        ]
        == []
    )


def test_of_examples_of_one_api_the_best_known_and_newest_is_kept() -> None:
    rows = [
        found("import lib\nlib.make(1)\n", "1"),
        found("import lib\ny = [lib.make(2)]\n", "2", file="user/a.py"),
        found("import lib\nfor z in 'abc':\n    lib.make(z)\n", "2", file="user/b.py"),
        found("import lib\nwith lib.make(3):\n    pass\n", "1", version_evidence=VersionEvidence.LOCK, file="user/c.py"),
    ]  # fmt: skip
    made = run(*rows)
    assert only(made)["file"] == "user/c.py"
    assert {reason for reason, _ in refused(made)} == {"over_quota"}
    assert [row["file"] for row in snippets(run(*rows[:3]))] == ["user/a.py"]
    assert len(snippets(run(*rows, max_per_api_and_origin=2))) == 2


def test_of_answers_to_one_question_the_accepted_one_comes_first_then_votes() -> None:
    answers = [(False, 90), (True, 3), (False, 100)]
    rows = [
        found(f"lib.make({score})", source=POST, place=f"12/{score}", accepted=accepted, score=score)
        for accepted, score in answers
    ]
    assert (only(run(*rows))["score"], only(run(rows[0], rows[2]))["score"]) == (3, 100)


def test_a_snippet_stands_for_the_apis_that_its_origin_shows_nowhere_else() -> None:
    both = found("from lib import find, make\nfor each in (find('a'), make(2)):\n    print(each)\n", file="user/b.py")
    rows = {row["file"]: row["example_of"] for row in snippets(run(found(USE, file="user/a.py"), both))}
    assert rows == {"user/a.py": ["lib.make"], "user/b.py": ["lib.find"]}


def test_another_origin_may_show_the_same_api() -> None:
    other = found("import lib\nlib.make([1, 2])\n", origin="pypi:other", place="pkg:pypi/other@1")
    assert len(snippets(run(found(USE), other))) == 2


def test_the_example_of_a_docstring_is_not_taken_again() -> None:
    made = run(found("from lib.sub import helper\nhelper(1)\n", "3", source=PAGE))
    assert refused(made) == [("duplicate", "for lib 3: the same code stands at lib.sub.helper in 3")]


def test_the_same_code_of_another_origin_is_a_duplicate_and_says_of_what() -> None:
    made = run(found(FILE), found(FILE, origin="pypi:copy", place="pkg:pypi/copy@1"))
    assert {row["origin"] for row in snippets(made)} == {"pypi:copy"}
    assert refused(made) == [
        ("duplicate", "for lib 1: the same code stands at pkg:pypi/copy@1 user/core.py:12"),
        ("duplicate", "for lib 1: the same code stands at pkg:pypi/copy@1 user/core.py:15"),
    ]


def test_counts_add_up_and_the_order_of_rows_does_not_matter() -> None:
    rows = [row for row, _ in REFUSED.values()] + [
        found(FILE),
        found(USE, source=POST),
        found(JAVA, "x", language=Language.JAVA),
    ]
    one = run(*rows)
    random.Random(7).shuffle(rows)
    assert run(*rows) == one
    assert one.seen == one.made + len(one.rejects)


def test_every_use_of_a_found_snippet_is_found_again_by_the_next_stage() -> None:
    made = run(found(FILE), found(USE, "2", source=POST))
    rules = load(RULES / "usage.yaml", UsageRules)
    usages = usage_stage(
        {"releases": RELEASES, "snippets": made.tables["snippets"], "symbols": SURFACE.tables["symbols"]}, rules
    ).tables["usages"]
    assert {row["snippet_id"] for row in usages} >= {row["id"] for row in snippets(made)}
    for row in snippets(made):
        ast.parse(source_of(row))
