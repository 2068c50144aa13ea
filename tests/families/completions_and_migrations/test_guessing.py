"""What of a hidden span nobody can know."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.completions_and_migrations.guessing import unknowable
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import parse_source

MASKING = load(RULES / "masking.yaml", MaskingRules)

PIECES = {
    "a value that stands nowhere": ("", "fetch(7)", ["7"]),
    "part of another number is not it": ("x = 17\n", "fetch(7)", ["7"]),
    "its digits apart are no number": ("x = 1\ny = 3\n", "fetch(1.3)", ["1.3"]),
    "usual values beside a variable": ("x = 2\n", "fetch(x, 0, 1, None, True, '', [])", []),
    "usual values alone": ("import lib\n", "lib.fetch(0, True, [])", ["0", "True", "[]"]),
    "a part of a number of the program": ("x = '1000'\n", "fetch(x, '100')", ["100"]),
    "a word of a string that the program has": ("vowels = 1\n", "fetch('vowel')", []),
    "words that it has not": ("", "fetch('Ada Lovelace')", ["Ada", "Lovelace"]),
    "marks beside a variable": ("x = 1\n", "fetch(x, ', ')", []),
    "marks alone": ("", "fetch('?')", ["'?'"]),
    "a display that stands there": ("x = [1, 2,\n 3]\n", "fetch([1, 2, 3])", []),
    "a display of what stands there otherwise": ("x = 1, 2, 3\n", "fetch([3, 2])", ["[3, 2]"]),
    "a negative display": ("", "fetch([-1, 0])", ["[-1, 0]"]),
    "a display of names": ("x = y = 1\n", "fetch([x, y])", []),
    "names that the span binds": ("items = 1\n", "[fetch(x) for x in items]", []),
    "a name that comes from nowhere": ("", "fetch(items)", ["items"]),
    "Python's names": ("", "list(fetch(__name__))", []),
    "another API of the library": ("x = 1\n", "fetch.load(x)", []),
    "a keyword": ("x = 1\n", "fetch(x, strict=True)", ["strict"]),
    "a keyword that the program has": ("use(x, strict=1)\n", "fetch(x, strict=True)", []),
    "an argument without any variable": ("import lib\n", "lib.fetch(object())", ["object()"]),
    "a variable that the span uses": ("x = 1\n", "y = fetch(x)\ny", []),
    "a variable that nothing uses": ("x = 1\n", "y = fetch(x)", ["y"]),
    "a variable that is used": ("y = x = 1\n", "y = fetch(x)", []),
    "the variable of a loop": ("x = 1\n", "for each in fetch(x): print(each)", []),
    "an attribute of self": ("", "fetch(self.rows)", ["rows"]),
    "a definition": ("", "def use(): fetch()", ["use"]),
    "a parameter": ("", "lambda x: fetch(x)", []),
    "an f-string": ("", "fetch(f'total {0}')", ["total", "0"]),
}


@pytest.mark.parametrize("case", PIECES)
def test_pieces_that_nothing_shows(case: str) -> None:
    before, hidden, pieces = PIECES[case]
    source = parse_source(f"{before}{hidden}\n")
    span = len(before.encode()), len((before + hidden).encode())
    assert unknowable(source, span, before, "fetch", MASKING.guessing) == pieces


@pytest.mark.parametrize(
    ("after", "pieces"),
    [("", ["Reader"]), ("Reader()\n", [])],
    ids=["a name of a class that nothing shows", "one that the program uses"],
)
def test_the_name_of_a_definition_whose_first_line_is_hidden(after: str, pieces: list[str]) -> None:
    line, rest = "class Reader(fetch):\n", "    size = 1\n" + after
    source = parse_source(line + rest)
    assert unknowable(source, (0, len(line) - 1), rest, "fetch", MASKING.guessing) == pieces
