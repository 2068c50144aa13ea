"""Statements: the documentation's words, and never the name of the core API."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.families.passed_parameters import passed_parameters
from pipeline.families.problems.program import write
from pipeline.families.problems.statement import Source, Statement, describe, names_revealed, state
from pipeline.families.problems.tasks import tasks_of
from pipeline.lake.ids import sha256_json
from pipeline.lake.rows import ApiDocumentDocumentedParameter
from pipeline.llm.rules import DraftingRules
from tests.errors import raises
from tests.families.problems.examples import RULES_OF_PROBLEMS, example

DRAFTING = load(RULES / "drafting.yaml", DraftingRules)
DOCSTRING = "Return a value with an SI prefix.\n\nmetric(1500) is an example."


def parameter(name: str, description: str | None) -> ApiDocumentDocumentedParameter:
    return {"name": name, "type": None, "mandatory": True, "default": None, "description": description}


def documented(*parameters: ApiDocumentDocumentedParameter) -> dict[str, Any]:
    return {"parameters": parameters, "returns": []}


def stated(docstring: str, name: str = "metric", **columns: Any) -> Statement:
    task = tasks_of(example(docstring), {"lib"}).tasks[0]
    written = write(task, (name,), RULES_OF_PROBLEMS)
    facts: Any = {"library": "lib", "name": name, "hidden": (name,), "docstrings": (DOCSTRING,), "document": None}
    facts |= columns
    passed = passed_parameters(written.program, written.parameters, name, facts["document"])
    source = Source(**facts, passed=passed)
    statement = state(written, task.cases[0], source, RULES_OF_PROBLEMS.statement, DRAFTING)
    assert names_revealed([statement.text], (name,), DRAFTING) == []
    return statement


def told(docstring: str, name: str = "metric", **columns: Any) -> str:
    return stated(docstring, name, **columns).text


def test_a_statement_says_what_to_write_and_shows_a_case() -> None:
    document = documented(parameter("value", "Number of the metric."), parameter("unit", "What is\ncounted."))
    assert told(">>> from lib import metric\n>>> metric(1500, unit='V')\n'1.50 kV'\n", document=document) == (
        "Return a value with an SI prefix.\n"
        "\n"
        "In descriptions, [API] stands for a name of lib.\n"
        "\n"
        "Write the body of `solve(number, text)` with lib.\n"
        "\n"
        "- `number`: Number of the [API].\n"
        "- `text`: What is counted.\n"
        "\n"
        "It returns a value of type `str`. For example, `solve(1500, 'V')` gives `'1.50 kV'`."
    )


def test_the_blanks_of_a_literal_are_shown_and_others_are_not() -> None:
    """Once `'a  b'` was shown as `'a b'`: who believed the statement failed its tests."""
    assert "`solve(1500)` gives `'a  b'`" in told(">>> from lib import metric\n>>> metric(1500)\n'a  b'\n")
    assert "`solve(1500)` gives `Box( 1 )`" in told(">>> from lib import metric\n>>> metric(1500)\nBox(  1 )\n")


def test_the_hash_of_what_a_statement_is_written_from_is_that_of_its_words() -> None:
    """Once it was that of an iterator, by its address, and another in each run."""
    document = documented(parameter("value", "How many."))
    statement = stated(">>> from lib import metric\n>>> metric(1500)\n'1.50 kV'\n", document=document)
    described = describe(Source("lib", "metric", ("metric",), (DOCSTRING,), None), DRAFTING)
    assert described is not None
    asked, words = "Write the body of `solve(number)` with lib.", ["- `number`: How many."]
    about = ["It returns a value of type `str`.", "For example, `solve(1500)` gives `'1.50 kV'`."]
    assert statement.text.split("\n\n")[1:] == [asked, words[0], " ".join(about)]
    assert statement.written_from == sha256_json([described.prompt_sha256, document, asked, words, about])


def test_a_result_that_names_the_api_is_not_shown() -> None:
    text = told(">>> from lib import Markup\n>>> Markup('a')\nMarkup('a')\n", name="Markup")
    assert text == "Return a value with an SI prefix.\n\nWrite the body of `solve(text)` with lib."


def test_parameters_that_do_not_go_to_the_api_as_they_are_have_no_words_of_it() -> None:
    document = documented(parameter("self", "Itself."), parameter("value", "A number."))
    assert "A number" not in told(
        ">>> from lib import metric, other\n>>> metric(other([1, 2]))\n'3'\n", document=document
    )


@pytest.mark.parametrize("docstrings", [(), ("",), ("See metric.",)])
def test_without_a_sentence_there_is_no_statement(docstrings: tuple[str, ...]) -> None:
    source = Source("lib", "metric", ("metric",), docstrings, None)
    assert describe(source, DRAFTING) is None
    task = tasks_of(example(">>> from lib import metric\n>>> metric(1)\n'1'\n"), {"lib"}).tasks[0]
    written = write(task, (), RULES_OF_PROBLEMS)
    with raises(ValueError, "metric of lib"):
        state(written, task.cases[0], source, RULES_OF_PROBLEMS.statement, DRAFTING)
