"""The forms of answers: what a model may write back, a class for each kind of draft.

What is sent is the `form` of the kind's rule file, in the words of a curator; these read what comes back, and hold its
limits, which the API does not take. Nothing of the provider's SDK is imported here: the rules are read against them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from pipeline.core.vocabularies.changes import Same
from pipeline.core.vocabularies.functions import TestKind

# Controls, marks without a width, what ends lines for some readers only, half characters, those of nobody.
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_LAYOUT = "\t\n"


def _is_odd(char: str) -> bool:
    """Say whether a character is not seen, or passes for another: names that are searched for could hide in it."""
    if char.isascii():
        return (char < " " and char not in _LAYOUT) or char == "\x7f"
    kind = unicodedata.category(char)
    return kind in _UNSEEN or (kind[0] == "L" and unicodedata.normalize("NFKC", char).isascii())


class Form(BaseModel):
    """Base of every form: what is not asked for is refused, and characters that no reader sees or tells from others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _is_seen(self) -> Self:
        for name, value in self:
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and (found := next(filter(_is_odd, text), "")):
                    raise ValueError(
                        f"{name} holds U+{ord(found):04X}, which no reader sees or tells apart: write it as an escape"
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
        yield from (self.functionality, self.returns, *(one.description for one in self.arguments))


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
