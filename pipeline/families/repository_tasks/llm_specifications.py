"""Requirements of functions whose authors left no docstring, by a model."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.families.repository_tasks.specification import Requirement
from pipeline.llm.writers import Refusal


@dataclass(frozen=True, slots=True)
class Undocumented:
    """A function of which nothing says what it is to do: its signature and body as they stand, and its definition."""

    id: str
    namespace: str
    signature: str
    body: str
    docstring: str | None
    node: ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Required:
    """What came of it: the requirement, or why there is none."""

    requirement: Requirement | None
    refusal: Refusal | None


class RequirementWriter(Protocol):
    """Anything that can write requirements, for many functions in one go."""

    def require(self, functions: Sequence[Undocumented]) -> list[Required]:
        """Write the requirement of each function, in their order."""
