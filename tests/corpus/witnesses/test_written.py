"""Programs written from a change: which use of the API, with which objects and values."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import ParameterKind, SymbolKind
from pipeline.corpus.own_tests.rules import WrittenRules
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import TestScripts, UsingProgram, sides_of
from pipeline.corpus.witnesses.values_of_tests import ValuesOfTests
from pipeline.corpus.witnesses.written import ProgramWriter, type_names
from tests.corpus.own_tests.suites import RULE
from tests.corpus.witnesses.test_changed_uses import own_test
from tests.corpus.witnesses.test_scripts import change

BY_NAME_ONLY = ParameterKind.KEYWORD_ONLY
EITHER = ParameterKind.POSITIONAL_OR_KEYWORD


def parameter(name: str, annotation: str | None = None, default: str | None = None, kind: str = EITHER) -> Any:
    return {"name": name, "annotation": annotation, "default": default, "kind": kind}


def symbol(path: str, kind: str, *parameters: Any, labels: Any = ()) -> Any:
    row: Any = {"path": path, "canonical_path": path, "kind": kind, "labels": list(labels), "bases": []}
    return row | {"returns": None, "file": "demo.py", "parameters": list(parameters)}


SYMBOLS = [
    symbol("demo", SymbolKind.MODULE),
    symbol("demo.total", SymbolKind.FUNCTION, parameter("x", "int"), parameter("y", "str", "''")),
    symbol("demo.may", SymbolKind.FUNCTION, parameter("x", "int"), parameter("odd", default="None")),
    symbol("demo.named", SymbolKind.FUNCTION, parameter("odd"), parameter("size", kind=BY_NAME_ONLY)),
    symbol("demo.both", SymbolKind.FUNCTION, parameter("x", "Index"), parameter("y", "Index"), parameter("label")),
    symbol("demo.unknown", SymbolKind.FUNCTION, parameter("x", "int"), parameter("when", "datetime")),
    symbol("demo.LIMIT", SymbolKind.ATTRIBUTE),
    symbol("demo.Box", SymbolKind.CLASS, parameter("size", "int")),
    symbol("demo.Box.open", SymbolKind.METHOD),
    symbol("demo.Box.make", SymbolKind.METHOD, parameter("size", "int"), labels=["classmethod"]),
    symbol("demo.Box.width", SymbolKind.PROPERTY),
    symbol("demo.Box.wait", SymbolKind.METHOD, parameter("until", "datetime")),
    symbol("demo.Box.Lid", SymbolKind.CLASS),
    symbol("demo.Box.Lid.colour", SymbolKind.ATTRIBUTE),
    symbol("demo.inner", SymbolKind.MODULE),
    symbol("demo.inner.fit", SymbolKind.FUNCTION, parameter("x", "int")),
    symbol("demo.inner.Box", SymbolKind.CLASS),
    symbol("demo.empty", SymbolKind.MODULE),
    symbol("demo.weigh", SymbolKind.FUNCTION, parameter("what", "Optional[Box]")),
    symbol("demo.wrap", SymbolKind.FUNCTION, parameter("what", "Wrapping")),
    symbol("demo.Wrapping", SymbolKind.CLASS, parameter("inner", "Wrapping")),
    symbol("demo.Jar", SymbolKind.CLASS, parameter("size", "int"), parameter("label", "str", "None")),
    symbol("demo.Jar.close", SymbolKind.METHOD),
    symbol("demo.And", SymbolKind.CLASS),
    symbol("demo.And.merge", SymbolKind.METHOD),
    symbol("demo.List", SymbolKind.CLASS),
    symbol("demo.List.merge", SymbolKind.METHOD),
    symbol("demo.Jar.label", SymbolKind.ATTRIBUTE),
    symbol("demo.until", SymbolKind.FUNCTION, parameter("day", "date")),
    symbol("demo.Shape", SymbolKind.CLASS),
    symbol("demo.Shape.area", SymbolKind.METHOD),
    symbol("demo.Square", SymbolKind.CLASS, parameter("size", "int")) | {"bases": ["core.Shape[int]"]},
    symbol("demo.Square.area", SymbolKind.METHOD) | {"canonical_path": "demo.Shape.area"},
    symbol("demo.draw", SymbolKind.FUNCTION, parameter("what", "Shape")),
    symbol("demo.Note", SymbolKind.CLASS, parameter("text", default="''")),
    symbol("demo.mark", SymbolKind.FUNCTION, parameter("function")),
    symbol("demo.Kept", SymbolKind.CLASS, parameter("getter", "Callable[[Any], str]")),
    symbol("demo.apply", SymbolKind.FUNCTION, parameter("function"), parameter("x", "int")),
]
API = Api({row["path"]: row for row in SYMBOLS}, ["demo"], {})
VALUES = {"int": ("3",), "Index": ("3", "5"), "str": ("'some text'",), "date": ("datetime.date(2024, 5, 17)",)}
NAMES = {"str": frozenset({"label"}), "Callable": frozenset({"function"})}
NAMED = {"label": ("'a label'",)}
RULES = RULE.written.model_copy(
    update={"others": ("'z'",), "calls": 2, "values": VALUES, "names": NAMES, "named": NAMED}
)


def written(
    path: str,
    tests: Any = (),
    kind: ChangeKind = ChangeKind.REMOVED,
    parameter: str | None = None,
    rules: WrittenRules = RULES,
) -> Any:
    """Return the texts of the programs from the release before a change."""
    scripts = TestScripts(tests, {"1.0": API}, ("1.0", "2.0"))
    writer = ProgramWriter(scripts, {"1.0": API}, ValuesOfTests(tests, SYMBOLS, rules), rules)
    return [text_of(each.lines) for each in writer.programs(sides_of(change(path, kind, None, parameter))[0])]


JOINED = "def joined(*parts):\n    return ' and '.join(map(str, parts))\n"
VALUE = "    def value(self):\n        return 'some text'\n"
MADE = own_test("box = demo.Box(7)\nassert box.width == 7") | {"apis": ["demo.Box"]}
LONGER = own_test("size = 8\nbox = demo.Box(size)\nother = demo.Box(7)\nassert box.width == 8") | {"apis": ["demo.Box"]}
FILLED = own_test("box = demo.Box(7)\nbox.put(1)\nlabel = 'a'\nbox['a'] = 2\nassert box.width == 7\nbox.put(3)") | {
    "apis": ["demo.Box"]
}
WRITTEN: dict[str, tuple[Any, list[str]]] = {
    "an argument that is an object of the library": (
        written("demo.weigh"),
        ["from demo import Box\nfrom demo import weigh\n\nprint(weigh(Box(3)))\n"],
    ),
    "an argument of a class that may be abstract": (
        written("demo.draw"),
        [
            "from demo import Shape\nfrom demo import draw\n\nprint(draw(Shape()))\n",
            "from demo import Square\nfrom demo import draw\n\nprint(draw(Square(3)))\n",
        ],
    ),
    "a method of a class that may be abstract": (
        written("demo.Shape.area", kind=ChangeKind.BEHAVIOUR),
        [
            "from demo import Shape\n\nshape = Shape()\nprint(shape.area())\n",
            "from demo import Square\n\nsquare = Square(3)\nprint(square.area())\n",
        ],
    ),
    "an argument that needs one of its own kind": (written("demo.wrap"), []),
    "a parameter of a class, and what an object has of its name first": (
        written("demo.Jar", (), ChangeKind.PARAMETER_REMOVED, "label"),
        [
            f"from demo import Jar\n\nprint(Jar(3, label={value}).{asked})\n"
            for asked in ("label", "close()")
            for value in ("'a label'", "'some text'")
        ],
    ),
    "what a module holds": (written("demo.LIMIT"), ["from demo import LIMIT\n\nprint(LIMIT)\n"]),
    "a call with what it requires, by annotation": (
        written("demo.total"),
        ["from demo import total\n\nprint(total(3))\n"],
    ),
    "the values that tests give to a parameter of that name": (
        written("demo.total", [own_test("f(x=9)\nassert demo.total(4) == 4")]),
        ["from demo import total\n\nprint(total(4))\n", "from demo import total\n\nprint(total(9))\n"],
    ),
    "an object of the library that tests give to a parameter of that name": (
        written("demo.wrap", [own_test("box = demo.inner.Box()\nf(what=box)\nassert demo.LIMIT")]),
        ["import demo.inner\nfrom demo import wrap\n\nprint(wrap(demo.inner.Box()))\n"],
    ),
    "a parameter that went, by name, with another value than its default": (
        written("demo.total", (), ChangeKind.PARAMETER_REMOVED, "y"),
        [
            "from demo import total\n\nprint(total(3, y='some text'))\n",
        ],
    ),
    "parameters of one type get different values; a name may tell the type": (
        written("demo.both"),
        [
            "from demo import both\n\nprint(both(3, 5, 'a label'))\n",
            "from demo import both\n\nprint(both(5, 3, 'some text'))\n",
        ],
    ),
    "a parameter that may be left out, of no known type": (
        written("demo.may", (), ChangeKind.PARAMETER_REMOVED, "odd"),
        [],
    ),
    "a parameter of a type of which no value is known": (written("demo.unknown"), []),
    "nor one of a type that tests give a value of": (
        written("demo.unknown", [own_test("f(when=2020)\nassert demo.total(4) == 4")])[:1],
        ["from demo import unknown\n\nprint(unknown(4, 2020))\n"],
    ),
    "what follows an argument by name is given by name": (
        written("demo.named", (), ChangeKind.PARAMETER_REMOVED, "odd"),
        ["from demo import named\n\nprint(named(odd='z', size='z'))\n"],
    ),
    "a member of an object that tests make": (
        written("demo.Box.width", [MADE]),
        [
            "import demo\n\nbox = demo.Box(7)\nprint(box.width)\n",
            "from demo import Box\n\nbox = Box(7)\nprint(box.width)\n",
            "from demo import Box\n\nbox = Box(3)\nprint(box.width)\n",
        ],
    ),
    "a member of an object by the signature of its class": (
        written("demo.Box.open"),
        ["from demo import Box\n\nbox = Box(3)\nprint(box.open())\n"],
    ),
    "each way to make an object once, the shorter one first": (
        written("demo.Box.open", [LONGER])[:2],
        [
            "import demo\n\nother = demo.Box(7)\nprint(other.open())\n",
            "import demo\n\nsize = 8\nbox = demo.Box(size)\nprint(box.open())\n",
        ],
    ),
    "an object as it was made, then as it is where the test first looks at something": (
        written("demo.Box.open", [FILLED])[:2],
        [
            "import demo\n\nbox = demo.Box(7)\nprint(box.open())\n",
            "import demo\n\nbox = demo.Box(7)\nbox.put(1)\nbox['a'] = 2\nprint(box.open())\n",
        ],
    ),
    "a class method of the class first": (
        written("demo.Box.make")[:1],
        ["from demo import Box\n\nprint(Box.make(3))\n"],
    ),
    "a class by what its objects give, calls first": (
        written("demo.Box"),
        [
            "from demo import Box\n\nprint(Box(3).make(3))\n",
            "from demo import Box\n\nprint(Box(3).open())\n",
            "from demo import Box\n\nprint(Box(3).width)\n",
            "from demo import Box\n\nprint(repr(Box(3)))\n",
        ],
    ),
    "a class by an object with something in it": (
        written("demo.Note"),
        [
            "from demo import Note\n\nprint(repr(Note(text='some text')))\n",
            "from demo import Note\n\nprint(repr(Note()))\n",
        ],
    ),
    "a decorator of functions and methods": (
        written("demo.mark"),
        [
            f"from demo import mark\n\n@mark\n{JOINED}\nprint(joined('some text', 'other words'))\n",
            f"from demo import mark\n\nclass Example:\n\n    @mark\n{VALUE}\nprint(Example().value)\n",
        ],
    ),
    "a class that decorates": (
        written("demo.Kept")[1:2],
        [f"from demo import Kept\n\nclass Example:\n\n    @Kept\n{VALUE}\nprint(Example().value)\n"],
    ),
    "what takes more than a function decorates nothing": (
        written("demo.apply"),
        [],
    ),
    "a parameter of a class by what its objects give": (
        written("demo.Box", (), ChangeKind.PARAMETER_REMOVED, "size"),
        [
            "from demo import Box\n\nprint(Box(size=3).make(3))\n",
            "from demo import Box\n\nprint(Box(size=3).open())\n",
            "from demo import Box\n\nprint(Box(size=3).width)\n",
        ],
    ),
    "a member of a class in a class": (
        written("demo.Box.Lid.colour"),
        [
            "from demo import Box\n\nprint(Box.Lid.colour)\n",
            "from demo import Box\n\nlid = Box.Lid()\nprint(lid.colour)\n",
        ],
    ),
    "a module by the functions in it, then its classes, imported from it": (
        written("demo.inner"),
        [
            "from demo.inner import fit\n\nprint(fit(3))\n",
            "from demo.inner import Box\n\nprint(repr(Box()))\n",
        ],
    ),
    "a module without functions": (written("demo.empty"), []),
    "a value of the standard library with its import": (
        written("demo.until"),
        ["import datetime\nfrom demo import until\n\nprint(until(datetime.date(2024, 5, 17)))\n"],
    ),
    "a class whose small name is a keyword": (
        written("demo.And.merge"),
        ["from demo import And\n\nand_ = And()\nprint(and_.merge())\n"],
    ),
    "a class whose small name is built in": (
        written("demo.List.merge"),
        ["from demo import List\n\nlist_ = List()\nprint(list_.merge())\n"],
    ),
    "what the release does not have": (written("demo.gone"), []),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_programs(case: str) -> None:
    found, expected = WRITTEN[case]
    assert found == expected


def further(path: str, way: str, tests: Any = (), **values: tuple[str, ...]) -> list[str]:
    """Return the programs that follow from those of a removal once these ran."""
    rules = RULES.model_copy(update={"values": VALUES | values, "contexts": 1})
    writer = ProgramWriter(
        TestScripts(tests, {"1.0": API}, ("1.0", "2.0")), {"1.0": API}, ValuesOfTests(tests, SYMBOLS, rules), rules
    )
    side = sides_of(change(path, ChangeKind.REMOVED, None, None))[0]
    programs = [getattr(writer, way)(side, program) for program in writer.programs(side)]
    return [
        text_of(each.lines) for more in programs for each in ([more] if isinstance(more, UsingProgram) else more or [])
    ]


def test_a_call_that_gives_nothing_prints_what_it_changed() -> None:
    assert further("demo.total", "changed", int=("[3, 1]", "3", "io.StringIO('a')", "str()")) == [
        "from demo import total\n\ngiven = [3, 1]\ntotal(given)\nprint(given)\n",
    ]
    assert further("demo.total", "changed", int=("io.StringIO('a')",)) == [
        "import io\nfrom demo import total\n\ngiven = io.StringIO('a')\ntotal(given)\nprint(given.getvalue())\n",
    ]
    assert further("demo.LIMIT", "changed") == []


def test_what_an_object_gives_is_printed_and_not_the_letters_of_its_text() -> None:
    assert further("demo.Box", "listed")[-1] == (
        "from itertools import islice\nfrom demo import Box\n\nprint(list(islice(Box(3), 8)))\n"
    )


ENTERING = {
    "with": "box = demo.Box(7)\nwith box.lent():\n    assert demo.other() == 4",
    "a stack": "box = demo.Box(7)\nstack = ExitStack()\nstack.enter_context(box.lent())\nassert demo.other() == 4",
    "neither": "box = demo.Box(7)\nassert box.lent() == 4",
    "a context of pytest": "with pytest.raises(ValueError):\n    demo.other()",
    "a context of no library": "path = str()\nwith path.open():\n    assert demo.other() == 4",
    "a context of a fixture": "with client.lent():\n    assert demo.other() == 4",
}
WITHIN = (
    "import demo\nfrom demo import total\n\nbox = demo.Box(7)\nwith box.lent():\n    given = total(3)\nprint(given)\n"
)


@pytest.mark.parametrize("case", ENTERING)
def test_a_call_is_tried_in_the_context_that_tests_enter_most(case: str) -> None:
    head = "(client)" if "client" in ENTERING[case] else "()"
    tests = [own_test(ENTERING[case], head=head) | {"apis": ["demo.Box", "demo.total"]}]
    assert further("demo.total", "in_contexts", tests) == ([WITHIN] if case in ("with", "a stack") else [])


def test_a_text_that_nobody_gave_stands_once_in_a_call() -> None:
    texts = ("'some text'", "'other words'")
    rules = RULES.model_copy(update={"others": texts[:1], "values": VALUES | {"str": texts}})
    programs = written("demo.named", (), ChangeKind.PARAMETER_REMOVED, "odd", rules)
    assert programs == ["from demo import named\n\nprint(named(odd='some text', size='other words'))\n"]
    # The values of tests stay.
    tests = [own_test("f(odd='b', size='b')\nassert demo.total(4) == 4")]
    assert "odd='b', size='b'" in written("demo.named", tests, ChangeKind.PARAMETER_REMOVED, "odd", rules)[0]


def test_none_are_written_where_the_rules_want_none() -> None:
    none = RULES.model_copy(update={"programs": 0})
    writer = ProgramWriter(
        TestScripts([], {"1.0": API}, ("1.0", "2.0")), {"1.0": API}, ValuesOfTests([], [], none), none
    )
    assert writer.programs(sides_of(change("demo.LIMIT", ChangeKind.REMOVED, None, None))[0]) == []


def test_objects_that_fixtures_or_pytest_make_are_left_out() -> None:
    tests = [
        own_test("box = demo.Box(client)\nassert box.width == 7", head="(client)") | {"apis": ["demo.Box"]},
        own_test("box = demo.Box(pytest)\nassert box.width == 7") | {"apis": ["demo.Box"]},
    ]
    assert written("demo.Box.width", tests) == ["from demo import Box\n\nbox = Box(3)\nprint(box.width)\n"]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("int", ["int"]),
        ("int | None", ["int"]),
        ("t.Optional[t.Union[str, bytes]]", ["str", "bytes"]),
        ("list[int]", ["list"]),
        ("t.IO[str] | IO[bytes]", ["TextIO", "BinaryIO"]),
        ("typing.IO[AnyStr]", ["IO"]),
        ("'Mapping[str, int]'", ["Mapping"]),
        ("typing.Callable[..., int]", ["Callable"]),
        ("Annotated[int, 'text of no type (']", ["int"]),
        ("not a type(", []),
        (None, []),
    ],
)
def test_types_of_an_annotation(annotation: str | None, expected: list[str]) -> None:
    assert type_names(annotation) == expected
