"""Problems that somebody else writes about changes: what is asked for, and what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.core.errors import present
from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.samples import Drafter, UsageForm
from pipeline.corpus.usages.uses import Use
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import MODULE
from pipeline.families.completions_and_migrations.head import head
from pipeline.families.llm_code_checks import names_of_tests
from pipeline.families.problems.apis.needs import with_library_test
from pipeline.families.problems.changed import Changed
from pipeline.families.problems.drafts import additional_dependencies
from pipeline.families.problems.library import Library
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.running import OpenEnvironment, OtherCode, Tested
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProblemRow, ProblemRunRow
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import SpelledNameRules
from pipeline.llm.tasks.rules import ProblemDraftRules
from pipeline.llm.writers import Refusal


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A problem that is asked for: the change, what bears on it, and what its code may call in its version.

    `spelled_name` are the rules by which its statement may not spell the core API; None for any statement.
    """

    changed: Changed
    facts: Mapping[str, Any]
    library: Library
    spelled_name: SpelledNameRules | None = None

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

    def spelling(self, statement: str) -> list[str]:
        """Return the words of a statement that spell the name of the core API."""
        return spelling_words(self.changed.name, statement, self.spelled_name) if self.spelled_name else []

    @property
    def paths(self) -> frozenset[str]:
        """The public paths by which a program may use the core API."""
        path, version = self.changed.path, self.changed.version
        return frozenset({path, self.library.history.preferred_path(path, version)})

    def also_decided_by(self, programs: Iterable[str]) -> list[str]:
        """Return what programs use that would tell the releases apart too, where the core API alone is to do so.

        Where the other version lacks the core API nothing else can: code that uses it fails there in any case.
        """
        changed, library = self.changed, self.library
        other = changed.other_version
        if not any(library.history.definition(path, other) for path in self.paths):
            return []
        releases = {changed.version, other}
        breaking = {
            row["path"]
            for row in library.changes.values()
            if row["breaking"] and {row["old_version"], row["new_version"]} == releases
        }
        used = {
            path for program in programs for path in (*(use.path for use in self.uses(program)), *_imported(program))
        }
        used = {path for path in used if library.history.definition(path, changed.version) is not None}
        absent = {path for path in used if library.history.definition(path, other) is None}
        return sorted(path for path in used & (breaking | absent) if not self._is_of_core(path))

    def _is_of_core(self, path: str) -> bool:
        """Say whether a path is the core API, a member of it, or what it stands in."""
        return any(f"{path}.".startswith(f"{core}.") or f"{core}.".startswith(f"{path}.") for core in self.paths)


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

    @property
    def head(self) -> ast.FunctionDef:
        """The function that is to be written: the last one of the program."""
        functions = [node for node in parse_python(self.program).body if isinstance(node, ast.FunctionDef)]
        return functions[-1]

    def tests(self, roots: Iterable[str]) -> str | None:
        """The hidden tests, with one that is passed only with the library, its modules `roots`.

        None where no hidden test calls the function so that this can be made.
        """
        return with_library_test(self.hidden, self.head.name, MODULE, roots)


@dataclass(frozen=True, slots=True)
class WrittenProblem:
    """What came of it: the problem with the runs that prove it, or why there is none; who wrote it, at what cost."""

    text: Text | None
    runs: Sequence[ProblemRunRow]
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

    def write(self, requests: Sequence[Unwritten], places: Mapping[str, OpenEnvironment]) -> list[WrittenProblem]:
        """Write a problem for each change and run it in the places of both versions, in their order."""


def _imported(program: str) -> Iterator[str]:
    """Yield what a program imports, as paths."""
    for node in ast.walk(parse_python(program)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def problem_id(request: Unwritten, starting_code: str, solution: str) -> str:
    """Return the id of a problem about a change."""
    changed = request.changed
    return content_id("problem", request.library.name, changed.version, changed.path, starting_code, solution)


def hidden_tests(request: Unwritten, text: Text) -> str:
    """Return the hidden tests of an accepted text, with the test that needs the library.

    Errors: ValueError if no hidden test calls the function.
    """
    changed = request.changed
    name = f"the test that needs {request.library.name}, of the problem on {changed.path} in {changed.version}"
    return present(text.tests(request.roots), name)


def tested(request: Unwritten, text: Text) -> Tested:
    """Return a problem as it is to be run."""
    hidden, code = hidden_tests(request, text), text.other_solution
    other = OtherCode(ProblemRun.OTHER_MODEL, code, text.starting_code + code) if code else None
    return Tested(
        id=problem_id(request, text.starting_code, text.solution),
        version=request.changed.version,
        other_version=request.changed.other_version,
        starting_code=text.starting_code,
        solution=text.solution,
        visible=text.visible,
        hidden=hidden,
        any_api=hidden,
        module=MODULE,
        other=other,
    )


def drafted_row(
    request: Unwritten,
    text: Text,
    written: WrittenProblem,
    place: OpenEnvironment,
    rules: ProblemRules,
    score: MutationScore,
) -> ProblemRow:
    """Return the row of a problem that was written about a change; `score` is that of its hidden tests."""
    changed, library = request.changed, request.library
    uses = request.uses(text.program)
    calls = list(dict.fromkeys(use.path for use in uses if use.form == UsageForm.CALL))
    paths = list(dict.fromkeys([changed.path, *calls]))
    documents = [(path, row) for path in paths if (row := library.document(path, changed.version))]
    tests = hidden_tests(request, text)
    texts = [text.program, text.visible, tests]
    pins = additional_dependencies(texts, request.roots | {MODULE}, place.row["lock"] or "", place.environment)
    id_ = problem_id(request, text.starting_code, text.solution)
    return {
        **head(id_, {"library": library.name, "id": ""}, changed.path, changed.version, changed.tags, library.history),
        "snippet_id": None,
        "change_id": changed.id,
        "problem": text.statement,
        "starting_code": text.starting_code,
        "solution": text.solution,
        "test": text.visible,
        "hidden_tests": tests,
        "module": MODULE,
        "stated_tests": 0,
        "recorded_tests": 0,
        "drafted_tests": len(names_of_tests(parse_python(text.hidden))),
        "category": str(changed.change["gitchameleon_category"]),
        "target_entity": changed.name,
        "accepted_paths": [],
        "api_calls": calls,
        "solution_api_call": not request.paths.isdisjoint(calls),
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
        **score.columns,
    }
