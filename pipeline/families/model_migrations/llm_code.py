"""The code of an example for another release by a model, where no codemod and no other example has it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.text import Program, preamble_length, source_of
from pipeline.corpus.usages.uses import Use
from pipeline.families.model_migrations.llm_program import BadProgram, Steps, problem_of, read_steps
from pipeline.lake.rows import SnippetRow
from pipeline.llm.client.drafter import ModelDrafter
from pipeline.llm.names import find_names
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.forms import MigratedCode
from pipeline.llm.tasks.rounds import Drafted, Subject, draft
from pipeline.llm.tasks.rules import MigratedCodeRules


@dataclass(frozen=True, slots=True)
class Unmigrated:
    """An example that fails in another release: the snippet, that release, its API, and what a model is told.

    `is_called` says that the example calls the API.
    """

    id: str
    snippet: SnippetRow
    target: str
    path: str
    is_called: bool
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a model wrote for an example: its parts, the API that it uses in the other release, and a description."""

    of: Unmigrated
    steps: Steps
    path: str
    description: str


Run = Callable[[Sequence[Attempt]], Sequence[str | None]]
"""Runs attempts and says of each what is wrong with it, None of one that does what the example does."""


@dataclass(frozen=True)
class ModelMigrations:
    """Asks a model for code, and takes what uses the other release's public API, and does the same when it runs.

    `uses` finds the uses of the library's API in a program, in a version.
    """

    drafter: ModelDrafter
    rules: MigratedCodeRules
    drafting: DraftingRules
    uses: Callable[[str, str], Sequence[Use]]

    def write(self, requests: Sequence[Unmigrated], run: Run) -> list[tuple[Attempt | None, Drafted[MigratedCode]]]:
        """Return what came of each example, in their order; no attempt where none was accepted."""
        by_id = {request.id: request for request in requests}

        def judge(drafts: Sequence[tuple[Subject, MigratedCode]]) -> list[str | None]:
            read = [self._read(form, by_id[subject.id]) for subject, form in drafts]
            attempts = [result for result in read if isinstance(result, Attempt)]
            results = deque(run(attempts) if attempts else ())
            return [results.popleft() if isinstance(result, Attempt) else result for result in read]

        drafted = draft(
            [Subject(request.id, request.data) for request in requests], MigratedCode, self.rules, self.drafter, judge
        )
        return [(self._attempt(draft, by_id), draft) for draft in drafted]

    def _attempt(self, one: Drafted[MigratedCode], by_id: Mapping[str, Unmigrated]) -> Attempt | None:
        read = self._read(one.form, by_id[one.subject.id]) if one.form is not None else None
        return read if isinstance(read, Attempt) else None

    def _read(self, form: MigratedCode, of: Unmigrated) -> Attempt | str:
        """Read an answer without running it: its parts, or what is wrong with it."""
        try:
            steps = read_steps(form.preamble, form.statements, of.snippet, self.rules)
        except BadProgram as error:
            return str(error)
        path = self._core(steps, form.core_name, of)
        if path is None:
            kind = "calls" if of.is_called else "uses"
            return f"nothing in the statements {kind} a public API of {of.target} that is named {form.core_name!r}"
        wrong = problem_of(steps, of.snippet, self.rules) or self._wrong_words(form, of)
        return wrong or Attempt(of, steps, path, " ".join(form.description.split()))

    def _core(self, steps: Steps, name: str, of: Unmigrated) -> str | None:
        """Return the path that takes the place of the example's API; of several the one that the example has."""
        program: Program = {"preamble": steps.preamble, "code": steps.code}
        start = preamble_length(program)
        uses = [use for use in self.uses(source_of(program), of.target) if use.name_start_byte >= start]
        paths = {
            use.path
            for use in uses
            if use.name == name == use.path.rpartition(".")[2] and (use.form is UsageForm.CALL or not of.is_called)
        }
        return min(paths, key=lambda path: (path != of.path, path), default=None)

    def _wrong_words(self, form: MigratedCode, of: Unmigrated) -> str | None:
        text, most = form.description, self.drafting.max_chars * self.drafting.max_sentences
        if spans := find_names(text, {of.path.rpartition(".")[2], form.core_name}, self.drafting):
            return f"the description gives a hidden name away: {text[slice(*spans[0])]!r}"
        if len(text.split()) < self.drafting.min_words:
            return f"the description has fewer than {self.drafting.min_words} words"
        return f"the description is longer than {most} characters" if len(text) > most else None
