"""Problems that somebody else writes about changes: what is asked for, and what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.drafting import Refusal
from pipeline.drafting.kinds.code import names_of_tests
from pipeline.drafting.kinds.rules import ProblemDraftRules
from pipeline.instances.head import head
from pipeline.lake import Row, content_id
from pipeline.problems.changed import Changed
from pipeline.problems.drafts import additional_dependencies
from pipeline.problems.library import Library
from pipeline.problems.rules import ProblemRules
from pipeline.problems.running import OtherCode, Place, Tested
from pipeline.terms import Drafter, ProblemRun, UsageForm
from pipeline.usage import Use
from pipeline.validation.cases import MODULE


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A problem that is asked for: the change, what bears on it, and what its code may call in its version."""

    changed: Changed
    facts: Mapping[str, Any]
    library: Library

    @property
    def id(self) -> str:
        """What stands for it: the change's id."""
        return self.changed.id

    @property
    def roots(self) -> frozenset[str]:
        """The modules by which the library is imported."""
        return self.library.roots(self.changed.version)

    def uses(self, program: str) -> tuple[Use, ...]:
        """Return the uses of the library's API in a program."""
        return self.library.uses(program, self.changed.version)

    @property
    def paths(self) -> frozenset[str]:
        """The public paths by which a program may use the core API."""
        path, version = self.changed.path, self.changed.version
        return frozenset({path, self.library.history.preferred_path(path, version)})


@dataclass(frozen=True, slots=True)
class Text:
    """What was written: a problem with its tests; each piece of code ends with a line's end, or is empty."""

    statement: str
    starting_code: str
    solution: str
    visible: str
    hidden: str
    other_solution: str

    @property
    def program(self) -> str:
        """The starting code with the reference."""
        return self.starting_code + self.solution


@dataclass(frozen=True, slots=True)
class WrittenProblem:
    """What came of it: the problem with the runs that prove it, or why there is none; who wrote it, at what cost."""

    text: Text | None
    runs: Sequence[Row]
    refusal: Refusal | None
    model: str
    prompt_sha256: str
    tokens: int
    nano_usd: int


class ProblemWriter(Protocol):
    """Anything that can write problems about changes, for many of them in one go."""

    @property
    def rules(self) -> ProblemDraftRules:
        """Which changes it is asked about, and what it is shown of them."""

    def write(self, wanted: Sequence[Unwritten], places: Mapping[str, Place]) -> list[WrittenProblem]:
        """Write a problem for each change and run it in the places of both versions, in their order."""


def problem_id(wanted: Unwritten, starting_code: str, solution: str) -> str:
    """Return the id of a problem about a change."""
    changed = wanted.changed
    return content_id("problem", wanted.library.name, changed.version, changed.path, starting_code, solution)


def tested(wanted: Unwritten, text: Text) -> Tested:
    """Return a problem as it is to be run."""
    return Tested(
        id=problem_id(wanted, text.starting_code, text.solution),
        version=wanted.changed.version,
        other_version=wanted.changed.other_version,
        starting_code=text.starting_code,
        solution=text.solution,
        visible=text.visible,
        hidden=text.hidden,
        module=MODULE,
        other=OtherCode(ProblemRun.OTHER_MODEL, text.other_solution) if text.other_solution else None,
    )


def drafted_row(wanted: Unwritten, text: Text, written: WrittenProblem, place: Place, rules: ProblemRules) -> Row:
    """Return the row of a problem that was written about a change."""
    changed, library = wanted.changed, wanted.library
    uses = wanted.uses(text.program)
    calls = list(dict.fromkeys(use.path for use in uses if use.form == UsageForm.CALL))
    paths = list(dict.fromkeys([changed.path, *calls]))
    documents = [(path, found) for path in paths if (found := library.document(path, changed.version))]
    texts = [text.program, text.visible, text.hidden]
    pins = additional_dependencies(texts, wanted.roots | {MODULE}, place.row["lock"], place.environment)
    no_snippet = {"library": library.name, "id": None}
    return {
        "id": problem_id(wanted, text.starting_code, text.solution),
        **head(no_snippet, changed.path, changed.version, changed.tags, library.history),
        "change_id": changed.id,
        "problem": text.statement,
        "starting_code": text.starting_code,
        "solution": text.solution,
        "test": text.visible,
        "hidden_tests": text.hidden,
        "module": MODULE,
        "stated_tests": 0,
        "recorded_tests": 0,
        "drafted_tests": len(names_of_tests(ast.parse(text.hidden))),
        "category": changed.change["gitchameleon_category"],
        "target_entity": changed.name,
        "api_calls": calls,
        "solution_api_call": not wanted.paths.isdisjoint(calls),
        "additional_dependencies": pins,
        "functional": True,
        "webdev": library.name in rules.webdev,
        "documented_paths": [path for path, _ in documents],
        "docs": list(dict.fromkeys(document["url"] for _, document in documents if document["url"])),
        "other_version": changed.other_version,
        "written_from": written.prompt_sha256,
        "drafter": Drafter.MODEL,
        "model": written.model,
        "prompt_sha256": written.prompt_sha256,
        "tokens": written.tokens,
        "nano_usd": written.nano_usd,
    }


def refused_row(wanted: Unwritten, refusal: Refusal) -> Row:
    """Return the row of `refused_problems` of a change that nothing accepted was written about."""
    return {
        "id": content_id(wanted.id, refusal.model, refusal.prompt_sha256),
        "library": wanted.library.name,
        "change_id": wanted.id,
        "version": wanted.changed.version,
        "path": wanted.changed.path,
        "problem": refusal.problem,
        "model": refusal.model,
        "prompt_sha256": refusal.prompt_sha256,
        "tries": refusal.tries,
        "tokens": refusal.tokens,
        "nano_usd": refusal.nano_usd,
    }
