"""Witnesses print what other code hardly would; the programs really run, each in a process of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import ChangeSide, TestScripts, UsingProgram
from pipeline.corpus.witnesses.distinctive import (
    emptiness,
    is_distinctive,
    is_presentable,
    plain_code,
    script_of_variants,
    variants,
)
from pipeline.corpus.witnesses.script_runs import marked
from pipeline.corpus.witnesses.scripts import line_of
from pipeline.corpus.witnesses.stage import witnesses_stage
from pipeline.corpus.witnesses.values_of_tests import ValuesOfTests
from pipeline.corpus.witnesses.written import ProgramWriter
from tests.corpus.own_tests.suites import RULE
from tests.corpus.own_tests.test_stage import USAGE
from tests.corpus.witnesses.libraries import run_in_folders
from tests.corpus.witnesses.test_stage import CHANGE, RELEASES, own_test, symbol

LIBRARY = {
    "echo": "text",
    "tidy": "text.replace('<b>', '*')",
    "loud": "text.upper()",
    "shout": "text.upper()",
    "louder": "text[::-1] if '<' in text else text.upper()",
    "is_number": "text.isdigit()",
    "is_empty": "not text",
    "folder": "'/tmp'",
    "inside": "text.title() if Desk.is_open else Desk.refuse()",
    "last": "__import__('time').sleep(60)",
    "lines": "open(text).readlines()",
    "dumps": "__import__('json').dumps([text])",
    "safe_dumps": "dumps(text).replace('<', '@')",
}
VALUES = RULE.written.model_copy(
    update={
        "neighbour_s": 0.2,
        "values": {"str": ("'some text'", "'<b>a</b>'"), "Any": RULE.written.values["Any"]},
    }
)
DESK = """
import contextlib
class Desk:
    is_open = False
    @staticmethod
    def refuse():
        raise RuntimeError("no desk is open")
    @contextlib.contextmanager
    def lent(self):
        Desk.is_open = True
        yield
"""


def function(name: str) -> Any:
    annotation = "Any" if name.endswith("dumps") else "str"
    text = {"name": "text", "annotation": annotation, "default": None, "kind": ParameterKind.POSITIONAL_OR_KEYWORD}
    return symbol(f"demo.{name}", "function", "1.0", "1.0") | {"parameters": [text]}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the stage on a library of which the second release has one class left."""
    code = "".join(f"def {name}(text):\n    return {body}\n" for name, body in LIBRARY.items())
    run_in_folders(monkeypatch, tmp_path, "demo", {"1.0": code + DESK, "2.0": DESK}, Outcome.IMPORT_ERROR)

    def staged(name: str, tests: Sequence[Any] = (), *, distinctive: bool = True, naming: int = 20) -> Any:
        path = f"demo.{name}"
        change = CHANGE | {"kind": ChangeKind.REMOVED, "new": None, "path": path, "canonical_path": path}
        desk = symbol("demo.Desk", "class", "1.0", None)
        symbols = [symbol("demo", "module", "1.0", None), desk, *map(function, LIBRARY)]
        tables: Any = {"releases": RELEASES, "symbols": symbols, "changes": [change], "own_tests": list(tests)}
        runner: Any = SimpleNamespace()
        rules = VALUES.model_copy(update={"naming": naming})
        output = witnesses_stage(tables, runner, RULE.model_copy(update={"written": rules}), USAGE)
        assert all(row["distinctive"] is distinctive for row in output.tables["witnesses"])
        rejects = [reject for reject in output.rejects if " beside " not in reject.key]
        return [row["old_code"] for row in output.tables["witnesses"]], rejects

    return staged


@pytest.mark.parametrize(
    ("name", "printing"),
    [
        pytest.param("tidy", "tidy('<b>a</b>'))  # *a</b>", id="another value where the first is given back"),
        pytest.param("louder", "louder('<b>a</b>'))  # >b/<a>b<", id="another value where a neighbour prints the same"),
        pytest.param(
            "safe_dumps",
            "safe_dumps('<b>one &amp; two</b>'))  # [\"@b>one &amp; two@/b>\"]",
            id="text with mark-up where a neighbour prints the same of all else",
        ),
        pytest.param("shout", "shout('<b>a</b>'))  # <B>A</B>", id="another name of the same function does no harm"),
    ],
)
def test_the_next_value_is_tried_where_others_print_the_same(stage: Any, name: str, printing: str) -> None:
    assert stage(name) == ([f"from demo import {name}\n\nprint({printing}\n"], [])


@pytest.mark.parametrize(
    ("name", "printing"),
    [
        pytest.param("echo", "echo('some text'))  # some text", id="it prints its argument"),
        pytest.param("is_number", "is_number('some text'))  # False", id="is_empty in its place prints the same"),
    ],
)
def test_a_program_with_the_output_of_a_neighbour_is_a_row_that_is_not_distinctive(
    stage: Any, name: str, printing: str
) -> None:
    assert stage(name, distinctive=False) == ([f"from demo import {name}\n\nprint({printing}\n"], [])


def test_an_assertion_that_an_api_returns_its_argument_is_no_witness(stage: Any) -> None:
    """Neither where the value has a name of its own: another test is one, else a program that is written."""
    code = "def test_it():\n    text = {0!r}\n    assert demo.tidy(text) == {1!r}\n"
    echoing, other = (
        own_test("1.0", "tidy") | {"id": given, "code": code.format(given, expected)}
        for given, expected in (("b", "b"), ("<b>c", "*c"))
    )
    assert stage("tidy", [echoing]) == (["from demo import tidy\n\nprint(tidy('<b>a</b>'))  # *a</b>\n"], [])
    assert stage("tidy", [echoing, other])[0] == ["import demo\n\ntext = '<b>c'\nprint(demo.tidy(text))  # *c\n"]


def test_a_test_that_only_says_yes_or_no_is_distinctive_where_no_neighbour_says_it_too(stage: Any) -> None:
    code = "def test_it():\n    assert demo.is_number('{0}') is {1}\n"
    for text, expected in (("a", False), ("12", True)):
        test = own_test("1.0", "is_number") | {"id": text, "code": code.format(text, expected)}
        codes, _ = stage("is_number", [test], distinctive=expected)
        assert codes == [f"import demo\n\nprint(demo.is_number('{text}'))  # {expected}\n"]


def test_how_long_a_library_takes_to_be_imported_says_nothing_of_a_variant(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.4)\n")
    imports = [line_of(node) for node in ast.parse("import slow").body]
    script = marked(script_of_variants(imports, ["import slow\nprint('variant')"], 0.2))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "variant" in done.stdout


def test_a_place_on_the_machine_is_no_output(stage: Any) -> None:
    named = "from demo import folder\n\nprint(type(folder).__name__)  # function\n"
    assert stage("folder", distinctive=False) == ([named], [])


def test_a_call_that_needs_a_context_is_made_in_that_of_the_tests(stage: Any) -> None:
    code = "def test_it():\n    desk = demo.Desk()\n    with desk.lent():\n        assert demo.is_number('1') is True\n"
    call = "desk = demo.Desk()\nwith desk.lent():\n    given = inside('some text')\nprint(given)  # Some Text\n"
    codes, _ = stage("inside", [own_test("1.0", "is_number") | {"code": code}])
    assert codes == [f"import demo\nfrom demo import inside\n\n{call}"]
    named = "from demo import inside\n\nprint(type(inside).__name__)  # function\n"
    assert stage("inside", distinctive=False) == ([named], [])


QUOTE = {"name": "quote", "annotation": None, "default": "True", "kind": ParameterKind.KEYWORD_ONLY}
QUOTING = Api(
    {
        f"demo.{name}": symbol(f"demo.{name}", "function", "1.0", None) | {"parameters": [QUOTE]}
        for name in ("f", "g", "_h")
    },
    ["demo"],
    {},
)


@pytest.mark.parametrize(
    ("keyword", "code", "printed", "expected"),
    [
        ("quote", "f('a', quote=False)", "'a'", {"without quote": "f('a')"}),
        ("quote", "g('a', quote=False)", "'a'", {}),
        (None, "f('a')", "True", {"the argument 'a'": "'a'", "g in its place": "g('a')"}),
        (None, "f('a')", "a longer output", {}),
        (None, "[f]", "True", {}),
    ],
)
def test_what_should_print_something_else(
    keyword: str | None, code: str, printed: str, expected: dict[str, str]
) -> None:
    side = ChangeSide(CHANGE | {"kind": ChangeKind.REMOVED}, "1.0", "2.0", "demo.f", keyword)
    lines = tuple(line_of(statement) for statement in ast.parse(f"from demo import f\nprint({code})").body)
    core: Any = None
    program = UsingProgram(own_test("1.0", "f"), lines, ((), ()), core)
    texts = variants(side, program, QUOTING, ["", printed], 24)
    assert texts == {
        name: f"from demo import {'g' if 'g(' in text else 'f'}\nprint({text})" for name, text in expected.items()
    }


SECOND_NAME = Api(
    {path: row | {"canonical_path": "demo.f"} if path == "demo.f2" else row for path, row in QUOTING.symbols.items()}
    | {"demo.f2": symbol("demo.f2", "alias", "1.0", None) | {"canonical_path": "demo.f"}},
    ["demo"],
    {},
)


@pytest.mark.parametrize("imported", ["f as h", "f2", "f2 as h"])
@pytest.mark.parametrize(("keyword", "expected"), [("quote", "without quote"), (None, "g in its place")])
def test_an_api_is_found_by_its_aliases(imported: str, keyword: str | None, expected: str) -> None:
    name = imported.split()[-1]
    side = ChangeSide(CHANGE | {"kind": ChangeKind.REMOVED}, "1.0", "2.0", "demo.f", keyword)
    text = f"from demo import {imported}\nprint({name}('a', quote=False))"
    core: Any = None
    program = UsingProgram(own_test("1.0", "f"), tuple(map(line_of, ast.parse(text).body)), ((), ()), core)
    changed = {
        "without quote": text.replace(", quote=False", ""),
        "g in its place": text.replace("f2", "g").replace("import f ", "import g "),
    }
    assert variants(side, program, SECOND_NAME, ["", "True"], 24)[expected] == changed[expected]


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("from demo import f\nprint(f(u'a', quote=True))  # 2", True),
        ("print(f('a', quote=False))", False),
        ("print(f('b'))", False),
        ("print(g('a', quote=True))", False),
    ],
)
def test_prefixes_of_texts_and_arguments_that_are_defaults_mean_nothing(code: str, same: bool) -> None:
    quote = {"name": "quote", "annotation": None, "default": "True", "kind": ParameterKind.KEYWORD_ONLY}
    api = Api({"demo.f": symbol("demo.f", "function", "1.0", None) | {"parameters": [quote]}}, ["demo"], {})
    plain = "from demo import f\nprint(f('a'))" if "import" in code else "print(f('a'))"
    assert (plain_code(code, "demo.f", api) == plain) is same


@pytest.mark.parametrize(
    ("code", "printed", "expected"),
    [
        ("print(demo.f('a'))", "A", 0),
        ("print(demo.f('a', size=[]))", "[1]", 0),
        ("print(demo.f('a'))", "True", 1),
        ("print(demo.f('a', strict=True))", "True", 1),
        ("print(demo.f('a'))", "", 3),
        ("print(demo.f('a'))", "[]", 2),
        ("print(demo.f('a'))", "<class 'demo.A'>", 2),
        ("print(demo.f('a'))", "a", 2),
        ("text = 'a'\nprint(demo.f(text))", "a", 2),
        ("items = []\nprint(demo.f(items, size=''))", "3", 2),
        ("items = make()\nprint(demo.f(items))", "3", 0),
        ("print(demo.LIMIT)", "7", 0),
        ("print(demo.f())", "7", 0),
    ],
)
def test_how_little_a_program_shows_of_its_api(code: str, printed: str, expected: int) -> None:
    assert emptiness(f"import demo\n{code}\n", "demo.f", [f"{printed}\n"]) == expected


def test_the_base_object_means_nothing() -> None:
    api = Api({}, ["demo"], {})
    assert plain_code("class A(object):\n    x = 1", None, api) == "class A:\n    x = 1"
    assert plain_code("class A(demo.B):\n    x = 1", None, api) == "class A(demo.B):\n    x = 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<member 'f' of 'A' objects>", False),
        ("<functools.cached_property object at 0x1>", False),
        ("<Validator for x > 3>", True),
    ],
)
def test_written_programs_print_values_and_no_descriptors(text: str, expected: bool) -> None:
    program: Any = SimpleNamespace(test=None)
    assert is_presentable(program, [text]) is expected


@pytest.mark.parametrize(
    ("call", "printed", "expected"),
    [
        pytest.param("f(value='NaN')", "(None, 'NaN')", False, id="its argument beside nothing"),
        pytest.param("f(1, value='NaN')", "(1, 'NaN')", False, id="all of its arguments"),
        pytest.param("f(value='NaN')", "NaN", False, id="its only argument"),
        pytest.param("f(value=3)", "3", False, id="a number"),
        pytest.param("f(1, value='NaN')", "NaN", True, id="one of several that the call chose"),
        pytest.param("f(value=(1, 2))", "(2, 1)", True, id="parts of its argument in another order"),
        pytest.param("f(value='NaN')", "(None, None)", True, id="no argument"),
        pytest.param("f(value='NaN')", "(1, 'NaN')", True, id="something beside it"),
        pytest.param("f(value='NaN')", "nan", True, id="something else"),
        pytest.param("f(value='NaN').value", "NaN", True, id="an attribute of what the call makes"),
    ],
)
def test_a_call_with_a_changed_parameter_does_not_return_its_argument(call: str, printed: str, expected: bool) -> None:
    change: Any = {"kind": ChangeKind.PARAMETER_RENAMED}
    side = ChangeSide(change, "1.0", "2.0", "demo.f", "value")
    core: Any = SimpleNamespace(form=UsageForm.CALL)
    lines = tuple(map(line_of, ast.parse(f"from demo import f\nprint({call})").body))
    for test in (None, own_test("1.0", "f")):
        program = UsingProgram(test, lines, ((), (core,)), core)
        assert is_distinctive(side, program, ["", f"{printed}\n"]) is expected


@pytest.mark.parametrize(("printed", "expected"), [("Text('')", False), ("Text()", False), ("Text('a')", True)])
def test_an_object_that_holds_nothing_shows_little(printed: str, expected: bool) -> None:
    change: Any = {"kind": ChangeKind.REMOVED}
    core: Any = SimpleNamespace(form=UsageForm.CALL)
    lines = tuple(map(line_of, ast.parse("from demo import Text\nprint(repr(Text()))").body))
    program = UsingProgram(None, lines, ((), (core,)), core)
    assert is_distinctive(ChangeSide(change, "1.0", "2.0", "demo.Text", None), program, ["", printed]) is expected


@pytest.mark.parametrize(("body", "expected"), [("return f", False), ("return lambda *a: f(*a).upper()", True)])
def test_a_decorator_that_leaves_its_function_as_it_is_shows_little(body: str, expected: bool) -> None:
    parameters: Any = [{"name": "f", "annotation": "Callable", "default": None, "kind": "positional_or_keyword"}]
    api = Api({"demo.mark": symbol("demo.mark", "function", "1.0", "1.0") | {"parameters": parameters}}, ["demo"], {})
    change: Any = {"kind": ChangeKind.REMOVED}
    side = ChangeSide(change, "1.0", "2.0", "demo.mark", None)
    writer = ProgramWriter(
        TestScripts([], {"1.0": api}, ("1.0", "2.0")), {"1.0": api}, ValuesOfTests([], [], VALUES), VALUES
    )
    decorating = [program for program in writer.programs(side) if "@mark" in text_of(program.lines)]
    program = next(each for each in decorating if "joined" in text_of(each.lines))
    code = text_of(program.lines).replace("from demo import mark", f"def mark(f): {body}")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert is_distinctive(side, program, [printed]) is expected


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        pytest.param([], RejectReason.NOT_PROVEN, id="a written program names no file of a suite"),
        pytest.param(["lines"], RejectReason.NEEDS_FILES, id="a test does"),
    ],
)
def test_a_missing_file_is_the_reason_for_tests_alone(stage: Any, tests: list[str], reason: RejectReason) -> None:
    rows, (reject,) = stage("lines", [lines_of_a_file(name) for name in tests], naming=0)
    assert (rows, reject.reason) == ([], reason)
    assert "FileNotFoundError" in reject.detail


def lines_of_a_file(name: str) -> Any:
    return own_test("1.0", name) | {"code": f"def test_it():\n    assert demo.{name}('a.txt') == ['a']\n"}
