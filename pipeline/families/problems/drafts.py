"""A candidate becomes a problem, as far as that can be said before anything has run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.changes import OF_PARAMETERS
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.environments.installed import installed_names
from pipeline.execution.sandbox.environment import Environment
from pipeline.families.completions_and_migrations.head import head
from pipeline.families.passed_parameters import passed_parameters
from pipeline.families.problems.candidates import Candidate
from pipeline.families.problems.descriptions import is_reference
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import ProblemProgram, other_program, other_solution, write
from pipeline.families.problems.rules import ProblemRules, StatementRules
from pipeline.families.problems.running import OtherCode
from pipeline.families.problems.statement import Source, describe, described_parameters, names_revealed
from pipeline.families.problems.tasks import CaseOf, unexplained_parameters
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProblemHead
from pipeline.lake.stage import Reject
from pipeline.llm.names import redact
from pipeline.llm.rules import DraftingRules


class ProblemDraft(ProblemHead):
    """A row of `problems` without statement and tests."""

    starting_code: str
    solution: str
    category: str | None
    target_entity: str
    api_calls: list[str]
    solution_api_call: bool
    functional: bool
    webdev: bool
    documented_paths: list[str]
    docs: list[str]
    other_version: str | None


@dataclass(frozen=True, slots=True)
class Draft:
    """A problem that has yet to be proven: its row without statement and tests, what is to be run, and what is stated.

    `source` is what the statement will be written from, once it is known which of the stated cases hold. `other` is
    what the other version wants in place of the solution, if that is known.
    """

    row: ProblemDraft
    candidate: Candidate
    written: ProblemProgram
    source: Source
    other: OtherCode | None

    @property
    def id(self) -> str:
        """The problem's id."""
        return str(self.row["id"])

    @property
    def documented(self) -> tuple[CaseOf, ...]:
        """The cases that the example states."""
        return self.candidate.task.cases


def draft(candidate: Candidate, library: Library, rules: ProblemRules, drafting: DraftingRules) -> Draft | Reject:
    """Write the problem of a candidate, which names neither the core API nor those of its parameters that changed.

    Rejects: LEAKS_ANSWER where what is given names the core API; NO_TEXT where no sentence says what to do, or the text
    of a parameter only refers to a hidden name; SEVERAL_ANSWERS as in `_replaced_by`.
    """
    task, version = candidate.task, candidate.version
    keywords = {keyword for use in candidate.uses if use.path == candidate.path for keyword in use.keywords}
    changed = library.changed_parameters(candidate.path, version) | _witnessed_parameters(candidate)
    hidden = (candidate.name, *sorted(keywords & changed))
    key = f"{candidate.example.key} {version}"
    if replacement := _replaced_by(candidate, library):
        detail = f"{version} deprecates {candidate.path} for {replacement}, which the tests would not take"
        return Reject(key, RejectReason.SEVERAL_ANSWERS, detail)
    written = write(task, hidden, rules)
    if names := names_revealed([_without_library(written, library.roots(version))], hidden, drafting):
        return Reject(key, RejectReason.LEAKS_ANSWER, f"the starting code has {names[0]!r}")
    docstrings = library.docstrings([candidate.path], version)
    document = library.document(candidate.path, version)
    required = _required(candidate, rules.statement).format(library=library.name, version=version)
    passed = passed_parameters(written.program, written.parameters, candidate.name, document)
    apis = library.functions(version)
    api = library.name, candidate.name, hidden, docstrings, document
    source = Source(*api, required, passed, apis, written.program)
    if describe(source, drafting) is None:
        detail = f"none of {len(docstrings)} docstrings has a sentence that describes the task"
        return Reject(key, RejectReason.NO_TEXT, detail)
    texts = described_parameters(source, rules.statement, drafting)
    if vague := [name for name, text in texts.items() if is_reference(redact(text, hidden, drafting), drafting)]:
        detail = f"{', '.join(vague)}: the documentation only refers to a name that is hidden"
        return Reject(key, RejectReason.NO_TEXT, detail)
    if candidate.example.witnessed is not None:
        described = [written.parameters.index(name) for name in texts]
        if unexplained := unexplained_parameters(task, candidate.name, written.parameters, described):
            return Reject(key, RejectReason.NO_TEXT, f"nothing explains {', '.join(unexplained)}")
    identity = candidate.example.snippet["library"], version, candidate.path, written.starting_code, written.solution
    documented = [path for path in _documented_paths(candidate) if library.document(path, version)]
    documents = [document for path in documented if (document := library.document(path, version))]
    id_ = content_id("problem", *identity)
    row: ProblemDraft = {
        **head(
            id_,
            candidate.example.snippet,
            candidate.path,
            version,
            candidate.tags,
            library.history,
        ),
        "change_id": candidate.change["id"] if candidate.change else None,
        "starting_code": written.starting_code,
        "solution": written.solution,
        "category": candidate.category,
        "target_entity": candidate.name,
        "api_calls": list(candidate.api_calls),
        "solution_api_call": candidate.path in candidate.api_calls,
        "functional": written.functional,
        "webdev": library.name in rules.webdev,
        "documented_paths": documented,
        "docs": list(dict.fromkeys(document["url"] for document in documents if document["url"])),
        "other_version": candidate.other_version,
    }
    return Draft(row, candidate, written, source, _other_code(candidate, written, rules))


def additional_dependencies(
    texts: Iterable[str], own: Collection[str], lock: str, environment: Environment
) -> list[str]:
    """Return the pins of what program and tests import beside the standard library and their `own`, by the lock.

    Which distribution brings a module is read from what is installed: `dateutil` comes with `python-dateutil`.
    """
    imported = {name for text in texts for name in _imported(text)}
    others = imported - set(sys.stdlib_module_names) - set(own) - {"pytest"}
    if not others:
        return []
    return sorted(pin for pin in _pins(lock) if others & set(installed_names(environment, _distribution(pin))))


def _imported(text: str) -> Iterator[str]:
    """Yield the first names of the modules that a program imports."""
    for node in ast.walk(parse_python(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _pins(lock: str) -> Iterator[str]:
    for line in lock.splitlines():
        if match := re.match(r"([A-Za-z0-9][\w.-]*==[^\s;\\]+)", line):
            yield match[1]


def _distribution(pin: str) -> str:
    return canonicalize_name(pin.partition("==")[0])


def _other_code(candidate: Candidate, written: ProblemProgram, rules: ProblemRules) -> OtherCode | None:
    other = candidate.other
    program = other_program(candidate.task, other.task, rules) if other is not None else None
    if other is None or program is None:
        return None
    solution = other_solution(written, other.task, program)
    return OtherCode(other.role, solution, program) if solution is not None else None


def _required(candidate: Candidate, rules: StatementRules) -> str:
    """Return the form of the sentence on what the tests want called, "" where any API of the library will do."""
    if candidate.required is None:
        return ""
    if candidate.new_parameter is not None:
        return rules.new_parameter
    return rules.introduced if candidate.introduced else rules.required


def _witnessed_parameters(candidate: Candidate) -> frozenset[str]:
    """Return the names on either side of the parameter of which running shows a change."""
    witnessed = candidate.example.witnessed
    if witnessed is None or witnessed.change["kind"] not in OF_PARAMETERS:
        return frozenset()
    return frozenset(filter(None, (witnessed.change["parameter"], witnessed.change["new"])))


def _replaced_by(candidate: Candidate, library: Library) -> str | None:
    """Return what a release says to use instead of the API that tests want called, if it has that itself.

    That is a replacement which the release defines, or a private name in the message: `abs_timedelta` is "still
    available as the private member `_abs_timedelta`".
    """
    definition = library.history.definition(candidate.path, candidate.version) if candidate.required else None
    mark = definition["deprecation"] if definition is not None else None
    if mark is None:
        return None
    replacement = mark["replacement"]
    if replacement and library.history.definition(replacement, candidate.version) is not None:
        return replacement
    texts = f"{replacement or ''} {mark['message'] or ''}"
    private = re.search(r"(?<!\w)_[^\W\d_]\w*", texts)
    return private[0] if private else None


def _documented_paths(candidate: Candidate) -> list[str]:
    return list(dict.fromkeys([candidate.path, *candidate.api_calls]))


def _without_library(written: ProblemProgram, roots: Collection[str]) -> str:
    """Return the starting code without the names of the library's modules, which everybody is told anyway."""
    return re.sub(rf"\b(?:{'|'.join(sorted(map(re.escape, roots)))})\b", " ", written.starting_code)
