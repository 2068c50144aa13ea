"""What a curator sets about version-conditioned problems: `curation_rules/problems.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule
from pipeline.core.vocabularies.problems import InputChange
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.families.passed_parameters import ConversionRules


class StatementRules(Rule):
    """The words of a statement; `{…}` are put in: see the rule file."""

    functional: str
    full: str
    introduced: str
    required: str
    new_parameter: str
    placeholder: str
    parameter: str
    returns: str
    conversion: ConversionRules
    example: str
    max_example_characters: int = Field(ge=0)
    max_parameter_characters: int = Field(ge=0)


class ProblemRules(Rule):
    """The rules of version-conditioned problems."""

    sources: frozenset[SnippetSource]
    function: str = Field(pattern=r"^[a-z_]\w*$")
    names: dict[str, str] = Field(description="type of an argument to the name of its parameter")
    other_name: str
    meaningless: frozenset[str] = Field(description="arguments of witnesses that say nothing of an API, as source")
    max_parameters: int = Field(ge=1)
    max_statements: int = Field(ge=1, description="statements of the function")
    max_per_path_and_version: int = Field(ge=1)
    max_per_snippet_and_version: int = Field(ge=1)
    max_per_library: int = Field(ge=1)
    changes: tuple[InputChange, ...]
    max_tried: int = Field(ge=0)
    max_recorded: int = Field(ge=0)
    max_recorded_characters: int = Field(ge=1)
    min_tests: int = Field(ge=1)
    min_coverage: float = Field(ge=0, le=1)
    webdev: frozenset[str]
    statement: StatementRules
