"""Code as lines of HTML: every character comes back as it was, wherever masks and differences begin and end."""

from __future__ import annotations

import difflib

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from pipeline.quality.annotation.web.code import LONGEST, Span, lines
from pipeline.quality.annotation.web.side_by_side import MOST_LINES, side_by_side

CODE = st.text(st.sampled_from("ab_ (\n\t\"'<>&#=1.:é😀\\"), max_size=60)


def text_of(html: str) -> str:
    return BeautifulSoup(f"<pre>{html}</pre>", "html.parser").get_text()


def texts(code: str, language: str = "python", spans: tuple[Span, ...] = ()) -> list[str]:
    return [text_of(line) for line in lines(code, language, spans)]


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, tuple[Span, ...]]:
    code = draw(CODE)
    edges = sorted(draw(st.sets(st.integers(0, len(code)), max_size=6)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    return code, tuple(Span(start, end, "mask") for start, end in pairs)


@given(spans())
def test_every_character_is_in_its_line(drawn):
    code, marks = drawn
    assert texts(code, "python", marks) == code.split("\n")


@given(spans())
def test_marked_text_is_that_of_the_spans(drawn):
    code, marks = drawn
    html = "\n".join(lines(code, "python", marks))
    page = BeautifulSoup(f"<pre>{html}</pre>", "html.parser")
    marked = "".join(tag.get_text() for tag in page.select(".mask"))
    assert marked == "".join(code[mark.start : mark.end] for mark in marks).replace("\n", "")


@given(CODE, CODE)
def test_both_sides_are_whole_and_in_order(old, new):
    pairs = side_by_side(old, new, "python")
    for side, code in (("old", old), ("new", new)):
        cells = [getattr(pair, side) for pair in pairs if getattr(pair, side).number]
        assert [cell.number for cell in cells] == list(range(1, len(cells) + 1))
        assert [text_of(cell.html) for cell in cells] == code.split("\n")
    for pair in pairs:
        assert (pair.kind == "gone") == (pair.new.number is None)
        assert (pair.kind == "new") == (pair.old.number is None)


@given(CODE, CODE)
def test_equal_lines_stand_beside_each_other(old, new):
    same = [(p.old.number, p.new.number) for p in side_by_side(old, new, "python") if p.kind == "same"]
    blocks = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False).get_matching_blocks()
    assert same == [(b.a + n + 1, b.b + n + 1) for b in blocks for n in range(b.size)]


def test_long_texts_are_rendered_without_colours_and_not_compared():
    code = "x = 1\n" * (LONGEST // 6 + 1)
    assert lines(code, "python")[0] == "x = 1"
    old = "a\n" * (MOST_LINES + 1)
    assert {pair.kind for pair in side_by_side(old, old, "python")} == {"changed"}


@pytest.mark.parametrize("language", ["python", "java", "csharp", "javascript", "pytb", "no language", ""])
def test_any_language(language):
    assert texts("a < b;\n", language) == ["a < b;", ""]


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "python",
            'def f(a):  # é😀 why\n    return "x" + str(1)',
            {
                "def": "keyword",
                "f": "name",
                "# é😀 why": "comment",
                "return": "keyword",
                '"x"': "string",
                "str": "name",
                "1": "number",
            },
        ),
        ("python", 'f"{len(a)}b"', {'f"': "string", "len": "name", 'b"': "string"}),
        ("python", "for x in [MASK](None", {"for": "keyword", "None": "keyword"}),
        ("java", "return 1; // no", {"return": "keyword", "1": "number", "// no": "comment"}),
        ("javascript", 'const a = "b"', {"const": "keyword", '"b"': "string"}),
    ],
)
def test_pieces_have_the_class_of_their_token(language, code, expected):
    page = BeautifulSoup("\n".join(lines(code, language)), "html.parser")
    result = {tag.get_text(): tag["class"][0].removeprefix("t-") for tag in page.select("span[class]")}
    assert {text: result.get(text) for text in expected} == expected
