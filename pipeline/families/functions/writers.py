"""Who else may write functions and tests: functions that no example is, tests of kinds that none gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.core.vocabularies.functions import TestKind
from pipeline.corpus.usages.api import Api
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Coverage
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import SpelledNameRules
from pipeline.llm.tasks.rules import FunctionTestsRules, TaskFunctionRules
from pipeline.llm.writers import Refusal


@dataclass(frozen=True, slots=True)
class Example:
    """An example that ran and needs a function: its whole code, and the API of its version.

    `path` is the core API, `hidden` are the names that nothing but imports and the function's body may give away.
    `spelled_name` are the rules by which the description may not spell the core API; None for any description.
    """

    id: str
    library: str
    version: str
    path: str
    code: str
    docstrings: tuple[str, ...]
    hidden: tuple[str, ...]
    api: Api
    environment: Environment
    spelled_name: SpelledNameRules | None = None

    def spelling(self, description: str) -> list[str]:
        """Return the words of a description that spell the name of the core API."""
        name = self.path.rpartition(".")[2]
        return spelling_words(name, description, self.spelled_name) if self.spelled_name else []


@dataclass(frozen=True, slots=True)
class WrittenFunction:
    """A function made of an example: the program without comments and docstrings, and its task.

    `parameters` are in the order of the program; tokens and nano-dollars are those of all tries.
    """

    program: str
    function: str
    parameters: tuple[str, ...]
    description: str
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int


class FunctionWriter(Protocol):
    """A writer of functions for examples in one batch; its rules limit the number."""

    @property
    def rules(self) -> TaskFunctionRules:
        """The number of functions to write."""

    def write(self, examples: Sequence[Example]) -> list[WrittenFunction | Refusal]:
        """Write the function of each example, in their order, or return a refusal."""


@dataclass(frozen=True, slots=True)
class Untested:
    """A function with too few tests: its program, its pytest module or "", and the missing kinds.

    `path` is the core API, which the program must need to pass its tests. These import the program as `module`, and do
    not use what `hidden` names; `import_names` are the library's modules. `other` is code that is right for another
    version, which the tests must fail for: that of a function whose own tests do; None where they need not.
    """

    id: str
    library: str
    version: str
    path: str
    environment: Environment
    module: str
    function: str
    program: str
    description: str
    tests: str
    missing_kinds: tuple[TestKind, ...]
    hidden: tuple[str, ...]
    import_names: tuple[str, ...] = ()
    other: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """A pytest module with the tests that a function had, and those written; `kinds` are the latter, by their names."""

    tests: str
    kinds: dict[str, TestKind]
    coverage: Coverage | None
    discriminating: bool
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int


class FunctionTestWriter(Protocol):
    """A writer of tests for functions in one batch; its rules limit the number."""

    @property
    def rules(self) -> FunctionTestsRules:
        """The number of functions, and the required coverage."""

    def write(self, functions: Sequence[Untested]) -> list[WrittenTests | Refusal]:
        """Write the missing tests of each function, in their order, or return a refusal."""
