"""Words that tell of a source what must be looked at: found in one pass as each would be found alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.parse.keyword_scan import (
    GETATTR,
    GLOBALS,
    MAKES_NAMES,
    PYTHON_2,
    RAISES_ATTRIBUTE_ERROR,
    WARNS,
    keywords_in,
)
from pipeline.api.surface.parse.sources import SourceFile
from pipeline.api.surface.parse_cache import read_file
from tests.api.surface.trees import READING_RULES

WORDS = (*MAKES_NAMES, GLOBALS, GETATTR, RAISES_ATTRIBUTE_ERROR, *WARNS)
OLD = (
    "print 'x'",
    "except IOError, e:",
    "raise ValueError, 'x'",
    "exec code in names",
    "except IOError as e:",
    "print x",
    "except (OSError, IOError), e:",
    "n = 100L",
    "a <> b",
    "'0L1'",
)

texts = st.lists(st.sampled_from([*WORDS, *OLD, "\n", "    ", "x = ", "é", "raise ", "#"])).map("".join)


def alone(text: str) -> set[str]:
    """Look for each word by itself."""
    told = {word for word in WORDS if word in text}
    if re.search(r"except (?:[\w.]+|\([\w., ]+\)) ?, ?\w+ ?:|raise [\w.]+ ?, ?[\"'\w]|exec [\w\"']+ in ", text):
        told.add(PYTHON_2)
    if re.search(r"[0-9]L\b|<> ?[\w\"'(\[{-]", text):
        told.add(PYTHON_2)
    if re.search(r"^[ \t]*print [\"'\w%`]", text, re.M):
        told.add(PYTHON_2)
    return told


@given(texts)
def test_one_pass_finds_what_looking_for_each_word_finds(text: str) -> None:
    assert keywords_in(text) == alone(text)


@given(st.lists(texts))
def test_parts_of_a_text_cut_at_lines_tell_what_the_whole_tells(parts: list[str]) -> None:
    assert frozenset().union(*map(keywords_in, parts)) == keywords_in("\n".join(parts))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("globals()['x'] = 1", {"globals(", GLOBALS}),
        ("globals(", {"globals("}),
        ("raise AttributeError, name", {RAISES_ATTRIBUTE_ERROR, PYTHON_2}),
        ("raise AttributeError(name)", {RAISES_ATTRIBUTE_ERROR}),
        ("éé\n\tprint 'x'", {PYTHON_2}),
        ("x = print 'x'", set()),
        ("setattr(cls, 'é', 1)", {"setattr("}),
        ("", set()),
    ],
)
def test_what_is_told(text: str, told: set[str]) -> None:
    assert keywords_in(text) == told


def test_a_file_with_half_a_character_in_it_is_unparsed() -> None:
    content = b"# coding: unicode_escape\nX = '\\ud800'\nprint 'x'\n"

    record = read_file(SourceFile("pkg", "pkg.py", "0" * 64), content, READING_RULES)

    assert record.problem is not None
    assert "surrogates not allowed" in record.problem
