"""Texts of exceptions that requirements state, and other texts that tests want and nobody says."""

from __future__ import annotations

import ast

import pytest

from pipeline.families.messages import announced, sources_of_tests, unstated
from pipeline.families.repository_tasks.specification import requirement_of

RAISED = {
    "a text": ("raise ValueError('n must be at least 1')", [":raises ValueError: The text is 'n must be at least 1'."]),
    "parameters in it": ("raise ValueError(f'{n} of {size()} {n.unit!r}')", [":raises ValueError: The text is '{n} of … {n.unit!r}'."]),
    "percent": ("raise TypeError('bad %r, not %s' % (n, type(n)))", [":raises TypeError: The text is 'bad {n!r}, not …'."]),
    "format": ("raise TypeError('bad {}, {!r}'.format(n, n))", [":raises TypeError: The text is 'bad {n}, {n!r}'."]),
    "a name for it": ("msg = 'too ' + 'many'\n    raise lib.Bad(msg)", [":raises Bad: The text is 'too many'."]),
    "two for one name": ("msg = 'a'\n    msg = 'bc'\n    raise Bad(msg)", [":raises Bad:"]),
    "none": ("raise SystemExit()", [":raises SystemExit:"]),
    "a class": ("raise KeyError", [":raises KeyError:"]),
    "what was caught": ("try: f()\n    except E as error:\n        raise\n    raise error", []),
    "in a function inside": ("def g():\n        raise Bad('no way')\n    return g", [":raises Bad: The text is 'no way'."]),
    "a warning": ("warnings.warn('old one', DeprecationWarning)", [":warns DeprecationWarning: The text is 'old one'."]),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISED)
def test_exceptions_and_warnings_of_a_body_with_their_texts(name: str) -> None:
    body, expected = RAISED[name]
    (node,) = ast.parse(f"def f(n):\n    {body}\n").body
    assert isinstance(node, ast.FunctionDef)
    assert announced(node) == expected
    docstring = "Divide it into parts.\n\n:raises KeyError: if it is none\n"
    lines = requirement_of(docstring, node).arguments.split("\n")
    assert [line for line in lines if line.startswith((":raises", ":warns"))] == [
        ":raises KeyError: if it is none.",
        *(line for line in expected if line != ":raises KeyError:"),
    ]


MODULE = '''def f(n):
    """Say which one."""
    if n:
        print("ERROR", n)
        return "°"
    raise ValueError("n must not be zero")
'''
TESTS = {
    "a word": ("def test_f():\n    assert err.startswith('ERROR')\n", ["ERROR"]),
    "a sign": ("def test_f():\n    assert f(1) == '12°'\n", ["°"]),
    "a part of a text": ("def test_f():\n    assert 'not be zero' in err\n", ["n must not be zero"]),
    "a pattern": ("def test_f():\n    raises(ValueError, match='must not be .ero')\n", ["n must not be zero"]),
    "an escaped pattern": (
        "def test_f():\n    raises(ValueError, match=r'n must not\\sbe (zero)$')\n",
        ["n must not be zero"],
    ),
    "a pattern that takes for ever": ("def test_f():\n    raises(ValueError, match='(n+ ?)+(n+ ?)+x y')\n", []),
    "one word of a text": ("def test_f():\n    assert 'zero' in err\n", []),
    "nothing": ("def test_f():\n    '''ERROR'''\n    assert f(1)\n", []),
}


@pytest.mark.parametrize("name", TESTS)
def test_texts_that_tests_expect_are_unstated_unless_visible(name: str) -> None:
    source, expected = TESTS[name]
    assert unstated(MODULE, range(3, 7), "", [source], 3) == expected
    assert unstated(MODULE, range(3, 7), "ERROR ° n must not be zero", [source], 3) == []
    assert unstated(MODULE, range(1, 3), "", [source], 3) == []


FORMATTED = """
def replace(**parts):
    raise TypeError("replace() got %d keyword argument(s): %s" % (len(parts), parts))
"""


@pytest.mark.parametrize(
    ("pattern", "visible", "is_unstated"),
    [
        (r"replace\(\).*unknown.*", "def replace(**parts):", True),
        (r"replace\(\).*unknown.*", "raises TypeError: replace() got … keyword argument(s): …", False),
        (r".*unknown.*", "", False),
        (r"\(\)", "", False),
    ],
    ids=["a piece of it", "stated but for the values", "what a value has", "no letters"],
)
def test_a_pattern_wants_the_text_that_it_has_a_piece_of(pattern: str, visible: str, is_unstated: bool) -> None:
    test = f"def test_it():\n    with pytest.raises(TypeError, match={pattern!r}):\n        replace(unknown=1)\n"
    expected = ["replace() got %d keyword argument(s): %s"] if is_unstated else []
    assert unstated(FORMATTED, range(1, 9), visible, [test], 3) == expected


@pytest.mark.parametrize(
    ("match", "is_unstated"),
    [("'set'", False), ("b'offset'", False), ("None", False), ("'.*offset'", True), ("'bad offset.*'", True)],
    ids=["a piece of a word", "bytes", "no pattern", "a word", "several words"],
)
def test_a_single_word_of_a_pattern_is_a_word_of_the_text(match: str, is_unstated: bool) -> None:
    code = "def f(n):\n    raise ValueError('None of these: bad offsets or bad offset %r' % n)\n"
    test = f"def test_it():\n    check(ValueError, match={match})\n"
    assert bool(unstated(code, range(1, 9), "", [test], 3)) is is_unstated


def test_sources_of_tests_have_parameters_and_constants() -> None:
    text = (
        "WANTED = 'a'\nOTHER = 'b'\nclass TestIt:\n    @pytest.mark.parametrize('x', ['c'])\n"
        "    def test_a(self, x):\n        assert x == WANTED\n    def test_b(self):\n        pass\n"
    )
    files = {"tests/test_it.py": text, "tests/test_broken.py": "def ("}
    (constant, function) = sources_of_tests(
        files.get, ["tests/test_it.py::TestIt::test_a[c]", "tests/test_broken.py::test_c", "gone.py::test_d"]
    )
    assert constant == "WANTED = 'a'"
    assert "'c'" in function
    assert "test_b" not in function
