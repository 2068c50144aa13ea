"""Import statements are taken out of masked code, and nothing else is."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluation.prompts.code import UnreadableCode, without_imports

TABLE = {
    "both kinds": ("import a\nfrom b import [token-mask]\nx = 1\n", "x = 1\n"),
    "over several lines, with their comments": ("from b import (\n    [token-mask],  # why\n    c,\n)  # end\nx = 1\n", "x = 1\n"),
    "with a backslash": ("from a \\\n    import b\nx = 1\n", "x = 1\n"),
    "what shares the line stays": ("import a; a.[token-mask](1); import b  # c\n", "a.[token-mask](1)\n"),
    "in a function": ("def f():\n    import a\n    return a.[token-mask]\n", "def f():\n    return a.[token-mask]\n"),
    "below a masked head": ("import a\n[line-mask]\n    x = 1\ny = 2\n", "[line-mask]\n    x = 1\ny = 2\n"),
    "below a masked block": ("import a\n\n[block-mask]\n", "\n[block-mask]\n"),
    "words that begin so": ("imported = 1\nfrom_a = 2\n", "imported = 1\nfrom_a = 2\n"),
    "in a string": ('x = """\nimport a\n"""\nimport a\n', 'x = """\nimport a\n"""\n'),
    "a generator's from": ("def f():\n    yield from [token-mask]()\n", "def f():\n    yield from [token-mask]()\n"),
    "raise from, over lines": ("raise (A(\n) \n) from b\n", "raise (A(\n) \n) from b\n"),
    "a mask in a string": ("import a\nx = '[token-mask] [line-mask]'\n", "x = '[token-mask] [line-mask]'\n"),
    "characters of several bytes": ("é = '日本'; import a\nx = 'é'\n", "é = '日本'\nx = 'é'\n"),
    "a form feed": ("import a\n\x0cx = 1\n", "\x0cx = 1\n"),
    "a line separator in a string": ("x = 'a\u2028b'\nimport c\ny = 1\n", "x = 'a\u2028b'\ny = 1\n"),
    "no newline at the end": ("x = 1\nimport a", "x = 1\n"),
    "on the line of a head": ("if a: import b\nx = 1\n", "if a: import b\nx = 1\n"),
    "nothing else": ("import a\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_without_imports(case: str) -> None:
    code, expected = TABLE[case]
    assert without_imports(code) == expected


@pytest.mark.parametrize("code", ["x = (\n", "'''", "def f():\n        a\n    b\n"])
def test_what_is_no_python_is_refused(code: str) -> None:
    with pytest.raises(UnreadableCode):
        without_imports(code)


STATEMENTS = st.lists(
    st.sampled_from(["import a", "from b import (\n    c,\n)", "x = '''\nimport d\n'''", "f(1)  # é", "é = [\n  2,\n]", "y = 3"]),
    min_size=1,
)  # fmt: skip


@given(STATEMENTS, st.sampled_from(["\n", "; ", "\n\n"]))
def test_the_other_statements_are_left_as_they_are(statements: list[str], parted: str) -> None:
    parts = [text if "#" not in text or parted != "; " else text.partition("  #")[0] for text in statements]
    code = parted.join(parts) + "\n"
    left = [node for node in ast.parse(code).body if not isinstance(node, ast.Import | ast.ImportFrom)]
    found = ast.parse(without_imports(code)).body
    assert [ast.dump(node) for node in found] == [ast.dump(node) for node in left]
