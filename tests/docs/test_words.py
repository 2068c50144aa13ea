"""Sentences of the documents are short and use the words of the field."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, name_of, sentences

MOST_WORDS = 25
WORD = re.compile(r"[A-Za-z0-9`][\w`'’.-]*")
PRIVATE = re.compile(
    r"\b(?:told|tells?|stands?|stood|said|wanted|whoever|whatever|nobody|somebody|anybody)\b"
    r"|(?:^|[.:;,(] ?)(?:what|who|that of which)\b(?![^.]*\?)",
    re.IGNORECASE,
)
"""Words that have other meanings elsewhere, and clauses with what or who as a subject."""


def complaints(page_sentences: list[str]) -> list[str]:
    found = []
    for sentence in page_sentences:
        if (length := len(WORD.findall(sentence))) > MOST_WORDS:
            found.append(f"{length} words: {sentence}")
        found += [f"{match[0]!r}: {sentence}" for match in PRIVATE.finditer(sentence)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_sentences_are_short_and_in_words_of_the_field(page) -> None:
    found = complaints(list(sentences(page)))
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    ("sentence", "complaint"),
    [
        ("What went is gone.", "'What'"),
        ("The index is down; who waits sees nothing.", "'; who'"),
        ("A row stands in the table.", "'stands'"),
        ("One " * 26, "26 words"),
    ],
)
def test_what_is_complained_about(sentence: str, complaint: str) -> None:
    assert [line.startswith(complaint) for line in complaints([sentence])] == [True]


@pytest.mark.parametrize(
    "sentence", ["Which command shows what changed?", "The card explains what a column holds.", "One " * 25]
)
def test_plain_sentences_pass(sentence: str) -> None:
    assert complaints([sentence]) == []
