"""What a curator sets about contexts: `curation_rules/contexts.yaml`."""

from __future__ import annotations

import string
from typing import Annotated

from pydantic import AfterValidator, Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.samples import DocumentPart


def _holding(*names: str) -> AfterValidator:
    """Ask that a template has these fields and no others."""

    def check(template: str) -> str:
        fields = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
        if fields != set(names):
            raise ValueError(f"the fields must be {', '.join(f'{{{name}}}' for name in names)}")
        return template

    return AfterValidator(check)


_TEXT_FIELDS = ("description", "arguments")
Template = Annotated[str, Field(pattern=r"\{hint\}$"), _holding("module", "service", *_TEXT_FIELDS, "hint")]
"""The code before the cursor of a controlled completion."""


class InlineRules(Rule):
    """The choice of uses for in-line completions, and the size of their contexts."""

    max_per_line: int = Field(ge=1)
    max_per_api_and_origin: int = Field(ge=1)
    few_lines: int = Field(ge=1)
    version_comment: Annotated[str, Field(pattern="^#"), _holding("library", "version")]

    def comment(self, library: str, version: str) -> str:
        """Return the comment that states a version."""
        return self.version_comment.format(library=library, version=version)


class QueryRules(Rule):
    """What a query must not give away, and what it must still say."""

    min_argument_length: int = Field(ge=1, description="characters")
    min_content_words: int = Field(ge=1)
    min_content_word_length: int = Field(ge=1, description="letters")


class RetrievalRules(Rule):
    """The searched documents, the retrievers, and the number of results."""

    documents: int = Field(ge=1)
    searched: tuple[DocumentPart, ...] = Field(min_length=1)
    bm25_k1: float = Field(gt=0)
    bm25_b: float = Field(ge=0, le=1)


class ControlledRules(Rule):
    """The templates of the controlled scenario, and how many rows it makes."""

    max_unchanged_per_version: int = Field(ge=0)
    max_changed_per_version: int = Field(ge=0)
    of_module: Template
    of_method: Template
    no_arguments: str = Field(min_length=1)


class ContextRules(Rule):
    """The rules of the stages `contexts` and `controlled`."""

    inline: InlineRules
    query: QueryRules
    retrieval: RetrievalRules
    controlled: ControlledRules
