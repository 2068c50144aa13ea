"""Witnesses of a made-up library whose releases are installed from an index on loopback and run in the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.witnesses.stage import witnesses_stage
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.stage import Runner
from pipeline.lake.rows import OwnTestRow
from pipeline.lake.schema import table
from pipeline.lake.stage import Output
from tests.corpus.own_tests.suites import RULE
from tests.corpus.own_tests.test_stage import USAGE
from tests.families.completions_and_migrations.rows import change, releases, symbol
from tests.index_server import Index

OLD = "def load(path): return [path]\ndef dump(x, indent=0): return [x, indent]\ndef both(x): return x\n"
OLD += "LIMIT = 7\ndef idle(): pass\ndef same(text): return text\n"
OLD += "def pairs(items): return zip(items, items[1:])\ndef again(x):\n    while True: yield x\n"
OLD += "def each(items): return iter(items)\nclass Thing: pass\ndef thing(x): return Thing()\n"
OLD += "def parts(word): return [*word]\ndef made(x): return Thing()\n"
OLD += "def double(x): return x * 2\n"
OLD += "def half(x): return x / 2\ndef third(x): return x / 3\ndef round_up(x, digits=0): return -(-x // 1)\nSTEP = 4\n"
OLD += "def ranked(items, size): return sorted(items)[:size]\n"
NEW = "import warnings\n"
NEW += "def read(path): return [path]\ndef dump(x, width=0): return [x, width]\ndef both(x): return -x\n"
NEW += "def double(x): return x * 2.0\n"
NEW += "def half(x): warnings.warn('half() is deprecated', DeprecationWarning); return x / 2\n"
NEW += "def third(x): warnings.warn('something else', DeprecationWarning); return x / 3\n"
NEW += "def round_up(x, digits=None):\n"
NEW += "    digits is None or warnings.warn('digits is deprecated', FutureWarning)\n    return -(-x // 1)\n"
NEW += "def __getattr__(name):\n    if name != 'STEP': raise AttributeError(name)\n"
NEW += "    warnings.warn('STEP is deprecated', DeprecationWarning)\n    return 4\n"
LISTED = "from itertools import islice\nfrom lib import {}\n\nprint(list(islice({}, 8)))  # {}\n"
WARNING = "import warnings\n{}\nwarnings.simplefilter('error')\n"
PARAMETERS = {"load": ("path",), "read": ("path",), "dump": ("x", "indent"), "both": ("x",)}


def own_test(version: str, body: str, *names: str) -> OwnTestRow:
    code = "def test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    row: OwnTestRow = {
        "id": version + body,
        "library": "lib",
        "version": version,
        "last_version": version,
        "test_id": body,
    }
    row |= {
        "test": "tests/test_a.py::test_it",
        "case": "",
        "preamble": "import lib\n",
        "code": code,
    }
    return row | {"apis": [f"lib.{name}" for name in names], "file": "tests/test_a.py", "line": 3}


def function(name: str, first: str, last: str | None, *parameters: str) -> Any:
    taken = [
        {"name": each, "kind": "positional_or_keyword", "default": None, "annotation": None} for each in parameters
    ]
    return symbol(f"lib.{name}", first, last) | {"parameters": taken}


@pytest.fixture
def output(index: Index, tmp_path: Path) -> Output:
    """Search for witnesses of what went, came and got another parameter between two releases."""
    for version, text in (("1", OLD), ("2", NEW)):
        index.add_wheel("lib", version, {"lib.py": text}, f"2020-01-0{version}T00:00:00Z")
    shipped = environment_rules().model_copy(update={"gaps": (), "interpreters_tried": 1})
    sandbox = find_sandbox()
    store = EnvironmentStore(tmp_path, index_url=index.simple, rules=shipped, workers=2, sandbox=sandbox)
    changes = [
        change(ChangeKind.REMOVED, "lib.load", "1", "2", id="gone"),
        change(ChangeKind.INTRODUCED, "lib.read", "1", "2", id="came"),
        change(ChangeKind.PARAMETER_RENAMED, "lib.dump", "1", "2", id="renamed", parameter="indent", new="width"),
        change(ChangeKind.REMOVED, "lib.both", "1", "2", id="untrue"),
        change(ChangeKind.REMOVED, "lib.LIMIT", "1", "2", id="untested"),
        change(ChangeKind.REMOVED, "lib.idle", "1", "2", id="silent"),
        change(ChangeKind.REMOVED, "lib.same", "1", "2", id="echo"),
        change(ChangeKind.REMOVED, "lib.pairs", "1", "2", id="iterator"),
        change(ChangeKind.REMOVED, "lib.again", "1", "2", id="endless"),
        change(ChangeKind.REMOVED, "lib.each", "1", "2", id="the same in turn"),
        change(ChangeKind.REMOVED, "lib.thing", "1", "2", id="an object"),
        change(ChangeKind.REMOVED, "lib.parts", "1", "2", id="of a class"),
        change(ChangeKind.REMOVED, "lib.made", "1", "2", id="an object of a class"),
        change(ChangeKind.DEPRECATED, "lib.half", "1", "2", id="deprecated"),
        change(ChangeKind.DEPRECATED, "lib.third", "1", "2", id="warns of something else"),
        change(ChangeKind.PARAMETER_DEPRECATED, "lib.round_up", "1", "2", id="parameter", parameter="digits"),
        change(ChangeKind.DEPRECATED, "lib.STEP", "1", "2", id="warns as it is imported"),
        change(ChangeKind.REMOVED, "lib.ranked", "1", "2", id="several arguments"),
    ]
    tests = [
        own_test("1", "x = lib.both(1)\nassert lib.load('a') == ['a']", "load", "both"),
        own_test("1", "assert lib.dump(1, 2) == [1, 2]", "dump"),
        own_test("1", "assert lib.both(1) == 1", "both"),
        own_test("1", "x = lib.parts('ab')\nassert isinstance(x, list)", "parts"),
        own_test("1", "x = lib.made(1)\nassert isinstance(x, object)", "made"),
        own_test("1", "import warnings\nassert lib.half(6) == 3", "half"),
        own_test("1", "assert lib.third(6) == 2", "third"),
        own_test("1", "assert lib.round_up(2.5) == 3\nassert lib.round_up(1.5, digits=0) == 2", "round_up"),
        own_test("1", "x = lib.ranked([3, 1, 2], 2)\nassert x == [1, 2]", "ranked"),
        own_test("2", "assert lib.read('b') == list('b')", "read"),
        own_test("2", "assert lib.dump(1, width=2) == [1, 2]", "dump"),
    ]
    # No listed change says of `double` that it gives something else.
    tests += [
        own_test("1", "assert lib.double(4) == 8", "double"),
    ]
    tables: Any = {
        "releases": releases("1", "2"),
        "changes": changes,
        "own_tests": tests,
        "symbols": [
            symbol("lib", "1", None, kind="module"),
            function("load", "1", "1", "path"),
            function("read", "2", None, "path"),
            function("dump", "1", "1", "x", "indent"),
            function("dump", "2", None, "x", "width"),
            function("both", "1", None, "x"),
            function("idle", "1", "1"),
            function("same", "1", "1", "text"),
            function("pairs", "1", "1", "items"),
            function("again", "1", "1", "x"),
            function("each", "1", "1", "items"),
            function("thing", "1", "1", "x"),
            function("parts", "1", "1", "word"),
            function("made", "1", "1", "x"),
            function("ranked", "1", "1", "items", "size"),
            symbol("lib.LIMIT", "1", "1", kind="attribute"),
            function("half", "1", None, "x"),
            function("double", "1", "2", "x"),
            function("third", "1", None, "x"),
            function("round_up", "1", None, "x", "digits"),
            symbol("lib.STEP", "1", "1", kind="attribute"),
            symbol("lib.STEP", "2", None, kind="lazy"),
        ],
    }
    rules = load(RULES / "validation.yaml", ValidationRules)
    return witnesses_stage(tables, Runner(store, sandbox, rules, 2), RULE, USAGE)


def test_each_side_of_a_change_has_its_program_and_other_failures_are_rejects(output: Output) -> None:
    rows = output.tables["witnesses"]
    for row in rows:
        table("witnesses").check(row)
    found = {(row["change_id"], row["old_code"], row["new_code"], row["new_in_old"]) for row in rows}
    lifted = "import lib\n\nitems = [3, 1, 2]\nsize = 2\nx = lib.ranked(items, size)\nprint(x)  # [1, 2]\n"
    assert found == {
        # The values of a call that only the old release takes are variables; those of a new argument are not.
        ("several arguments", lifted, None, None),
        ("gone", "import lib\n\nprint(lib.load('a'))  # ['a']\n", None, None),
        ("came", None, "import lib\n\nprint(lib.read('b'))  # ['b']\n", Outcome.API_MISSING),
        ("renamed", "import lib\n\nprint(lib.dump(1, indent=2))  # [1, 2]\n", None, None),
        ("renamed", None, "import lib\n\nprint(lib.dump(1, width=2))  # [1, 2]\n", Outcome.SIGNATURE_MISMATCH),
        ("untested", "from lib import LIMIT\n\nprint(LIMIT)  # 7\n", None, None),
        ("iterator", "from lib import pairs\n\nprint(list(pairs([3, 1, 2])))  # [(3, 1), (1, 2)]\n", None, None),
        ("endless", LISTED.format("again", "again(1)", [1] * 8), None, None),
        ("echo", "from lib import same\n\nprint(same('some text'))  # some text\n", None, None),
        ("the same in turn", "from lib import each\n\nprint(list(each([3, 1, 2])))  # [3, 1, 2]\n", None, None),
        ("silent", "from lib import idle\n\nprint(idle())  # None\n", None, None),
        # A value says more than its class, but for one that is printed as an address.
        ("of a class", "import lib\n\nx = lib.parts('ab')\nprint(x)  # ['a', 'b']\n", None, None),
        ("an object of a class", "import lib\n\nx = lib.made(1)\nprint(isinstance(x, object))  # True\n", None, None),
        ("an object", "from lib import thing\n\nprint(type(thing).__name__)  # function\n", None, None),
        (None, "import lib\n\nprint(lib.double(4))  # 8\n", None, None),
        ("deprecated", WARNING.format("import lib\n") + "print(lib.half(6))  # 3.0\n", None, None),
        ("parameter", WARNING.format("import lib\n") + "print(lib.round_up(1.5, digits=0))  # 2.0\n", None, None),
        ("warns as it is imported", WARNING.format("") + "from lib import STEP\n\nprint(STEP)  # 4\n", None, None),
    }
    # A call that gives nothing, or what it takes, says little of the API, and so does its type. What is deprecated can be
    # done in a newer way.
    doubtful = {row["change_id"] for row in rows if not row["distinctive"]}
    assert doubtful == {"echo", "the same in turn", "silent", "an object", "an object of a class"} | {
        "deprecated",
        "parameter",
        "warns as it is imported",
    }
    assert {row["change_id"]: row["source"] for row in rows}["untested"] == SnippetSource.CHANGE
    assert {row["test"] is None for row in rows if row["source"] == SnippetSource.CHANGE} == {True}
    of_tests = {(reject.key, reject.reason) for reject in output.rejects if " beside " in reject.key}
    assert ("tests/test_a.py::test_it 1 beside 2", RejectReason.OTHER_CAUSE) in of_tests
    # The API is still there, and gives something else.
    of_changes = [reject for reject in output.rejects if " beside " not in reject.key]
    assert {(reject.key, reject.reason) for reject in of_changes} == {
        ("untrue", RejectReason.OTHER_CAUSE),
        ("warns of something else", RejectReason.OTHER_CAUSE),
    }
