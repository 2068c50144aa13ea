"""Generated functions of Python, with every kind of block in every place, comments and other scripts."""

from __future__ import annotations

from hypothesis import strategies as st

Lines = list[str]

_SIMPLE = st.sampled_from(
    [
        ["x = 1"],
        ["value = call(x, 'é', key=[1, 2])"],
        ["return (x,", "        y)"],
        ["raise ValueError('ß')  # why"],
        ["assert x, 'a # is no comment'"],
        ["pass"],
        ["x = '''", "no # comment", "  '''"],
        ["a = 1; b = 2"],
        ["import os"],
        ["del x"],
        ["...", "'a text'"],
    ]
)
_COMMENTS = st.sampled_from([["# one"], ["# ä first", "# second"], ["    # astray"], [""], ["#"]])
_HEADERS = st.sampled_from(
    [
        ["for x in y:"],
        ["while x:  # header"],
        ["with a as b:"],
        ["with (a as b,", "      c):"],
        ["def inner(a, b=1, *c):"],
        ["@decorated", "async def late():"],
        ["class Inner(Base):"],
        ["if x:"],
    ]
)
_TAILS = {
    "if x:": [["elif y:", "else:"], ["else:"], ["elif z:"]],
    "for x in y:": [["else:"]],
    "try:": [["except A:"], ["except (A, B) as e:", "else:", "finally:"], ["finally:"]],
}


def _indent(lines: Lines) -> Lines:
    return [f"    {line}" if line else line for line in lines]


def _suite(body: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    """A suite that may begin with comments and must hold a statement."""
    return st.tuples(st.lists(_COMMENTS, max_size=1), _SIMPLE, st.lists(body, max_size=2)).map(
        lambda parts: [line for comment in parts[0] for line in comment] + parts[1] + [l for b in parts[2] for l in b]  # noqa: E741
    )


@st.composite
def _compound(draw: st.DrawFn, body: st.SearchStrategy[Lines]) -> Lines:
    header = draw(_HEADERS) if draw(st.booleans()) else ["try:"]
    lines = [*header, *_indent(draw(_suite(body)))]
    tails = _TAILS.get(header[-1], [[]])
    tail = draw(st.sampled_from(tails if header == ["try:"] else [[], *tails]))
    for clause in tail:
        lines += [clause, *_indent(draw(_suite(body)))]
    return lines


@st.composite
def _match(draw: st.DrawFn, body: st.SearchStrategy[Lines]) -> Lines:
    cases = [["case 1:", *_indent(draw(_suite(body)))] for _ in range(draw(st.integers(1, 2)))]
    return ["match x:", *_indent([line for case in cases for line in case])]


_body = st.recursive(
    st.one_of(_SIMPLE, _COMMENTS),
    lambda inner: st.one_of(_compound(inner), _match(inner), _suite(inner)),
    max_leaves=12,
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module with one function among other lines."""
    docstring = draw(st.sampled_from([[], ['"""Does it."""'], ['"""Does', "it: ü.", '"""']]))
    function = ["def function(a, b: 'int' = 1) -> None:", *_indent([*docstring, *draw(_suite(_body))])]
    above = draw(st.sampled_from([[], ["# Café"], ["import os", ""]]))
    below = draw(st.sampled_from([[], ["", "x = 1"], ["# end"]]))
    return "\n".join([*above, *function, *below]) + draw(st.sampled_from(["", "\n"]))
