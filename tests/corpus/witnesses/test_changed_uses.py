"""Programs of tests that use what changed, and which failures a change leads to."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind, Reach
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import ChangeSide, TestScripts, blamed, is_symptom, sides_of
from pipeline.corpus.witnesses.script_runs import as_asserted
from pipeline.lake.rows import OwnTestRow
from tests.corpus.witnesses.test_scripts import api, change, lines_of, symbol

API = api("total", "other")
for _parameter in API.symbols["demo.total"]["parameters"]:
    _parameter |= {"kind": "positional_or_keyword", "default": "7" if _parameter["name"] == "a" else None}


def own_test(
    body: str, first: str = "1.0", last: str = "1.0", preamble: str = "import demo\n", head: str = "()"
) -> OwnTestRow:
    code = f"def test_it{head}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    row: OwnTestRow = {"id": body + first, "version": first, "last_version": last, "preamble": preamble, "code": code}
    return row | {"test": "test_it", "apis": ["demo.other", "demo.total"]}


def side(kind: ChangeKind = ChangeKind.REMOVED, new: str | None = None, parameter: str | None = None) -> ChangeSide:
    return sides_of(change("demo.total", kind, new, parameter))[0]


def programs(test: Any, of: ChangeSide) -> list[str]:
    scripts = TestScripts([test], {"1.0": API, "2.0": API}, ("1.0", "2.0"))
    return [text_of(each.lines) for each in scripts.programs(test, of)]


BY_NAME = side(ChangeKind.PARAMETER_RENAMED, "c", "a")
NAME_ALONE = side(ChangeKind.PARAMETER_KIND, "keyword_only", "b")
PROGRAMS: dict[str, tuple[Any, ChangeSide, list[str]]] = {
    "an assertion on the use": (
        own_test("x = 1\nassert demo.other() == 3\nassert demo.total(2) == 4"),
        side(),
        ["import demo\n\nprint(demo.total(2))\n"],
    ),
    "the first assertion that depends on it": (
        own_test("x = demo.total(2)\nassert demo.other() == 3\nassert x == 4\nassert x + 1 == 5"),
        side(),
        ["import demo\n\nx = demo.total(2)\nprint(x)\n", "import demo\n\nx = demo.total(2)\nprint(demo.other())\n"],
    ),
    "a decorator in a class that is given a parameter": (
        own_test("class Box:\n    @demo.total(a=1)\n    def get(self):\n        return 2\nassert Box().get() == 2"),
        side(ChangeKind.PARAMETER_REMOVED, parameter="a"),
        [
            "import demo\n\nclass Box:\n\n    @demo.total(a=1)\n    def get(self):\n        return 2\n\nprint(Box().get())\n"
        ],
    ),
    "a decorator, with all that comes before the assertion": (
        own_test(
            "import pytest\ngot = []\n@demo.total\ndef add():\n    got.append(1)\nrun()\nadd.x = got\nassert add.x == [1]"
        ),
        side(),
        [
            "import demo\n\ngot = []\n\n@demo.total\ndef add():\n    got.append(1)\n\nadd.x = got\nprint(add.x)\n",
            "import demo\n\ngot = []\n\n@demo.total\ndef add():\n    got.append(1)\n\nrun()\nadd.x = got\nprint(add.x)\n",
        ],
    ),
    "what must fail, without what follows": (
        own_test("with pytest.raises(KeyError):\n    demo.total(2)\nassert demo.total(3) == 4"),
        side(),
        [
            "import demo\n\ntry:\n    demo.total(2)\nexcept KeyError as error:\n    print(type(error).__name__)\n",
            "import demo\n\nprint(demo.total(3))\n",
        ],
    ),
    "what a test prints, without what must fail before it": (
        own_test("with pytest.raises(KeyError):\n    demo.other(2)\nassert demo.total(3) == 4"),
        side(),
        ["import demo\n\nprint(demo.total(3))\n"],
    ),
    "a call by another name of the API": (
        own_test("assert func(2) == 4", head="(func=demo.total)"),
        side(),
        ["import demo\n\nprint(demo.total(2))\n"],
    ),
    "fixtures that only pytest runs are left out": (
        own_test("assert demo.total(2) == 4", preamble="import demo\n@pytest.fixture\ndef f():\n    yield\n"),
        side(),
        ["import demo\n\nprint(demo.total(2))\n"],
    ),
    "a parameter by name, as written": (
        own_test("assert demo.total(a=2) == 4"),
        BY_NAME,
        ["import demo\n\nprint(demo.total(a=2))\n"],
    ),
    "a parameter by name, where it is given by position": (
        own_test("assert demo.total(2, 3) == 4"),
        BY_NAME,
        ["import demo\n\nprint(demo.total(2, 3))\n", "import demo\n\nprint(demo.total(a=2, b=3))\n"],
    ),
    "a parameter by position, with the default of the one before it": (
        own_test("assert demo.total(b=3) == 4\nassert demo.total() == 5"),
        NAME_ALONE,
        ["import demo\n\nprint(demo.total(7, 3))\n"],
    ),
    "what a class asserts, with what calls it": (
        own_test("class Box:\n    def get(self):\n        assert demo.total(2) == 4\nbox = Box()\nbox.get()\nlen([])"),
        side(),
        [
            "import demo\n\nclass Box:\n\n    def get(self):\n        print(demo.total(2))\n\nbox = Box()\n_ = box.get()\n",
        ],
    ),
    "a method that hides the name of its decorator": (
        own_test(
            "class Box:\n    @total\n    def total(self):\n        return 3\nassert Box().total() == 3",
            preamble="from demo import total\n",
        ),
        side(),
        [
            "from demo import total\n\nclass Box:\n\n    @total\n    def total(self):\n        return 3\n\n"
            "print(Box().total())\n",
        ],
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_programs(case: str) -> None:
    test, of, expected = PROGRAMS[case]
    assert programs(test, of) == expected


@pytest.mark.parametrize(
    ("test", "of", "reason"),
    [
        (own_test("demo.total(2)\nassert len([]) == 0"), side(), RejectReason.NO_CHECK),
        (own_test("assert demo.total(client) == 3", head="(client)"), side(), RejectReason.NO_CHECK),
        (own_test("assert demo.total(pytest) == 3"), side(), RejectReason.NO_CHECK),
        (own_test("f = demo.total\nassert f == 3"), BY_NAME, RejectReason.UNTESTED),
        (own_test("assert demo.total.__name__ in demo.other()"), side(), RejectReason.UNTESTED),
    ],
)
def test_no_program(test: Any, of: ChangeSide, reason: RejectReason) -> None:
    with pytest.raises(Refused) as refused:
        programs(test, of)
    assert refused.value.reason is reason


@pytest.mark.parametrize(
    ("body", "of", "expected"),
    [
        ("limit = 4\nassert demo.total(limit).most == limit", side(), "limit = 4\nprint(demo.total(limit).most)\n"),
        ("wanted = sum([5])\nassert wanted == demo.total(2)", side(), "print(demo.total(2))\n"),
        ("x = demo.total(2)\nassert f'<{x.most}>' == str(x)", side(), "x = demo.total(2)\nprint(str(x))\n"),
        ("assert demo.total(a=2) == sum([4])", BY_NAME, "print(demo.total(a=2))\n"),
        ("x = demo.total(2)\nassert isinstance(x, tuple)", side(), "x = demo.total(2)\nprint(x)\n"),
        ("assert isinstance(demo.total(2).most, (int, str))", side(), "print(demo.total(2).most)\n"),
        ("x = demo.total(2)\nassert x is not None", side(), "x = demo.total(2)\nprint(x)\n"),
        ("assert isinstance(demo.total(2), type)", side(), None),
        ("assert isinstance(sum([1]), demo.total)", side(), None),
        ("x = demo.total(2)\nassert x is not sum", side(), None),
        ("assert demo.total(2) == 4", side(), None),
        ("assert demo.total(2) > sum([1])", side(), None),
        ("x = demo.total(2)\nassert x in [sum([1])]", side(), None),
    ],
)
def test_the_value_in_place_of_an_equality(body: str, of: ChangeSide, expected: str | None) -> None:
    test = own_test(body)
    scripts = TestScripts([test], {"1.0": API, "2.0": API}, ("1.0", "2.0"))
    valued = scripts.valued(scripts.programs(test, of)[0], of)
    assert (valued and text_of(valued.lines)) == (expected and f"import demo\n\n{expected}")


def test_tests_of_home_go_first_and_those_beyond_the_change_are_none() -> None:
    before, home, after = (own_test("assert demo.total(2) == 4", version, version) for version in ("0.9", "1.0", "2.0"))
    scripts = TestScripts([after, before, home], {"1.0": API, "2.0": API}, ("0.9", "1.0", "2.0", "3.0"))
    old, new = side(), sides_of(change("demo.total", ChangeKind.INTRODUCED, None))[0]
    assert [row["version"] for row in scripts.using(old)] == ["1.0", "0.9"]
    assert [row["version"] for row in scripts.using(new)] == ["2.0"]


ELSEWHERE = own_test("assert add(2) == 4", preamble="from demo.inner import total as add\n") | {
    "apis": ["demo.inner.total"]
}
ALIASED = Api(
    {
        path: symbol(path, "module" if path == "demo.inner" else "function", "a") | {"canonical_path": canonical}
        for path, canonical in (("demo.inner", "demo.inner"), ("demo.inner.total", "demo.core.total"))
    }
    | {"demo.total": symbol("demo.total", "alias") | {"canonical_path": "demo.core.total"}},
    ["demo"],
    {},
)


def test_a_test_that_imports_it_from_elsewhere_imports_it_from_the_place_that_went() -> None:
    scripts = TestScripts([ELSEWHERE], {"1.0": ALIASED}, ("1.0", "2.0"))
    assert scripts.using(side()) == [ELSEWHERE]
    (program,) = scripts.programs(ELSEWHERE, side())
    assert text_of(program.lines) == "from demo import total as add\n\nprint(add(2))\n"
    assert program.core.path == "demo.total"


OLD_NAME = Api(
    {"demo": symbol("demo", "module"), "demo.inner": symbol("demo.inner", "module")}
    | {
        path: symbol(path, "function", "a") | {"canonical_path": "demo.inner.total"}
        for path in ("demo.inner.total", "demo.inner.sum_all", "demo.sum_up")
    },
    ["demo"],
    {},
)


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("demo.sum_up", "assert total(2) == 4", "from demo import sum_up\n\nprint(sum_up(2))\n"),
        (
            "demo.sum_up",
            "sum_up = 2\nassert total(sum_up) == 4",
            "from demo import sum_up as total\n\nsum_up = 2\nprint(total(sum_up))\n",
        ),
        # Of two names in one module either is right.
        (
            "demo.inner.sum_all",
            "assert total(2) == 4",
            "from demo.inner import sum_all as total\n\nprint(total(2))\n",
        ),
    ],
)
def test_an_older_name_is_used_as_such(path: str, body: str, text: str) -> None:
    test = own_test(body, preamble="from demo.inner import total\n")
    scripts = TestScripts([test], {"1.0": OLD_NAME}, ("1.0", "2.0"))
    (program,) = scripts.programs(test, sides_of(change(path, ChangeKind.REMOVED, None, None))[0])
    assert text_of(program.lines) == text


SIDES: dict[ChangeKind, list[tuple[str, str, str | None]]] = {
    ChangeKind.REMOVED: [("1.0", "demo.total", None)],
    ChangeKind.INTRODUCED: [("2.0", "demo.total", None)],
    ChangeKind.RENAMED: [("1.0", "demo.total", None), ("2.0", "c", None)],
    ChangeKind.PARAMETER_REMOVED: [("1.0", "demo.total", "a")],
    ChangeKind.PARAMETER_ADDED_OPTIONAL: [("2.0", "demo.total", "a")],
    ChangeKind.PARAMETER_RENAMED: [("1.0", "demo.total", "a"), ("2.0", "demo.total", "c")],
    ChangeKind.PARAMETER_KIND: [],
    ChangeKind.PARAMETER_DEFAULT: [("1.0", "demo.total", None), ("2.0", "demo.total", None)],
    ChangeKind.RETURNS: [],
    ChangeKind.DEPRECATED: [],
}


@pytest.mark.parametrize("kind", SIDES)
def test_sides(kind: ChangeKind) -> None:
    found = sides_of(change("demo.total", kind, "c", "a"))
    assert [(each.home, each.path, each.keyword) for each in found] == SIDES[kind]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("positional_or_keyword", "keyword_only", [("1.0", None, "a")]),
        ("positional_or_keyword", "positional_only", [("1.0", "a", None)]),
        ("keyword_only", "positional_or_keyword", [("2.0", None, "a")]),
        ("positional_only", "keyword_only", [("1.0", None, "a"), ("2.0", "a", None)]),
    ],
)
def test_sides_of_a_change_of_parameter_kind(
    old: str, new: str, expected: list[tuple[str, str | None, str | None]]
) -> None:
    found = sides_of(change("demo.total", ChangeKind.PARAMETER_KIND, new, "a") | {"old": old})
    assert [(each.home, each.keyword, each.positional) for each in found] == expected


def test_what_is_unlisted_has_no_side() -> None:
    assert sides_of(change("demo.total", ChangeKind.REMOVED, None) | {"reach": Reach.UNLISTED}) == []


MISSING, MISMATCH, OTHER = Outcome.API_MISSING, Outcome.SIGNATURE_MISMATCH, Outcome.WRONG_EXCEPTION


@pytest.mark.parametrize(
    ("kind", "keyword", "outcome", "message", "expected"),
    [
        (ChangeKind.REMOVED, None, MISSING, "AttributeError: module 'demo' has no attribute 'total'", True),
        (ChangeKind.REMOVED, None, MISSING, "ImportError: cannot import name 'total' from 'demo'", True),
        (ChangeKind.REMOVED, None, MISSING, "AttributeError: module 'demo' has no attribute 'totals'", False),
        (ChangeKind.REMOVED, None, OTHER, "ValueError: total", False),
        (
            ChangeKind.PARAMETER_REMOVED,
            "a",
            MISMATCH,
            "TypeError: total() got an unexpected keyword argument 'a'",
            True,
        ),
        (ChangeKind.PARAMETER_REMOVED, "a", MISMATCH, "TypeError: f() got an unexpected keyword argument 'b'", False),
        (ChangeKind.PARAMETER_KIND, None, MISMATCH, "TypeError: total() takes 1 positional argument but 2 were", True),
        (ChangeKind.PARAMETER_KIND, None, MISMATCH, "TypeError: f() takes 1 positional argument but 2 were", False),
        (ChangeKind.PARAMETER_REMOVED, "a", OTHER, "ValueError: a", False),
        (
            ChangeKind.PARAMETER_REMOVED,
            "a",
            MISMATCH,
            "TypeError: total() got an unexpected keyword argument 'b'",
            False,
        ),
        (ChangeKind.ATTRIBUTE_VALUE, None, Outcome.FAILED_ASSERTION, "", True),
        (ChangeKind.BASES, None, MISSING, "AttributeError: 'total' object has no attribute 'inherited'", True),
        (ChangeKind.BASES, None, MISMATCH, "TypeError: total() got an unexpected keyword argument 'b'", False),
        (ChangeKind.BASES.value, None, Outcome.FAILED_ASSERTION, "", False),
        (ChangeKind.DEPRECATED, None, OTHER, "DeprecationWarning: total() is deprecated", True),
        (ChangeKind.DEPRECATED, None, OTHER, "DeprecationWarning: totals() is deprecated", False),
        (ChangeKind.DEPRECATED, None, OTHER, "ValueError: total", False),
        (ChangeKind.PARAMETER_DEPRECATED, "a", OTHER, "FutureWarning: `a` is deprecated", True),
        (ChangeKind.PARAMETER_DEPRECATED, "a", OTHER, "FutureWarning: total() is deprecated", False),
    ],
)
def test_the_failure_names_what_changed(
    kind: ChangeKind, keyword: str | None, outcome: Outcome, message: str, expected: bool
) -> None:
    changed = change("demo.total", kind, None, keyword)
    assert is_symptom(changed, "demo.total", keyword, outcome, message, "print(total(2))") is expected


def test_a_test_that_waits_for_a_warning_in_vain_shows_nothing() -> None:
    changed = change("demo.total", ChangeKind.ATTRIBUTE_VALUE, None)
    text = "import demo\nwith demo._testing.assert_produces_warning(FutureWarning):\n    demo.total(2)\n"
    assert not is_symptom(changed, "demo.total", None, Outcome.FAILED_ASSERTION, "", text)
    assert is_symptom(changed, "demo.total", None, Outcome.WRONG_EXCEPTION, "", text)


def test_other_bases_show_where_a_program_asks_for_them() -> None:
    changed = change("demo.total", ChangeKind.BASES, None)
    assert is_symptom(changed, "demo.total", None, Outcome.FAILED_ASSERTION, "", "print(isinstance(x, total))")


@pytest.mark.parametrize(
    ("body", "place", "expected"),
    [
        ("x = 1\nassert demo.total(x) == 4", 2, True),
        ("x = 1\nassert demo.total(x) == 4", 1, False),
        ("from demo import total\nassert total(1) == 4", 1, True),
        ("def f():\n    return demo.total(1)\nassert f() == 4", 2, True),
    ],
)
def test_the_line_that_fails_bears_on_the_change(body: str, place: int, expected: bool) -> None:
    test = own_test(body)
    scripts = TestScripts([test], {"1.0": API}, ("1.0",))
    (program, *_) = scripts.programs(test, side())
    assert blamed(side(), program, place, frozenset({"demo.total"})) is expected


@pytest.mark.parametrize(
    ("body", "printed", "expected"),
    [
        ("assert f() == 2", "2", True),
        ("assert f() == 2", "3", False),
        ("assert f() == 'a'", "a", True),
        ("assert f() == 'a'", "b", False),
        ("assert f() == {1: 2}", "Box({1: 2})", True),
        ("assert f() == g()", "True", True),
        ("assert f() == g()", "False", False),
        ("assert f()", "False", False),
        ("f()", "anything", True),
        ("for x in f():\n    assert x == 1", "1", True),
    ],
)
def test_what_is_printed_is_what_the_test_asserts(body: str, printed: str, expected: bool) -> None:
    assert as_asserted(lines_of(body), [f"{printed}\n"]) is expected


def test_private_parameters_have_no_sides() -> None:
    removed = change("demo.total", ChangeKind.PARAMETER_REMOVED, None, "_expect")
    assert sides_of(removed) == []
    assert sides_of(removed | {"parameter": "expect"}) != []
