"""Comments that name an API of the snippet are left out, and nothing else."""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.corpus.snippets.comments import without_comments

CASES = {
    "x = f(1)  # use df.append here\n": ("x = f(1)\n", 1),
    "# append is slow\nx = 1\n": ("x = 1\n", 1),
    "if x:\n    # Append\n    y = 1\n": ("if x:\n    y = 1\n", 1),
    "# first\n# append\n# last\n\n# other\nx = 1\n": ("\n# other\nx = 1\n", 1),
    "x = 1  # append\n# of something else\n": ("x = 1\n# of something else\n", 1),
    "x = f(  # append\n    # append too\n    1,\n)\n": ("x = f(\n    1,\n)\n", 2),
    "x = '# append'\n": ("x = '# append'\n", 0),
    "x = y  # appended, appending, df_append\n": ("x = y  # appended, appending, df_append\n", 0),
    "x = []  # type: append\n": ("x = []  # type: append\n", 0),
    "    x = 1  # append\n": ("    x = 1\n", 1),
    "x = '  # append": ("x = '  # append", 0),
    "x = 1": ("x = 1", 0),
}


@pytest.mark.parametrize("code", CASES)
def test_comments_that_name_an_api_go(code: str) -> None:
    assert without_comments(code, {"append"}) == CASES[code]


@settings(max_examples=10)
@given(st.sets(st.sampled_from(["the", "a", "line", "tags", "sequence", "dump", "fruit", "words"])))
@pytest.mark.parametrize("module", [difflib, textwrap, inspect])
def test_the_program_stays_the_same(module: object, names: set[str]) -> None:
    text = inspect.getsource(module)  # type: ignore[arg-type]
    bare, removed = without_comments(text, names)
    assert ast.dump(ast.parse(bare)) == ast.dump(ast.parse(text))
    assert (removed > 0) == (bare != text)
