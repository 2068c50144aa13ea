"""Descriptions of code that tests run: their first sentence, and arguments that nobody gives."""

from __future__ import annotations

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.samples import Drafter
from pipeline.families.passed_parameters import NOTHING_PASSED, request_of
from pipeline.families.problems.descriptions import (
    completed,
    is_reference,
    untrue_result,
    with_first_sentence,
    without_starred,
)
from pipeline.families.problems.statement import Source, describe
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter, Request, Text

DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
STRIP = "Strips values from the beginning and end of an iterable. Stripped items will match the value. Returns a list."


def request(docstring: str, *hidden: str) -> Request:
    return request_of("", hidden, (docstring,), "", None, NOTHING_PASSED, (), DRAFTING)


def described(docstring: str, *hidden: str) -> Text:
    asked = request(docstring, *hidden)
    text = OfflineWriter(DRAFTING).text(asked)
    assert text is not None
    return completed(text, asked, "def solve(items): ...\n", DRAFTING)


RESTORED = {
    "most words of the name": (STRIP, "strip_iter", STRIP, False),
    "the name itself": (
        "Get element in a sequence or dict. Provides standard indexing.",
        "get",
        "[API] element in a sequence or dict. Provides standard indexing.",
        True,
    ),
    "nothing of the name": ("Join two lists. Provides pairs of them.", "zipped", "Join two lists.", False),
    "what is no description": (
        "New in 1.2: `strip_iter`. Removes items from the ends.",
        "strip_iter",
        "Removes items from the ends.",
        False,
    ),
    "too few words": ("Strip it. Removes items from the ends.", "strip_it", "Removes items from the ends.", False),
    "the name twice": (
        "Get element by get. Provides standard indexing of lists.",
        "get",
        "Provides standard indexing of lists.",
        False,
    ),
}


@pytest.mark.parametrize("case", RESTORED)
def test_a_description_begins_with_the_first_sentence_of_its_docstring(case: str) -> None:
    docstring, name, expected, redacted = RESTORED[case]
    text = described(docstring, name)
    assert text.text.startswith(expected)
    assert text.redacted == redacted


def test_a_statement_begins_with_it_too_and_spells_the_name_then() -> None:
    """Acceptance refuses that: without the sentence nobody knew from which ends items are taken."""
    source = Source("lib", "strip_iter", ("strip_iter",), (STRIP,), None)
    text = describe(source, DRAFTING)
    assert text is not None
    assert text.text == STRIP
    assert spelling_words("strip_iter", text.text, DRAFTING.spelled_name) == ["Strips", "iterable"]


def test_what_a_model_or_nobody_wrote_stays() -> None:
    asked = request(STRIP, "strip_iter")
    written = Text("Stripped items will match the value.", False, Drafter.MODEL, "m", "0" * 64)
    assert with_first_sentence(written, asked, DRAFTING) is written
    offline = Text("Some fallback.", False, Drafter.OFFLINE, None, "0" * 64)
    assert with_first_sentence(offline, request("", "strip_iter"), DRAFTING) is offline


PLAIN = "def solve(items): ...\n"
STARRED = {
    "a later sentence": (
        "Applies it to pairs. Also accepts *args and **kwargs that are passed on. Gives a list.",
        PLAIN,
        "Applies it to pairs. Gives a list.",
    ),
    "in code": ("Call it. Pass `*args` too.", PLAIN, "Call it."),
    "the first sentence": ("Call it with *args. Gives a list.", PLAIN, "Call it with *args. Gives a list."),
    "a function that takes them": (
        "Call it. Pass *args too.",
        "def solve(*items): ...\n",
        "Call it. Pass *args too.",
    ),
    "one that takes them by name": (
        "Call it. Pass **kwargs too.",
        "def solve(**items): ...\n",
        "Call it. Pass **kwargs too.",
    ),
    "no star": ("Call it.  Pass args too.", PLAIN, "Call it.  Pass args too."),
    "emphasis and powers": ("Call it. It is *very* quick, 2**10.", PLAIN, "Call it. It is *very* quick, 2**10."),
}


@pytest.mark.parametrize("case", STARRED)
def test_sentences_on_arguments_that_no_function_takes_are_left_out(case: str) -> None:
    text, program, expected = STARRED[case]
    assert without_starred(text, program, DRAFTING) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Equivalent to adding ns.[API], see ns for documentation.", True),
        ("Equivalent to adding ns.[API]. See ns.", True),
        ("Equivalent to adding ns.PRESORT, see ns for documentation.", False),
        ("Sort as text first. Equivalent to adding ns.[API].", False),
        ("Number of the [API].", False),
    ],
)
def test_a_text_that_only_refers_to_a_hidden_name(text: str, expected: bool) -> None:
    assert is_reference(text, DRAFTING) == expected


RESULTS = {
    "the type": ("Returns a str.", "-> str", "join(text)", None),
    "another word for it": ("Return a string of it.", "-> str", "join(text)", None),
    "another type": (
        "Joins them. Always returns a str.",
        "-> bytes",
        "join(text)",
        "returns a str, and it returns bytes",
    ),
    "one of two types": ("Returns a list, or returns a tuple.", "-> tuple", "join(text)", None),
    "a type that the program makes of it": ("Returns a tuple.", "-> list", "list(join(text))", None),
    "a type that nothing states": ("Returns a str.", "", "join(text)", None),
    "something of that type": ("Returns a list item.", "-> str", "join(text)", None),
    "no type": ("Joins them.", "-> bytes", "join(text)", None),
}


@pytest.mark.parametrize("case", RESULTS)
def test_a_text_that_names_another_type_of_the_result_is_untrue(case: str) -> None:
    text, annotation, returned, expected = RESULTS[case]
    program = f"from lib import join\n\n\ndef solve(text) {annotation}:\n    return {returned}\n"
    untrue = untrue_result(text, program, DRAFTING)
    assert (untrue is None) == (expected is None)
    assert expected is None or expected in str(untrue)
