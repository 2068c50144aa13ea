"""What a model is told about an example that fails in another release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.api.history.states import describe_state
from pipeline.core.vocabularies.changes import RELOCATED
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.model_migrations.candidates import Candidate
from pipeline.families.model_migrations.llm_code import Unmigrated
from pipeline.families.model_migrations.llm_program import statements_of
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import AnyRow, DocumentRow, UsageRow, VerdictRow
from pipeline.llm.tasks.rules import MigratedCodeRules

_OF_CHANGE = ("kind", "path", "parameter", "old", "new", "replacement")
_MOST_BESIDE = 60


class Teller:
    """The documents and states of a library, as far as a model is told of them."""

    def __init__(
        self, documents: Iterable[DocumentRow], usages: Iterable[UsageRow], history: History, rules: MigratedCodeRules
    ) -> None:
        self._history = history
        self._rules = rules
        self._documents: dict[str, list[DocumentRow]] = {}
        for row in documents:
            self._documents.setdefault(row["path"], []).append(row)
        self._called = {(row["snippet_id"], row["path"]) for row in usages if row["form"] == UsageForm.CALL}

    def of(self, candidate: Candidate, failure: VerdictRow) -> Unmigrated:
        """Return what a candidate is asked with; `failure` is the verdict on it in the other release."""
        snippet, rules = candidate.snippet, self._rules
        change: AnyRow = candidate.change
        other = self._other_path(candidate)
        data: dict[str, Any] = {
            "library": snippet["library"],
            "version": candidate.source,
            "target_version": candidate.target,
            "path": candidate.path,
            "change": {name: change[name] for name in _OF_CHANGE},
            "preamble": snippet["preamble"],
            "statements": statements_of(snippet),
            "failure": f"{failure['outcome']}: {failure['detail'] or ''}"[-rules.max_context_characters :],
            "here": self._definition(candidate.path, candidate.source),
            "there": self._definition(other, candidate.target),
            "beside": self._beside(other, candidate),
            "hidden": sorted({candidate.path.rpartition(".")[2], other.rpartition(".")[2]}),
        }
        return Unmigrated(
            candidate.key,
            snippet,
            candidate.target,
            candidate.path,
            (snippet["id"], candidate.path) in self._called,
            data,
        )

    def _other_path(self, candidate: Candidate) -> str:
        """Return where the API is in the other release, as far as the change tells; else its own path."""
        gone = self._history.definition(candidate.path, candidate.target) is None
        is_relocated = candidate.change["kind"] in RELOCATED and candidate.path == candidate.change["path"]
        return str(candidate.change["new"]) if gone and is_relocated else candidate.path

    def _definition(self, path: str, version: str) -> Mapping[str, Any] | None:
        state = self._history.definition(path, version)
        if state is None:
            return None
        documents = holding_at(self._documents.get(path, ()) or self._documents.get(state["path"], ()), version)
        text = next((row["docstring"] for row in documents), "")
        return {
            "path": path,
            "signature": describe_state(state),
            "docstring": text[: self._rules.max_context_characters],
            "deprecation": state["deprecation"]["message"] if state["deprecation"] else None,
        }

    def _beside(self, path: str, candidate: Candidate) -> list[str]:
        """Return the names that stand next to a path in the other release, those that it alone has first."""
        parent = path.rpartition(".")[0]
        names = self._history.beside(path, candidate.target)
        added = [name for name in names if self._history.definition(f"{parent}.{name}", candidate.source) is None]
        return [*added, *(name for name in names if name not in set(added))][:_MOST_BESIDE]
