"""What a curator sets about what a model writes: a file of `curation_rules/drafts/` for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from pipeline.core.errors import InputError
from pipeline.core.rules.load import Rule, RuleError, load
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.core.vocabularies.functions import TestKind
from pipeline.core.vocabularies.samples import Improves
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.tasks.forms import (
    Description,
    Form,
    FunctionRequirement,
    FunctionTests,
    MigratedCode,
    ProblemText,
    RenameJudgement,
    TaskFunction,
    schema_of,
)


class KindRules(Rule):
    """How a model is asked for one kind of draft; `descriptions` are those of the fields of its form, `answer`.

    `model` is a role in the file, and a model's name in the result of `draft_rules`. The SDK does not send a request
    of more than a sixth of 128,000 tokens without streaming.
    """

    answer: ClassVar[type[Form]]

    kind: DraftKind
    model: str
    max_tokens: int = Field(ge=1, le=21_333)
    tries: int = Field(ge=1)
    instructions: str = Field(min_length=1)
    descriptions: Mapping[str, str]

    @cached_property
    def form(self) -> dict[str, Any]:
        """The JSON schema of an answer, as it is sent."""
        return schema_of(self.answer, self.descriptions)

    @field_validator("descriptions", mode="after")
    @classmethod
    def _fit(cls, descriptions: Mapping[str, str]) -> Mapping[str, str]:
        schema_of(cls.answer, descriptions)
        return descriptions


class DescriptionRules(KindRules):
    """How a model is asked for a sentence or two: `description.yaml` and `instruction.yaml`."""

    answer = Description

    improves: frozenset[Improves]


class RequirementRules(KindRules):
    """How a model is asked for the requirement of a function without a docstring: `requirement.yaml`."""

    answer = FunctionRequirement

    max_words: int = Field(ge=1)
    min_copied: int = Field(ge=1, description="characters")


class MigratedCodeRules(KindRules):
    """How a model is asked for the code of an example for another release: `migrated_code.yaml`."""

    answer = MigratedCode

    max_requests: int = Field(ge=0)
    max_run: int = Field(ge=0)
    max_per_path: int = Field(ge=1)
    min_outputs: int = Field(ge=1)
    max_lines: int = Field(ge=1)
    max_context_characters: int = Field(ge=1, description="characters")
    max_written: int = Field(ge=1, description="characters")
    not_used: frozenset[str]


class RenameJudgementRules(KindRules):
    """How a model is asked whether two APIs are one: `rename_judgement.yaml`."""

    answer = RenameJudgement

    max_requests: int = Field(ge=0)
    from_confidence: float = Field(ge=0, le=1)
    below_confidence: float = Field(ge=0, le=1)
    max_context_characters: int = Field(ge=1, description="characters")
    body_lines: int = Field(ge=0)
    max_reason: int = Field(ge=1, description="characters")


class TaskFunctionRules(KindRules):
    """How a model is asked for a function of an example: `task_function.yaml`."""

    answer = TaskFunction

    max_per_library: int = Field(ge=0)
    max_per_path: int = Field(ge=1)
    max_characters: int = Field(ge=1)


class FunctionTestsRules(KindRules):
    """How a model is asked for tests of a function, and what they must come to: `function_tests.yaml`."""

    answer = FunctionTests

    max_per_library: int = Field(ge=0)
    max_characters: int = Field(ge=1)
    max_of_kind: Mapping[TestKind, int]
    min_coverage: float = Field(gt=0, le=1)
    not_imported: frozenset[str]
    not_used: frozenset[str]

    @field_validator("max_of_kind", mode="after")
    @classmethod
    def _has_every_kind(cls, numbers: Mapping[TestKind, int]) -> Mapping[TestKind, int]:
        if missing := [kind for kind in TestKind if numbers.get(kind, 0) < 1]:
            raise InputError(f"no number of 1 or more for {', '.join(missing)}", code="rule_entry_missing")
        return numbers


class ProblemDraftRules(KindRules):
    """How a model is asked for a problem about a change, and what that must come to: `problem.yaml`."""

    answer = ProblemText

    kinds: tuple[ChangeKind, ...] = Field(min_length=1)
    max_per_library: int = Field(ge=0)
    max_per_path: int = Field(ge=1)
    max_per_version: int = Field(ge=1)
    min_hidden: int = Field(ge=1, description="letters")
    max_context_characters: int = Field(ge=1, description="characters")
    max_examples: int = Field(ge=0)
    min_words: int = Field(ge=1)
    max_words: int = Field(ge=1)
    max_statements: int = Field(ge=1)
    max_characters: int = Field(ge=1)
    min_tests: int = Field(ge=1)
    max_tests: int = Field(ge=1)
    min_coverage: float = Field(gt=0, le=1)
    not_used: frozenset[str]


class DraftRules(Rule):
    """The rules of each kind of draft."""

    description: DescriptionRules
    instruction: DescriptionRules
    requirement: RequirementRules
    task_function: TaskFunctionRules
    function_tests: FunctionTestsRules
    migrated_code: MigratedCodeRules
    rename_judgement: RenameJudgementRules
    problem: ProblemDraftRules


def draft_rules(folder: Path, models: ModelRules) -> DraftRules:
    """Read the files of `drafts/` in a folder of rules.

    Errors: RuleError with file and line of what is wrong, and for a model that is no role.
    """
    drafts = folder / "drafts"
    rules = DraftRules(
        description=load(drafts / "description.yaml", DescriptionRules),
        instruction=load(drafts / "instruction.yaml", DescriptionRules),
        requirement=load(drafts / "requirement.yaml", RequirementRules),
        task_function=load(drafts / "task_function.yaml", TaskFunctionRules),
        function_tests=load(drafts / "function_tests.yaml", FunctionTestsRules),
        migrated_code=load(drafts / "migrated_code.yaml", MigratedCodeRules),
        rename_judgement=load(drafts / "rename_judgement.yaml", RenameJudgementRules),
        problem=load(drafts / "problem.yaml", ProblemDraftRules),
    )
    for name, kind in rules:
        if kind.kind != name:
            raise RuleError(
                f"{name}.yaml: kind: it is {kind.kind}, and the file is that of {name}", code="task_kind_misplaced"
            )
        if kind.model not in models.roles:
            roles = ", ".join(sorted(models.roles))
            raise RuleError(
                f"{name}.yaml: model: {kind.model!r} is no role; models.yaml has {roles}", code="task_model_unknown"
            )
    named = {name: kind.model_copy(update={"model": models.roles[kind.model]}) for name, kind in rules}
    return rules.model_copy(update=named)
