"""Classes that a call makes: their members, as far as literals tell them."""

import enum

import pytest

from tests.api.surface.trees import rows

CASES = {
    "an enum of words": ("from enum import Enum\nShade = Enum('Shade', 'DARK LIGHT')\n", {"DARK", "LIGHT"}),
    "with commas, another name of the module": ("import enum as e\nShade = e.IntFlag('Shade', 'A, B')\n", {"A", "B"}),
    "an enum of pairs": ("import enum\nShade = enum.Enum('Shade', [('DARK', 1), ('LIGHT', 2)])\n", {"DARK", "LIGHT"}),
    "an enum of names": ("import enum\nShade = enum.StrEnum('Shade', ['DARK', 'LIGHT'])\n", {"DARK", "LIGHT"}),
    "an enum of a mapping, by keyword": ("import enum\nShade = enum.Enum('Shade', {'DARK': 1}, module='pkg')\n", {"DARK"}),
    "a TypedDict": ("import typing\nShade = typing.TypedDict('Shade', {'dark': int, 'light': str})\n", {"dark", "light"}),
    "a dataclass": (
        "from dataclasses import make_dataclass\nShade = make_dataclass('Shade', ['dark', ('light', int, 0)])\n",
        {"dark", "light"},
    ),
    "a type": ("Shade = type('Shade', (object,), {'limit': 3, 'mix': lambda self, n: n})\n", {"limit", "mix"}),
}  # fmt: skip


@pytest.mark.parametrize(("source", "members"), CASES.values(), ids=CASES)
def test_members(source, members):
    found = rows(source)
    assert found["pkg.Shade"]["kind"] == "class"
    assert {path.removeprefix("pkg.Shade.") for path in found if path.startswith("pkg.Shade.")} == members


VALUES = {
    "Enum('S', 'A B C')": ["1", "2", "3"],
    "Enum('S', ['A', 'B'], start=0)": ["0", "1"],
    "Flag('S', 'A B C D')": ["1", "2", "4", "8"],
    "IntFlag('S', ['A', 'B', 'C'], start=0)": ["0", "1", "2"],
    "Flag('S', 'A B C', start=3)": ["3", "4", "8"],
    "StrEnum('S', 'DARK Light')": ["'dark'", "'light'"],
    "Enum('S', [('A', 5), ('B', 'x')])": ["5", "'x'"],
    "Enum('S', 'A B', start=FIRST)": ["auto()", "auto()"],
    "Enum('S', [])": [],
}  # fmt: skip


@pytest.mark.parametrize(("call", "values"), VALUES.items(), ids=VALUES)
def test_values_are_those_that_the_enum_makes(call, values):
    found = rows(f"from enum import *\nfrom enum import Enum, Flag, IntFlag, StrEnum\nShade = {call}\n")
    made = [row["value"] for path, row in found.items() if path.startswith("pkg.Shade.")]
    assert made == values
    if "FIRST" not in call:
        names = vars(enum)
        assert values == [repr(one.value) for one in eval(call, dict(names)).__members__.values()]


def test_what_is_called():
    found = rows(CASES["a dataclass"][0])["pkg.Shade"]["parameters"]
    assert [(p["name"], p["default"]) for p in found] == [("dark", None), ("light", "0")]


@pytest.mark.parametrize(
    "call",
    ["Enum('Shade', NAMES)", "Enum(value)", "Enum('Shade', [name()])", "type(value)", "type('S', (), namespace)"],
)
def test_a_class_call_without_literals_stays_an_attribute(call):
    assert rows(f"from enum import Enum\nShade = {call}\n")["pkg.Shade"]["kind"] == "attribute"


def test_a_name_that_is_another_one_makes_no_enum():
    assert rows("from elsewhere import Enum\nShade = Enum('Shade', 'A B')\n")["pkg.Shade"]["kind"] == "attribute"
