from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.vocabularies.samples import Drafter
from pipeline.families.contexts.query import is_too_vague, query_request
from pipeline.llm.names import find_names, redact
from pipeline.llm.writers import Text
from tests.families.contexts.rows import CONTEXTS, WRITER

MINIMUM = CONTEXTS.query.min_argument_length


def ask(code: str, name: str, *texts: str) -> tuple[str, bool] | None:
    text = WRITER.text(query_request(name, ast.parse(code, mode="eval").body, code, texts, MINIMUM))
    return (text.text, text.redacted) if text else None


QUERIES = {
    "a clean sentence": ("lib.solve(a)", "Find the unknowns.", ("Find the unknowns.", False)),
    "the name": ("lib.solve(a)", "Solve the system for x.", ("[API] the system for x.", True)),
    "the next sentence is clean": ("lib.solve(a)", "Solve it now. Find the unknowns.", ("Find the unknowns.", False)),
    "a keyword": ("lib.solve(axis=1)", "Work along the axis given.", ("Work along the [API] given.", True)),
    "a variable": ("lib.solve(system)", "Treat the linear systems here.", ("Treat the linear [API] here.", True)),
    "a word in quotes": ("lib.solve('left')", "Start from the left side.", ("Start from the [API] side.", True)),
    "an argument of an argument": ("lib.solve(f(depth))", "Go to the depth.", ("Go to the [API].", True)),
    "short arguments are no secret": ("lib.solve(x, 'ab')", "Find x by ab.", ("Find x by ab.", False)),
    "the object is none": ("system.solve()", "Treat the linear systems here.", ("Treat the linear systems here.", False)),
    "nothing is told": ("lib.solve(a)", "", None),
}  # fmt: skip


@pytest.mark.parametrize("case", QUERIES)
def test_a_query_gives_neither_name_nor_arguments_away(case: str) -> None:
    code, text, expected = QUERIES[case]
    assert ask(code, "solve", text) == expected


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("system = read()\n", "Treat the linear systems here."),
        ("ecosystem = read()\n", "Treat the linear [API] here."),
        ("solve = system = 1", "Treat the linear systems here."),
    ],
)
def test_arguments_that_the_context_shows_are_not_cut_out_of_the_query(visible: str, expected: str) -> None:
    node = ast.parse("lib.solve(system)", mode="eval").body
    request = query_request("solve", node, "lib.solve(system)", ["Treat the linear systems here."], MINIMUM, visible)
    text = WRITER.text(request)
    assert text is not None
    assert (text.text, "solve" in request.hidden) == (expected, True)


LEFT = {
    "The default JSON encoder.": True,
    "Provides access to JSON methods.": True,
    "Return the JSON.": True,
    "Return a value with a JSON unit prefix.": False,
    "Return text.": False,  # nothing had to be cut out
}


@pytest.mark.parametrize("sentence", LEFT)
def test_a_query_that_says_nothing_without_the_names_is_none(sentence: str) -> None:
    clean = sentence == "Return text."
    text = Text(redact(sentence, ["json_encoder", "json"], WRITER.rules), not clean, Drafter.OFFLINE, None, "")
    assert is_too_vague(text, CONTEXTS.query) is LEFT[sentence]


WORDS = st.lists(
    st.sampled_from(["Solve", "solving", "the", "axis", "axes", "of", "linear_system", "values."]),
    min_size=4,
    max_size=9,
)


@given(WORDS)
def test_no_query_holds_what_is_hidden(words: list[str]) -> None:
    found = ask("lib.solve(linear_system, axis=0)", "solve", " ".join(words))
    if found:
        assert not find_names(found[0], ["solve", "linear_system", "axis"], WRITER.rules)
