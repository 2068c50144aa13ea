"""Parameters of the core API in a program: which are passed, under which names, and what a text says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.functions.function import Function
from pipeline.families.functions.stage import with_parameters
from pipeline.families.passed_parameters import (
    PassedParameters,
    conversion_text,
    parameter_texts,
    passed_parameters,
    request_of,
    with_own_names,
)
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import OfflineWriter
from tests.families.problems.examples import RULES_OF_PROBLEMS

DRAFTING = load(RULES / "drafting.yaml", DraftingRules)


def documented(*result: str, **descriptions: str | None) -> Any:
    """Return a document of an API with parameters by name; `args` and `kwargs` have their stars."""
    stars = {"args": "*args", "kwargs": "**kwargs"}
    rows = [{"name": stars.get(name, name), "description": text} for name, text in descriptions.items()]
    return {"parameters": rows, "returns": [{"name": None, "type": None, "description": text} for text in result]}


@pytest.mark.parametrize(
    ("call", "names", "omitted"),
    [
        ("f(items)", {"seq": "items"}, {"size", "key", "only"}),
        ("f(items, number)", {"seq": "items", "size": "number"}, {"key", "only"}),
        ("f(items, key=number)", {"seq": "items", "key": "number"}, {"size", "only"}),
        ("f(iter(items), 3)", {}, {"key", "only"}),
        ("lib.f(items) + f(items, number)", {"seq": "items", "size": "number"}, {"key", "only"}),
        ("f(*items)", {}, set()),
        ("f(items, **number)", {"seq": "items"}, set()),
        ("map(f, items)", {}, set()),
        ("g(items)", {}, set()),
        ("f(items, number, 1, items, only=2)", {"seq": "items", "size": "number"}, set()),
    ],
)
def test_passed_parameters(call: str, names: Mapping[str, str], omitted: set[str]) -> None:
    program = f"import lib\n\ndef solve(items, number):\n    return {call}\n"
    document = documented(self=None, seq=None, size=None, key=None, args=None, kwargs=None, only=None)
    assert passed_parameters(program, ("items", "number"), "f", document) == PassedParameters(names, frozenset(omitted))


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("return list(lib.f(items))", "the result as a list"),
        ("found = f(items)\n    return sorted(found)", "the result as a sorted list"),
        ("return len(f(items))", "the number of items of the result (`len`)"),
        ("return f(items)", None),
        ("return list(other(f(items)))", None),
        ("found = other(items)\n    return list(found)", None),
        ("return sorted(f(items), key=number)", None),
        ("return next(f(items))", None),
    ],
)
def test_a_text_says_how_a_function_converts_the_result(body: str, result: str | None) -> None:
    """The last one would name an API `first`, which is hidden."""
    program = f"import lib\n\ndef solve(items, number):\n    {body}\n"
    rules = RULES_OF_PROBLEMS.statement.conversion
    text = conversion_text(program, "solve", "f", ("f", "first"), rules, DRAFTING)
    assert text == (f"`solve` gives {result}." if result else "")


PASSED = PassedParameters({"seq": "items", "n": "number", "strip_value": "text", "word": "text"}, frozenset({"key"}))


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yield slices of length *n* from ``seq``.", r"Yield slices of length \`number\` from \`items\`."),
        ("A matrix with ``len(seq)`` rows, *not* columns.", "A matrix with ``len(items)`` rows, *not* columns."),
        ("Takes ``2*log(n)`` time.", "Takes ``2*log(number)`` time."),
        ("Has n of seq[n] and f(n), n.", r"Has \`number\` of seq[n] and f(n), \`number\`."),
        ("Items match the argument strip_value.", r"Items match the argument \`text\`."),
        ("The word of a word argument, and the *word*.", r"The word of a \`text\` argument, and the \`text\`."),
        ("By the key, and by *key*.", r"By the key, and by \`key\`."),
        (":func:`word` and self.n stay.", ":func:`word` and self.n stay."),
    ],
)
def test_a_text_gets_the_parameters_of_the_function(text: str, own: str) -> None:
    assert with_own_names(text, PASSED, DRAFTING) == own


@pytest.mark.parametrize(
    ("omitted", "text"),
    [
        ({"kwargs"}, "Given a name and positional arguments, format a call."),
        ({"args"}, "Given a name and keyword arguments, format a call."),
        ({"args", "kwargs"}, "Given a name, format a call."),
        (set[str](), "Given a name, positional arguments, and keyword arguments, format a call."),
    ],
)
def test_an_enumeration_has_no_parameter_that_is_not_passed(omitted: set[str], text: str) -> None:
    said = "Given a name, positional arguments, and keyword arguments, format a call."
    assert with_own_names(said, PassedParameters({}, frozenset(omitted)), DRAFTING) == text


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ("How many.", "Return items.\n\n- `number`: How many."),
        ("How many items to take.", "Return items."),
        ("Long, " * 60 + "and longer.", "Return items."),
        (None, "Return items."),
    ],
)
def test_a_description_of_a_function_says_what_its_parameters_are(about: str | None, text: str) -> None:
    document = documented(seq=None, n=about)
    program = "import lib\n\ndef solve(items, number):\n    return lib.take(items, number)\n"
    places = "lib", "1.0", "lib.take", program, "solve", ("items", "number")
    function = Function(*places, hidden=("take",), docstrings=(), document=document)
    assert with_parameters("Return items.", function, DRAFTING, RULES_OF_PROBLEMS.statement) == text


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("The length. Defaults to 1.", "The length."),
        ("Defaults to 1.", None),
        ("The length of the strip_value parameter.", "The length of the `text` parameter."),
        ("The length, provided the key argument is set.", "The length."),
        ("The key argument decides.", None),
        (None, None),
    ],
)
def test_texts_of_parameters(description: str | None, text: str | None) -> None:
    assert parameter_texts(documented(n=description), PASSED, DRAFTING) == ({"number": text} if text else {})


DOCSTRING = """Strip values from the *seq*, as *key* says.

Stripped items match the value of the argument strip_value. See `other_strip`.

Raises:
    ValueError: There is no *seq*.
"""


def test_a_request_says_what_comes_out_with_the_names_of_the_program() -> None:
    document = documented("list: what is left of the", "strip_value sequence.")
    facts = (DOCSTRING,), "solve(items, text)", document, PASSED, {"other_strip", "solve"}
    request = request_of("id", ("trim",), *facts, DRAFTING)
    assert request.of_result == (
        "Returns: what is left of the `text` sequence.",
        "Raises ValueError: There is no seq.",
    )
    assert request.omitted == {"key"}
    assert request.others == {"other_strip"}
    written = OfflineWriter(DRAFTING).text(request)
    assert written is not None
    assert written.text == (
        "Strip values from the `items`. Stripped items match the value of the argument `text`."
        " Returns: what is left of the `text` sequence. Raises ValueError: There is no seq."
    )
