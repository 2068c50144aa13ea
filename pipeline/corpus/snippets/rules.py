"""The rules of this stage: `curation_rules/snippets.yaml`."""

from __future__ import annotations

import ast

from pydantic import Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule
from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.snippets.code_sample_rules import CodeSampleRules

Conventions = dict[str, str]
"""Name to the statements that define it."""


class SnippetRules(Rule):
    """What a curator tunes about the taking of examples."""

    min_statements: int = Field(ge=1)
    max_lines: int = Field(ge=1)
    max_characters: int = Field(ge=1)
    conventions: Conventions
    libraries: dict[str, Conventions]
    samples: CodeSampleRules

    @field_validator("conventions")
    @classmethod
    def _defines(cls, conventions: Conventions) -> Conventions:
        for name, statements in conventions.items():
            _check_defines(name, statements)
        return conventions

    @field_validator("libraries")
    @classmethod
    def _define(cls, libraries: dict[str, Conventions]) -> dict[str, Conventions]:
        for conventions in libraries.values():
            cls._defines(conventions)
        return libraries

    def of_library(self, library: str) -> Conventions:
        """Return the conventions that hold in one library's documentation only."""
        return self.libraries.get(library, {})


def _check_defines(name: str, statements: str) -> None:
    """Refuse statements that do not parse or that leave the name undefined."""
    try:
        nodes = list(ast.walk(parse_python(statements)))
    except SyntaxError as error:
        raise InputError(f"{name}: {statements!r} is no Python: {error.msg}", code="rule_example_wrong") from None
    bound = {alias.asname or alias.name.partition(".")[0] for n in nodes for alias in getattr(n, "names", [])}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if name not in bound:
        raise InputError(f"{name}: {statements!r} does not define {name!r}", code="rule_example_wrong")
