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
from pipeline.lake.rows import SnippetRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from pipeline.quality.acceptance.quality import QualityRules
from tests.corpus.snippets.rows import TIME, sample_row
from tests.corpus.usages.rows import LIB, surfaces

RULES_OF_SNIPPETS = load(RULES / "snippets.yaml", SnippetRules)
FILES = load(RULES / "python_files.yaml", PythonFileRules)
USAGE = load(RULES / "usage.yaml", UsageRules)
LICENCES = load(RULES / "quality.yaml", QualityRules).licences
DOCUMENTED = {**LIB, "lib/sub.py": LIB["lib/sub.py"].replace("def helper(x): ...", 'def helper(x):\n    """Does.\n\n    >>> helper(1)\n    """')}  # fmt: skip
RELEASES, SURFACE = surfaces({"1": LIB, "2": LIB, "3": DOCUMENTED})
POST, PAGE = SnippetSource.STACK_OVERFLOW, SnippetSource.DOCUMENTATION


def run(*rows: Any, **changes: Any) -> Output:
    rules = RULES_OF_SNIPPETS.model_copy(update={"samples": RULES_OF_SNIPPETS.samples.model_copy(update=changes)})
    tables = SURFACE.tables
    output = snippets_stage(
        {"releases": RELEASES, "documents": tables["documents"], "symbols": tables["symbols"], "code_samples": rows},
        rules,
        FILES,
        LICENCES,
        USAGE,
    )
    for row in output.tables["snippets"]:
        table("snippets").check(row)
    return output


def snippets(output: Output) -> list[SnippetRow]:
    return [row for row in output.tables["snippets"] if row["source"] != SnippetSource.DOCSTRING]


def only(output: Output) -> Any:
    (row,) = snippets(output)
    return row


def refused(output: Output) -> list[tuple[str, str]]:
    return [(str(reject.reason), reject.detail) for reject in output.rejects]


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


def test_a_file_is_cut_into_parts_that_use_the_library() -> None:
    output = run(sample_row(FILE))
    rows = {row["line"]: row for row in snippets(output)}
    assert {line: (row["style"], row["code"]) for line, row in rows.items()} == {
        12: ("method", "    def __init__(self, path):\n        self.thing = l.make(path)\n"),
        15: ("method", "    def read(self, name):\n        return self.thing.other_of(os.sep, LIMIT).end()\n"),
    }
    head = 'import os\nimport lib as l\nLIMIT = 3\nclass Reader:\n    """Reads."""\n'
    initialiser = rows[12]["code"]
    assert rows[15]["preamble"] == head.replace('    """Reads."""\n', "") + initialiser
    assert (rows[15]["comments_removed"], rows[12]["comments_removed"], output.rejects) == (1, 0, [])


def test_a_snippet_has_its_author_and_version_evidence() -> None:
    row = only(run(sample_row("import lib\nx = lib.make()\n", "2")))
    expected: Any = {
        "version": "2", "last_version": "2", "path": None, "language": "python", "source": "downstream",
        "version_evidence": "dependency_matrix", "version_statement": "Requires-Dist: lib>=1", "origin": "pypi:user",
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
def test_code_outside_packages_has_no_package_url(source: SnippetSource, purl: str | None) -> None:
    assert only(run(sample_row("import lib\nlib.make()\n", source=source)))["purl"] == purl


USE = "import lib\nlib.make()\n"
LONG = "def f():\n" + "    lib.make()\n" * 60
REFUSED = {
    "licence": (sample_row(USE, licence="GPL-3.0-only"), "GPL-3.0-only is not on the list"),
    "licence unknown": (sample_row(USE, licence=None), "no licence that can be read"),
    "licence asks for a name": (sample_row(USE, source=POST, licence="CC-BY-SA-4.0", attribution=None), "CC-BY-SA-4.0 asks to name the author"),
    "too_large": (sample_row(USE + "#\n" * 200000), "400022 bytes, the limit is 262144"),
    "out_of_scope": (sample_row(USE, file="tests/test_core.py"), "test code"),
    "out_of_scope by text": (sample_row("# Generated by protoc. DO NOT EDIT!\n" + USE), "generated code, as its head says"),
    "out_of_scope by lines": (sample_row(USE + f"x = {list(range(900))}\n"), "a line of "),
    "version_not_covered": (sample_row(USE, "9"), "known from Requires-Dist: lib>=1"),
    "python_2": (sample_row("import lib\nprint lib.make()\n"), "line 2: Missing parentheses"),
    "python_2 in a block": (sample_row("print lib.make()", source=POST), "line 1: Missing parentheses"),
    "unparsed_source": (sample_row("import lib\nlib.make(\n"), "line 2: '(' was never closed"),
    "unparsed_source of bytes": (sample_row("import lib\0\n"), "source code string cannot contain null bytes"),
    "broken_example": (sample_row("lib.make(...\n", source=POST), "line 1: '(' was never closed"),
    "broken_example outside a function": (sample_row("return lib.make()", source=POST), "line 1: 'return' outside function"),
    "too_short": (sample_row("import lib", source=PAGE), "0 statements beside imports"),
    "no_use": (sample_row("import other\nother.make()\n"), "nothing in the file uses lib"),
    "no_use of what is imported": (sample_row("import lib\n\ndef f():\n    return 1\n"), "nothing in the file uses lib"),
    "no_use in a block": (sample_row("x = 1", source=POST), "nothing in the block uses lib"),
    "too_long": (sample_row(f"import lib\n{LONG}"), "61 lines, 909 characters"),
    "too_long in a block": (sample_row(f"import lib\n{LONG}", source=POST), "62 lines"),
    "secret": (sample_row("import lib\nlib.make('-----BEGIN PRIVATE KEY-----'\n  'MIIEowIBAAKCAQEAx0123456789abcdef')\n"), "private_key"),
    "too_short in Java": (sample_row("int x;", source=POST, language=Language.JAVA), "1 lines"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_reject_has_place_and_reason(name: str) -> None:
    row, detail = REFUSED[name]
    output = run(row)
    (reject,) = output.rejects
    assert (str(reject.reason), snippets(output)) == (name.partition(" ")[0], [])
    assert reject.key.startswith(f"{row['place']} {row['file']}".strip() + ":")
    assert reject.detail.startswith(f"for lib {row['version']}: ")
    assert detail in reject.detail


def test_documentation_without_a_licence_becomes_a_snippet() -> None:
    assert only(run(sample_row(USE, source=PAGE, licence=None)))["licence"] is None


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
    rows = snippets(run(sample_row(text, source=POST)))
    assert [(source_of(row), row["style"], row["line"]) for row in rows] == expected


def test_a_block_has_a_preamble_of_the_blocks_before_it() -> None:
    blocks = [
        "import numpy as np\ndata = np.ones(3)",
        "x = 3",
        "x = lib.make(data)",
        "x.plain(np.e)",
        "x.other_of()",
    ]
    rows = [sample_row(f"{text}\n", source=PAGE, line=10 * at) for at, text in enumerate(blocks, 1)]
    elsewhere = sample_row("x = lib.find(1)", source=PAGE, place="https://lib.example/other.html", line=39)
    by_line = {row["line"]: row for row in snippets(run(*rows, elsewhere)) if row["place"] == rows[0]["place"]}
    assert by_line[30]["preamble"] == f"import lib\n{blocks[0]}\n"
    assert by_line[40]["preamble"] == f"import lib\n{blocks[0]}\n{blocks[2]}\n"
    assert by_line[50]["preamble"] == by_line[40]["preamble"]
    short = {row["line"]: row["preamble"] for row in snippets(run(*rows, max_preamble_lines=2))}
    nearest = f"import lib\n{blocks[2]}\n"
    assert short == {30: f"import lib\n{blocks[0]}\n", 40: f"import numpy as np\n{nearest}", 50: nearest}


def test_a_block_with_a_secret_is_no_preamble() -> None:
    secret = "x = lib.make('-----BEGIN PRIVATE KEY-----'\n  'MIIEowIBAAKCAQEAx0123456789abcdef')\n"
    output = run(sample_row(secret, source=PAGE), sample_row("y = lib.find(x)\n", source=PAGE, line=20))
    assert only(output)["preamble"] == "import lib\n"


def test_prompts_and_checks_are_cleaned_alike() -> None:
    row = only(run(sample_row(">>> # make it so\n>>> lib.make('ada@acme.com')  # make\n'ada@acme.com'\n", source=PAGE)))
    assert row["checks"] == [
        {"statement": "lib.make('user1@example.com')\n", "expected": "'user1@example.com'\n", "options": []}
    ]
    assert (row["code"], row["redacted"], row["comments_removed"]) == ("lib.make('user1@example.com')\n", 2, 1)


def test_personal_data_is_replaced_in_code_and_preamble() -> None:
    text = "import lib\nHOME = '/home/ada/x'\n\ndef f():\n    lib.make(HOME)  # by ada@acme.com\n"
    row = only(run(sample_row(text)))
    assert source_of(row) == text.replace("/ada/", "/user1/").replace("ada@acme.com", "user1@example.com").replace(
        "\n\n", "\n"
    )
    assert row["redacted"] == 2


def test_the_same_data_has_the_same_placeholder_wherever_a_snippet_holds_it() -> None:
    text = "import lib\nBOSS = 'ada@acme.com'\n\ndef f():\n    lib.make(BOSS, 'bob@acme.com', 'ada@acme.com')\n"
    row = only(run(sample_row(text)))
    assert row["preamble"] == "import lib\nBOSS = 'user1@example.com'\n"
    assert row["code"] == "def f():\n    lib.make(BOSS, 'user2@example.com', 'user1@example.com')\n"
    first, second = "boss = 'ada@acme.com'\n", "lib.make(boss, 'ada@acme.com', 'bob@acme.com')\n"
    page = only(run(sample_row(first, source=PAGE, line=3), sample_row(second, source=PAGE)))
    assert source_of(page).endswith(
        "boss = 'user1@example.com'\nlib.make(boss, 'user1@example.com', 'user2@example.com')\n"
    )


def test_evidence_and_title_have_no_secrets() -> None:
    evidence = "requirements.txt:3: lib @ git+https://ada:s3cret@acme.com/lib@v2"
    row = only(run(sample_row(USE, version_statement=evidence, title="Why does ada@acme.com fail?")))
    assert row["version_statement"] == "requirements.txt:3: lib @ git+https://user:password@acme.com/lib@v2"
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
        output = run(sample_row(f"import lib\n{text}", source=source, language=language), **wide)
        assert len(snippets(output)) + len(output.rejects) > 0
        for row in snippets(output):
            assert language is Language.JAVASCRIPT or ast.parse(source_of(row))


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.sampled_from([FILE, USE, *NASTY]), st.text(max_size=20)), max_size=4).map("\n".join),
    st.data(),
)
def test_damaged_code_ends_as_a_snippet_or_a_reject(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    output = run(sample_row(text[cut:] + text[:cut], source=data.draw(st.sampled_from([POST, SnippetSource.GITHUB]))))
    assert output.units_in == output.units_out + len(output.rejects) > 0


JAVA = 'import lib.Maker;\n\nMaker maker = new Maker("ada@acme.com");\nmaker.make();\n'


def test_a_block_in_another_language_stays_whole_and_has_no_uses() -> None:
    output = run(sample_row(JAVA, "31.1-jre", source=POST, language=Language.JAVA))
    row = only(output)
    assert (row["language"], row["style"], row["preamble"], row["version"]) == ("java", "post", "", "31.1-jre")
    assert (row["code"], row["redacted"]) == (JAVA.replace("ada@acme.com", "user1@example.com"), 1)
    rules = load(RULES / "usage.yaml", UsageRules)
    assert (
        usage_stage({"releases": RELEASES, "snippets": [row], "symbols": SURFACE.tables["symbols"]}, rules).tables[
            "usages"
        ]
        == []
    )


def test_the_example_of_an_api_with_the_best_evidence_and_newest_version_is_chosen() -> None:
    rows = [
        sample_row("import lib\nlib.make(1)\n", "1"),
        sample_row("import lib\ny = [lib.make(2)]\n", "2", file="user/a.py"),
        sample_row("import lib\nfor z in 'abc':\n    lib.make(z)\n", "2", file="user/b.py"),
        sample_row("import lib\nwith lib.make(3):\n    pass\n", "1", version_evidence=VersionEvidence.LOCK, file="user/c.py"),
    ]  # fmt: skip
    output = run(*rows)
    assert only(output)["file"] == "user/c.py"
    assert {reason for reason, _ in refused(output)} == {"over_quota"}
    assert [row["file"] for row in snippets(run(*rows[:3]))] == ["user/a.py"]
    assert len(snippets(run(*rows, max_per_api_and_origin=2))) == 2


def test_the_accepted_answer_comes_first_then_votes() -> None:
    answers = [(False, 90), (True, 3), (False, 100)]
    rows = [
        sample_row(f"lib.make({score})", source=POST, place=f"12/{score}", accepted=accepted, score=score)
        for accepted, score in answers
    ]
    assert (only(run(*rows))["score"], only(run(rows[0], rows[2]))["score"]) == (3, 100)


def test_a_snippet_is_an_example_of_apis_that_its_origin_demonstrates_nowhere_else() -> None:
    both = sample_row(
        "from lib import find, make\nfor each in (find('a'), make(2)):\n    print(each)\n", file="user/b.py"
    )
    rows = {row["file"]: row["example_of"] for row in snippets(run(sample_row(USE, file="user/a.py"), both))}
    assert rows == {"user/a.py": ["lib.make"], "user/b.py": ["lib.find"]}


def test_another_origin_may_show_the_same_api() -> None:
    other = sample_row("import lib\nlib.make([1, 2])\n", origin="pypi:other", place="pkg:pypi/other@1")
    assert len(snippets(run(sample_row(USE), other))) == 2


def test_the_example_of_a_docstring_is_a_duplicate() -> None:
    output = run(sample_row("from lib.sub import helper\nhelper(1)\n", "3", source=PAGE))
    assert refused(output) == [("duplicate", "for lib 3: the same code stands at lib.sub.helper in 3")]


def test_the_same_code_of_another_origin_is_a_duplicate() -> None:
    output = run(sample_row(FILE), sample_row(FILE, origin="pypi:copy", place="pkg:pypi/copy@1"))
    assert {row["origin"] for row in snippets(output)} == {"pypi:copy"}
    assert refused(output) == [
        ("duplicate", "for lib 1: the same code stands at pkg:pypi/copy@1 user/core.py:12"),
        ("duplicate", "for lib 1: the same code stands at pkg:pypi/copy@1 user/core.py:15"),
    ]


def test_counts_add_up_and_the_order_of_rows_does_not_matter() -> None:
    rows = [row for row, _ in REFUSED.values()] + [
        sample_row(FILE),
        sample_row(USE, source=POST),
        sample_row(JAVA, "x", language=Language.JAVA),
    ]
    first = run(*rows)
    random.Random(7).shuffle(rows)
    assert run(*rows) == first
    assert first.units_in == first.units_out + len(first.rejects)


def test_the_usage_stage_finds_every_use_of_a_snippet() -> None:
    output = run(sample_row(FILE), sample_row(USE, "2", source=POST))
    rules = load(RULES / "usage.yaml", UsageRules)
    usages = usage_stage(
        {"releases": RELEASES, "snippets": output.tables["snippets"], "symbols": SURFACE.tables["symbols"]}, rules
    ).tables["usages"]
    assert {row["snippet_id"] for row in usages} >= {row["id"] for row in snippets(output)}
    for row in snippets(output):
        ast.parse(source_of(row))
