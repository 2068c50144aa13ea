from __future__ import annotations

import pytest

from pipeline.corpus.snippets.names import free_names, syntax_error

FREE = [
    ("f(x)", ["f", "x"]),
    ("x = 1\nf(x)", ["f"]),
    ("first = first(x)", ["first", "x"]),
    ("x += 1", ["x"]),
    ("x: int = y", ["y"]),
    ("import a.b as c, d.e\nc; d; e", ["e"]),
    ("from a import b as c\nb; c", ["b"]),
    ("def f(): return g(h)\ndef h(): pass", ["g"]),
    ("def f(a, *b, c=d, **e): a; b; c; e", ["d"]),
    ("class A(B):\n    y = 1\n    def m(self): return A, y", ["B", "y"]),
    ("[a for a in b if c]", ["b", "c"]),
    ("lambda a: a + k", ["k"]),
    ("for i in q: i\ni", ["q"]),
    ("with o() as f: f", ["o"]),
    ("try: pass\nexcept E as e: e", ["E"]),
    ("f'{a!r:{b}}'", ["a", "b"]),
    ("if (n := g()): n", ["g"]),
    ("@deco\ndef f(): pass", ["deco"]),
    ("print(len([]), __name__)", []),
    ("f(", []),
]


@pytest.mark.parametrize(("code", "expected"), FREE)
def test_free_names(code: str, expected: list[str]) -> None:
    assert free_names(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1", None),
        ("print 1", "line 1: Missing parentheses in call to 'print'. Did you mean print(...)?"),
        ("\nreturn 1", "line 2: 'return' outside function"),
        ("nonlocal x", "line 1: nonlocal declaration not allowed at module level"),
        ("a\0b", "line 1: source code string cannot contain null bytes"),
    ],
)
def test_syntax_errors(code: str, expected: str | None) -> None:
    assert syntax_error(code) == expected
