"""The forms of answers: what a model may write back, a class for each kind of draft.

`schema_of` makes the JSON schema of a request from a form and a curator's descriptions; the form reads the answer.
Nothing of the provider's SDK is imported here, since every command loads the rules.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.changes import Same
from pipeline.core.vocabularies.functions import TestKind

# Controls, marks without a width, what ends lines for some readers only, half characters, those of nobody.
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_LAYOUT = "\t\n"


def _is_odd(char: str) -> bool:
    """Say whether a character is not seen, or passes for another: names that are searched for could hide in it."""
    if char.isascii():
        return (char < " " and char not in _LAYOUT) or char == "\x7f"
    kind = unicodedata.category(char)
    return kind in _INVISIBLE or (kind[0] == "L" and unicodedata.normalize("NFKC", char).isascii())


class Form(BaseModel):
    """Base of every form: what is not asked for is refused, and characters that no reader sees or tells from others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _is_visible(self) -> Self:
        for name, value in self:
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and (invisible := next(filter(_is_odd, text), "")):
                    raise ValueError(
                        f"{name} holds U+{ord(invisible):04X}, which no reader sees: write it as an escape"
                    )
        return self


class Description(Form):
    """A sentence or two: `description.yaml` and `instruction.yaml`."""

    text: str


class Argument(Form):
    """A parameter, described."""

    name: str
    description: str


class FunctionRequirement(Form):
    """What a function is to do, and what it takes and returns: `requirement.yaml`."""

    functionality: str
    arguments: list[Argument]
    returns: str

    def texts(self) -> Iterator[str]:
        """Yield all of its prose."""
        yield from (self.functionality, self.returns, *(argument.description for argument in self.arguments))


class TaskFunction(Form):
    """A program with one function that is a task, and what that function is to do: `task_function.yaml`."""

    code: str
    function: str
    description: str


class FunctionTest(Form):
    """One test: what it looks at, and the statements of its function."""

    kind: TestKind
    code: str


class FunctionTests(Form):
    """Tests of a task function: `function_tests.yaml`."""

    tests: list[FunctionTest]


class MigratedCode(Form):
    """An example for another release, statement by statement: `migrated_code.yaml`."""

    preamble: str
    statements: list[str]
    core_name: str
    description: str


class RenameJudgement(Form):
    """Whether two APIs are one: `rename_judgement.yaml`."""

    reason: str
    same: Same


class ProblemText(Form):
    """A problem that a change decides, with its reference and tests: `problem.yaml`."""

    statement: str
    starting_code: str
    solution: str
    visible_test: str
    hidden_tests: str
    other_solution: str


def schema_of(form: type[Form], descriptions: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON schema of a form as the API takes it; `descriptions` are by the dotted path of a field.

    The schema is pydantic's without titles, docstrings and limits, which the API does not take. Paid answers are stored
    under its text, so the order of its keys matters. Errors: ValueError for a description of no field.
    """
    whole, unused = form.model_json_schema(), dict(descriptions)

    def part(schema: dict[str, Any], path: str) -> dict[str, Any]:
        if "$ref" in schema:
            schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
        if "enum" in schema:
            return {"enum": schema["enum"]}
        if schema["type"] == "array":
            return {"type": "array", "items": part(schema["items"], path)}
        if schema["type"] != "object":
            return {"type": schema["type"]}
        properties: dict[str, Any] = {}
        for name, inner in schema["properties"].items():
            field = f"{path}.{name}".lstrip(".")
            (keyword, value), *rest = part(inner, field).items()
            described = {"description": unused.pop(field)} if field in unused else {}
            properties[name] = {keyword: value, **described, **dict(rest)}
        return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}

    result = part(whole, "")
    if unused:
        raise InputError(f"{', '.join(unused)}: {form.__name__} has no such field", code="rule_reference_unknown")
    return result
