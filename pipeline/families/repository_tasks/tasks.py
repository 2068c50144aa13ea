"""The stage `repository_tasks`: functions of real projects to be written again, judged by the project's own tests."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import more_itertools

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import RequirementBasis, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.repository_tasks.drawing import draw_tests
from pipeline.families.repository_tasks.llm_specifications import RequirementWriter, Undocumented
from pipeline.families.repository_tasks.mutating import MutatedCode, Noticed, notice_mutants
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.project_context import Workshop, open_project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.running import TestRun, run_variants, worst
from pipeline.families.repository_tasks.specification import Requirement, input_code, parsed, requirement_of
from pipeline.lake.guard import attempt, guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProjectFileRow, ProjectRow, RepositoryTaskRow, Tables, TracedFunctionRow
from pipeline.lake.schema import Row
from pipeline.lake.stage import Output, Reject

EMPTY = "raise NotImplementedError"


@dataclass(frozen=True)
class Candidate:
    """A function that may become a task: its row, its file by lines, what it is to do, the tests that may judge it.

    Of the tests those come first that are to be listed; the others are taken in where these notice too little.
    """

    function: TracedFunctionRow
    lines: Sequence[str]
    requirement: Requirement
    tests: tuple[str, ...]
    reached: Mapping[str, frozenset[int]] = field(default_factory=dict)
    basis: RequirementBasis = RequirementBasis.DOCSTRING

    @property
    def id(self) -> str:
        """The id of its function."""
        return str(self.function["id"])

    @property
    def body(self) -> range:
        """The lines of the body."""
        return range(self.function["body_first_line"], self.function["body_last_line"] + 1)

    def filled(self, body: Sequence[str]) -> str:
        """Return the whole file with other lines in place of the body."""
        return "\n".join([*self.lines[: self.body.start - 1], *body, *self.lines[self.body.stop - 1 :]])

    @property
    def reference(self) -> list[str]:
        """The lines of the body as they stand."""
        return list(self.lines[self.body.start - 1 : self.body.stop - 1])

    @property
    def margin(self) -> str:
        """The white space before the first statement of the body."""
        code = (line for line in self.reference if line.strip() and not line.lstrip().startswith("#"))
        return more_itertools.first(code)[: self.function["indent"]]


def repository_tasks_stage(
    tables: Tables,
    workshop: Workshop,
    mutation: MutationRules,
    writer: RequirementWriter | None = None,
) -> Output:
    """Make tasks of a library's traced functions; the unit is a function.

    Refused are, in this order: NO_TEXT (no docstring, or one of too few words), TOO_SHORT and TOO_LONG (lines of the
    body with code), OVER_QUOTA, NOT_PROVEN (too few of the tests fail without the body, or those that do fail with it
    in place too). Where functions with a docstring leave places, `writer` is asked for the requirements of others: one
    that it has not written yet is DRAFT_WAITING, one that was not accepted has a note DRAFT_REFUSED.

    Errors: those of `open_project`.
    """
    files = {(row["project_id"], row["path"]): row["text"].split("\n") for row in tables["project_files"]}
    by_function: dict[str, dict[str, frozenset[int]]] = defaultdict(dict)
    for reach in tables["reaches"]:
        by_function[reach["function_id"]][reach["test"]] = frozenset(reach["lines"])
    shown = [(row, files[row["project_id"], row["path"]], by_function[row["id"]]) for row in tables["traced_functions"]]
    made = list(guarded(shown, lambda one: str(one[0]["id"]), lambda one: [candidate(*one, workshop.rules)]))
    silent = [one for one, said in zip(shown, made, strict=True) if _is_silent(said)] if writer else []
    drafted = _drafted(silent, sum(isinstance(one, Candidate) for one in made), workshop.rules, writer)
    told = [drafted.made.get(row["id"], one) for row, one in zip(tables["traced_functions"], made, strict=True)]
    candidates = sorted((one for one in told if isinstance(one, Candidate)), key=lambda one: one.id)
    rows: list[RepositoryTaskRow] = []
    rejects = [one for one in told if isinstance(one, Reject)]
    over = candidates[workshop.rules.tasks :]
    rejects += [Reject(one.id, RejectReason.OVER_QUOTA, _told(one.function)) for one in over]
    for project in tables["projects"]:
        own = [one for one in candidates[: workshop.rules.tasks] if one.function["project_id"] == project["id"]]
        proven = attempt(project["purl"], prove, project, own, workshop, mutation) if own else []
        if isinstance(proven, Reject):
            rejects += [replace(proven, key=one.id) for one in own]
            continue
        for result in proven:
            rejects.append(result) if isinstance(result, Reject) else rows.append(result)
    rejects.sort(key=lambda reject: reject.key)
    return Output({"repository_tasks": rows}, len(tables["traced_functions"]), len(rows), rejects, drafted.notes)


def candidate(
    function: TracedFunctionRow, lines: Sequence[str], reached: Mapping[str, frozenset[int]], rules: RepositoryRules
) -> Candidate | Reject:
    """Return what a task can be made of, or why none can."""
    node = parsed(lines[function["signature_first_line"] - 1 : function["body_last_line"]])
    requirement = requirement_of(function["docstring"] or "", node)
    if len(requirement.functionality.split()) < rules.min_words:
        why = "it has no docstring" if not function["docstring"] else "its docstring says too little"
        return Reject(function["id"], RejectReason.NO_TEXT, f"{_told(function)}: {why}")
    return _fitting(Candidate(function, lines, requirement, (), reached), rules)


def _fitting(made: Candidate, rules: RepositoryRules) -> Candidate | Reject:
    """Choose the tests of a candidate, if its body has the right size."""
    size = len(_code_lines(made))
    if not rules.min_body_lines <= size <= rules.max_body_lines:
        reason = RejectReason.TOO_SHORT if size < rules.min_body_lines else RejectReason.TOO_LONG
        return Reject(made.id, reason, f"{_told(made.function)}: {size} lines of code")
    return replace(made, tests=tuple(draw_tests(made.reached, made.body, rules.max_tests + rules.further_tests)))


def _is_silent(made: Candidate | Reject) -> bool:
    return isinstance(made, Reject) and made.reason is RejectReason.NO_TEXT


@dataclass(frozen=True, slots=True)
class _Drafted:
    """What asking for requirements came to: by function, what stands in the place of its refusal; and notes."""

    made: Mapping[str, Candidate | Reject]
    notes: Sequence[Reject]


def _drafted(
    silent: Sequence[tuple[Row, Sequence[str], Mapping[str, frozenset[int]]]],
    taken: int,
    rules: RepositoryRules,
    writer: RequirementWriter | None,
) -> _Drafted:
    """Ask for the requirements of functions that say nothing, of as many as there are places that are not `taken`."""
    if writer is None:
        return _Drafted({}, ())
    asked = _asked_for(silent, taken, rules)
    made: dict[str, Candidate | Reject] = {}
    notes: list[Reject] = []
    for one, said in zip(asked, writer.require([_undocumented(one) for one in asked]), strict=True):
        if said.requirement is not None:
            made[one.id] = replace(one, requirement=said.requirement)
        elif said.refusal is not None and said.refusal.waiting:
            made[one.id] = Reject(one.id, RejectReason.DRAFT_WAITING, f"{_told(one.function)}: {said.refusal.problem}")
        elif said.refusal is not None:
            notes.append(Reject(one.id, RejectReason.DRAFT_REFUSED, f"{_told(one.function)}: {said.refusal.problem}"))
    return _Drafted(made, notes)


def _asked_for(
    silent: Sequence[tuple[Row, Sequence[str], Mapping[str, frozenset[int]]]], taken: int, rules: RepositoryRules
) -> list[Candidate]:
    """Choose the functions that say nothing and have a body of the right size, as many as there are places left."""
    blank, basis = Requirement("", ""), RequirementBasis.MODEL
    tried = [_fitting(Candidate(row, lines, blank, (), reached, basis), rules) for row, lines, reached in silent]
    fitting = sorted((one for one in tried if isinstance(one, Candidate)), key=lambda one: one.id)
    return fitting[: max(0, rules.tasks - taken)]


def wanting_requirements(
    silent: Sequence[Row], taken: int, project_files: Sequence[ProjectFileRow], rules: RepositoryRules
) -> list[Candidate]:
    """Return those of the functions that say nothing whose requirements a model would be asked for."""
    files = {(row["project_id"], row["path"]): row["text"].split("\n") for row in project_files}
    return _asked_for([(row, files[row["project_id"], row["path"]], {}) for row in silent], taken, rules)


def _undocumented(one: Candidate) -> Undocumented:
    first, last = one.function["signature_first_line"] - 1, one.function["signature_last_line"]
    return Undocumented(
        id=one.id,
        namespace=one.function["namespace"],
        signature="\n".join(one.lines[first:last]),
        body="\n".join(one.reference),
        docstring=one.function["docstring"],
        node=parsed(one.lines[first : one.body.stop - 1]),
    )


def prove(
    project: ProjectRow, candidates: Sequence[Candidate], workshop: Workshop, mutation: MutationRules
) -> list[RepositoryTaskRow | Reject]:
    """Run the tests of candidates without their bodies, those that fail then with the bodies put in place, and mutated.

    Errors: those of `open_project`.
    """
    opened = open_project(project, workshop)
    without = [
        Variant(one.id, one.tests, {one.function["path"]: one.filled([one.margin + EMPTY])}) for one in candidates
    ]
    emptied = {run.id: run for run in run_variants(opened, without, workshop.workers)}
    judging = {one.id: _failing(emptied[one.id], one.tests) for one in candidates}
    able = [one for one in candidates if len(judging[one.id]) >= workshop.rules.min_tests]
    complete = [Variant(one.id, judging[one.id], {one.function["path"]: one.filled(one.reference)}) for one in able]
    filled = {run.id: run for run in run_variants(opened, complete, workshop.workers)} if complete else {}
    proven = [one for one in able if _passes(filled[one.id])]
    noticed = _mutate(opened, proven, judging, workshop, mutation)

    def judged(one: Candidate) -> list[RepositoryTaskRow | Reject]:
        if refusal := _refusal(one, judging[one.id], emptied[one.id], filled.get(one.id)):
            return [refusal]
        tests, score = noticed[one.id].tests, noticed[one.id].score
        ended = worst(emptied[one.id].judged[test] for test in tests)
        return [task_row(project, one, tuple(sorted(tests)), ended, score)]

    return list(guarded(candidates, lambda one: one.id, judged))


def _mutate(
    project: Project,
    candidates: Sequence[Candidate],
    judging: Mapping[str, Sequence[str]],
    workshop: Workshop,
    mutation: MutationRules,
) -> dict[str, Noticed]:
    """Return for each candidate which mutants of its body are noticed, and by which tests."""
    listed = workshop.rules.max_tests
    codes = [
        MutatedCode(
            one.id,
            one.function["path"],
            "\n".join(one.lines),
            one.body,
            judging[one.id][:listed],
            judging[one.id][listed:],
        )
        for one in candidates
    ]
    hurried = replace(project, rules=project.rules.model_copy(update={"test_time_s": mutation.time_s}))
    return notice_mutants(
        codes,
        Family.REPOSITORY_TASK,
        mutation,
        lambda variants: run_variants(hurried, variants, workshop.workers),
    )


def _passes(run: TestRun) -> bool:
    return run.outcome is Outcome.PASSED and run.worst is TestOutcome.PASSED


def _failing(run: TestRun, tests: Sequence[str]) -> list[str]:
    """Return the tests that notice that a body is missing, in their order; to run out of time is no failure."""
    return [test for test in tests if run.judged.get(test) in (TestOutcome.FAILED, TestOutcome.ERROR)]


def _refusal(one: Candidate, tests: Sequence[str], emptied: TestRun, filled: TestRun | None) -> Reject | None:
    if filled is None:
        why = emptied.detail or "no test" if emptied.outcome is not Outcome.PASSED else f"{len(tests)} tests"
        told = f"{_told(one.function)}: {why} of {len(one.tests)} fail without its body"
        return Reject(one.id, RejectReason.NOT_PROVEN, told)
    if not _passes(filled):
        told = f"{_told(one.function)}: its tests come out as {filled.worst} with its own body: {filled.detail or ''}"
        return Reject(one.id, RejectReason.NOT_PROVEN, told[:500])
    return None


def task_row(
    project: ProjectRow, one: Candidate, tests: tuple[str, ...], emptied: TestOutcome, score: MutationScore
) -> RepositoryTaskRow:
    """Return the task of a candidate that these tests judge; `emptied` is how they end without its body."""
    function, said = one.function, one.requirement
    first, last = function["signature_first_line"] - 1, function["signature_last_line"]
    code = _code_lines(one)
    covered = code & frozenset[int]().union(*(one.reached[test] for test in tests))
    return {
        "library": function["library"],
        "project_id": function["project_id"],
        "version": function["version"],
        "namespace": function["namespace"],
        "type": function["type"],
        "class_name": function["class_name"],
        "name": function["name"],
        "path": function["path"],
        "signature_first_line": function["signature_first_line"],
        "signature_last_line": function["signature_last_line"],
        "body_first_line": function["body_first_line"],
        "body_last_line": function["body_last_line"],
        "indent": function["indent"],
        "intra_class": function["intra_class"],
        "intra_file": function["intra_file"],
        "cross_file": function["cross_file"],
        "id": content_id(one.id, said.functionality, said.arguments, tests),
        "function_id": one.id,
        "project": project["project"],
        "release_time": project["release_time"],
        "functionality": said.functionality,
        "arguments": said.arguments,
        "requirement_basis": one.basis,
        "tests": list(tests),
        "tests_reaching": function["tests"],
        "coverage": round(len(covered) / len(code), 4),
        "input_code": input_code(one.lines[first:last], one.margin, said),
        "reference": "\n".join(one.reference) + "\n",
        "contexts_above": "\n".join(one.lines[:first]) + ("\n" if first else ""),
        "contexts_below": "\n".join(one.lines[one.body.stop - 1 :]),
        "domain": project["domain"],
        "reference_outcome": TestOutcome.PASSED,
        "emptied_outcome": emptied,
        # a project of which tests were traced has both
        "python": project["python"] or "",
        "lock_id": project["lock_id"] or "",
        **score.columns,
    }


def _code_lines(one: Candidate) -> frozenset[int]:
    """Return the lines of the body on which a statement begins."""
    first = one.function["signature_first_line"]
    node = parsed(one.lines[first - 1 : one.body.stop - 1])
    begun = {part.lineno + first - 1 for part in ast.walk(node) if isinstance(part, ast.stmt) and part is not node}
    return frozenset(begun & set(one.body))


def _told(function: TracedFunctionRow) -> str:
    return str(function["namespace"])
