"""Requirements by a model, for functions whose authors left no docstring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.families.repository_tasks.llm_specifications import Required, Undocumented
from pipeline.families.repository_tasks.specification import parameter_names, required
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.tasks.forms import FunctionRequirement
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import RequirementRules


@dataclass(frozen=True)
class ModelRequirements:
    """Asks a model for requirements, and takes those that describe every parameter and copy nothing of the body."""

    drafter: ModelDrafter
    rules: RequirementRules
    min_words: int

    def require(self, functions: Sequence[Undocumented]) -> list[Required]:
        """Write the requirement of each function, in their order; none where no draft was accepted."""
        by_id = {function.id: function for function in functions}

        def judge(drafts: Sequence[tuple[Subject, FunctionRequirement]]) -> list[str | None]:
            return [self._problem(drafted, by_id[subject.id]) for subject, drafted in drafts]

        subjects = [_subject(function) for function in functions]
        drafted = draft(subjects, FunctionRequirement, self.rules, self.drafter, judge)
        return [_required(draft, function) for draft, function in zip(drafted, functions, strict=True)]

    def _problem(self, drafted: FunctionRequirement, function: Undocumented) -> str | None:
        """Say what is wrong with a requirement; None where nothing is."""
        names = parameter_names(function.node)
        words = len(drafted.functionality.split())
        if [argument.name.lstrip("*") for argument in drafted.arguments] != names:
            return f"arguments must describe {names}, in this order"
        if not self.min_words <= words <= self.rules.max_words:
            return f"functionality has {words} words; {self.min_words} to {self.rules.max_words} are wanted"
        copied = next((line for line in self._lines(function) if any(line in text for text in drafted.texts())), None)
        return f"it holds a line of the body: {copied}" if copied else None

    def _lines(self, function: Undocumented) -> Iterator[str]:
        lines = (line.strip() for line in function.body.splitlines())
        yield from (line for line in lines if len(line) >= self.rules.min_copied)


def _subject(function: Undocumented) -> Subject:
    data = {
        "namespace": function.namespace,
        "signature": function.signature,
        "body": function.body,
        "docstring": function.docstring or "",
        "parameters": parameter_names(function.node),
    }
    return Subject(function.id, data)


def _required(drafted: Drafted[FunctionRequirement], function: Undocumented) -> Required:
    if drafted.form is None:
        return Required(None, drafted.refusal)
    descriptions = {argument.name.lstrip("*"): argument.description for argument in drafted.form.arguments}
    return Required(required(function.node, drafted.form.functionality, descriptions, drafted.form.returns), None)
