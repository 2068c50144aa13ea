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
    "usual values": ("", "fetch(0, 1, None, True, '')", []),
    "a word of a string that the program has": ("vowels = 1\n", "fetch('vowel')", []),
    "words that it has not": ("", "fetch('Ada Lovelace')", ["Ada", "Lovelace"]),
    "marks are no words": ("", "fetch(', ')", []),
    "a display that stands there": ("x = [1, 2,\n 3]\n", "fetch([1, 2, 3])", []),
    "a display of what stands there otherwise": ("x = 1, 2, 3\n", "fetch([3, 2])", ["[3, 2]"]),
    "a negative display": ("", "fetch([-1, 0])", ["[-1, 0]"]),
    "a display of names": ("x = y = 1\n", "fetch([x, y])", []),
    "names that the span binds": ("items = 1\n", "[fetch(x) for x in items]", []),
    "a name that comes from nowhere": ("", "fetch(items)", ["items"]),
    "Python's names": ("", "list(fetch(__name__))", []),
    "another API of the library, and its parameter": ("", "fetch.load(strict=True)", []),
    "an attribute of self": ("", "fetch(self.rows)", ["rows"]),
    "a definition": ("", "def use(): fetch()", ["use"]),
    "a parameter": ("", "lambda x: fetch(x)", []),
    "an f-string": ("", "fetch(f'total {0}')", ["total"]),
}


@pytest.mark.parametrize("case", PIECES)
def test_pieces_that_nothing_shows(case: str) -> None:
    before, hidden, pieces = PIECES[case]
    source = parse_source(f"{before}{hidden}\n")
    span = len(before.encode()), len((before + hidden).encode())
    assert unknowable(source, span, before, "fetch", MASKING.guessing) == pieces
