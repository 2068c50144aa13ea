"""The stage `repository_tasks`: functions of real projects to be written again, judged by the project's own tests."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

import more_itertools

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.projects import RequirementBasis, TestOutcome
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.families.messages import sources_of_tests, unstated
from pipeline.families.repository_tasks.drawing import draw_tests
from pipeline.families.repository_tasks.llm_specifications import RequirementWriter, Undocumented
from pipeline.families.repository_tasks.mutating import MutatedCode, Noticed, notice_mutants
from pipeline.families.repository_tasks.project import Project, Variant
from pipeline.families.repository_tasks.project_context import ProjectContext, open_project
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.running import run_variants
from pipeline.families.repository_tasks.specification import Requirement, input_code, parsed, requirement_of
from pipeline.families.repository_tasks.tree import Tree
from pipeline.families.repository_tasks.variant_runs import TestRun, worst
from pipeline.lake.guard import attempt, guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProjectFileRow, ProjectRow, RepositoryTaskRow, Tables, TracedFunctionRow
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
    project_context: ProjectContext,
    mutation: MutationRules,
    writer: RequirementWriter | None = None,
) -> Output:
    """Make tasks of a library's traced functions; the unit is a function.

    Refused are, in this order: NO_TEXT (no docstring, or one of too few words), TOO_SHORT and TOO_LONG (lines of the
    body with code), NEAR_DUPLICATE (another body of the file is almost the same), NOT_COVERED (the tests run too few of
    them), OVER_QUOTA, NOT_PROVEN (too few of the tests fail without the body, or those that do fail with it in place
    too), WEAK_TESTS (too few mutants of it differ from it, or its tests pass without a part of it), UNKNOWABLE (the
    tests want a text that nothing states).
    Where functions with a docstring leave places, `writer` is asked for the requirements of others: one that it has not
    written yet is DRAFT_WAITING, one that was not accepted has a note DRAFT_REFUSED.

    Errors: those of `open_project`.
    """
    files = {(row["project_id"], row["path"]): row["text"].split("\n") for row in tables["project_files"]}
    by_function: dict[str, dict[str, frozenset[int]]] = defaultdict(dict)
    for reach in tables["line_coverage"]:
        by_function[reach["function_id"]][reach["test"]] = frozenset(reach["lines"])
    traced = [
        (row, files[row["project_id"], row["path"]], by_function[row["id"]]) for row in tables["traced_functions"]
    ]
    results = list(
        guarded(traced, lambda trace: str(trace[0]["id"]), lambda trace: [candidate(*trace, project_context.rules)])
    )
    silent = (
        [drawn for drawn, requirement in zip(traced, results, strict=True) if _is_silent(requirement)] if writer else []
    )
    drafted = _drafted(silent, sum(isinstance(drawn, Candidate) for drawn in results), project_context.rules, writer)
    detail = [
        drafted.results.get(row["id"], drawn) for row, drawn in zip(tables["traced_functions"], results, strict=True)
    ]
    candidates = sorted((drawn for drawn in detail if isinstance(drawn, Candidate)), key=lambda candidate: candidate.id)
    rows: list[RepositoryTaskRow] = []
    rejects = [drawn for drawn in detail if isinstance(drawn, Reject)]
    over = candidates[project_context.rules.tasks :]
    rejects += [Reject(drawn.id, RejectReason.OVER_QUOTA, drawn.function["namespace"]) for drawn in over]
    for project in tables["projects"]:
        own = [
            drawn
            for drawn in candidates[: project_context.rules.tasks]
            if drawn.function["project_id"] == project["id"]
        ]
        proven = attempt(project["purl"], prove, project, own, project_context, mutation) if own else []
        if isinstance(proven, Reject):
            rejects += [replace(proven, key=drawn.id) for drawn in own]
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
    words = _requirement_words(requirement.functionality, rules)
    if words < rules.min_words:
        why = "it has no docstring" if not function["docstring"] else "its docstring says too little"
        return Reject(function["id"], RejectReason.NO_TEXT, f"{function['namespace']}: {why}")
    result = _fitting(Candidate(function, lines, requirement, (), reached), rules)
    if isinstance(result, Candidate):
        words, size = words + len(requirement.arguments.split()), len(_code_lines(result))
        if words < rules.min_words_per_line * size:
            detail = f"{function['namespace']}: {words} words ask for {size} lines"
            return Reject(function["id"], RejectReason.NO_TEXT, detail)
    return result


def _requirement_words(text: str, rules: RepositoryRules) -> int:
    """Count the words of a requirement outside sentences that do not say what a function does."""
    sentences = re.split(r"(?<=[.!?])\s+|\n{2,}", text)
    return sum(
        len(each.split()) for each in sentences if not rules.not_a_requirement.fullmatch(each.strip().rstrip(".!"))
    )


def _fitting(result: Candidate, rules: RepositoryRules) -> Candidate | Reject:
    """Choose the tests of a candidate, if its body has the right size."""
    size = len(_code_lines(result))
    if not rules.min_body_lines <= size <= rules.max_body_lines:
        reason = RejectReason.TOO_SHORT if size < rules.min_body_lines else RejectReason.TOO_LONG
        return Reject(result.id, reason, f"{result.function['namespace']}: {size} lines of code")
    tests = tuple(
        draw_tests(result.reached, result.body, rules.max_tests + rules.further_tests, result.function["name"])
    )
    if refusal := _copied(result, rules):
        return refusal
    # Where a model may be asked for a requirement, nobody has looked yet which tests reach the function.
    if result.reached and (refusal := _uncovered(result, tests, rules)):
        return refusal
    return replace(result, tests=tests)


def _copied(result: Candidate, rules: RepositoryRules) -> Reject | None:
    """Return the reject NEAR_DUPLICATE of a candidate in whose file another body is almost the same."""
    bodies = _bodies("\n".join(result.lines))
    line = result.function["signature_first_line"]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(bodies.get(line, ""))
    for other, body in bodies.items():
        matcher.set_seq1(body)
        # The upper bounds are cheap.
        if other != line and all(
            ratio() >= rules.max_similarity for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        ):
            detail = f"{result.function['namespace']}: the body of the function in line {other} is almost the same"
            return Reject(result.id, RejectReason.NEAR_DUPLICATE, detail)
    return None


@functools.lru_cache(maxsize=4)
def _bodies(text: str) -> Mapping[int, str]:
    """Return the statements of the functions of a file, without docstrings, by the lines of their `def`."""
    nodes = [node for node in ast.walk(parse_python(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    described = [(node, ast.get_docstring(node, clean=False) is not None) for node in nodes]
    return {node.lineno: "\n".join(map(ast.unparse, node.body[is_described:])) for node, is_described in described}


def _is_silent(result: Candidate | Reject) -> bool:
    return isinstance(result, Reject) and result.reason is RejectReason.NO_TEXT


@dataclass(frozen=True, slots=True)
class _Drafted:
    """What asking for requirements came to: by function, what stands in the place of its refusal; and notes."""

    results: Mapping[str, Candidate | Reject]
    notes: Sequence[Reject]


def _drafted(
    silent: Sequence[tuple[TracedFunctionRow, Sequence[str], Mapping[str, frozenset[int]]]],
    used: int,
    rules: RepositoryRules,
    writer: RequirementWriter | None,
) -> _Drafted:
    """Ask for the requirements of functions that say nothing, of as many as the quota has left after `used`."""
    if writer is None:
        return _Drafted({}, ())
    requested = _requested(silent, used, rules)
    by_id: dict[str, Candidate | Reject] = {}
    notes: list[Reject] = []
    for drawn, requirement in zip(
        requested, writer.require([_undocumented(drawn) for drawn in requested]), strict=True
    ):
        if requirement.requirement is not None:
            by_id[drawn.id] = replace(drawn, requirement=requirement.requirement)
        elif requirement.refusal is not None and requirement.refusal.waiting:
            by_id[drawn.id] = Reject(
                drawn.id,
                RejectReason.DRAFT_WAITING,
                f"{drawn.function['namespace']}: {requirement.refusal.problem}",
            )
        elif requirement.refusal is not None:
            notes.append(
                Reject(
                    drawn.id,
                    RejectReason.DRAFT_REFUSED,
                    f"{drawn.function['namespace']}: {requirement.refusal.problem}",
                )
            )
    return _Drafted(by_id, notes)


def _requested(
    silent: Sequence[tuple[TracedFunctionRow, Sequence[str], Mapping[str, frozenset[int]]]],
    used: int,
    rules: RepositoryRules,
) -> list[Candidate]:
    """Choose the functions that say nothing and have a body of the right size, as many as there are places left."""
    blank, basis = Requirement("", ""), RequirementBasis.MODEL
    tried = [_fitting(Candidate(row, lines, blank, (), reached, basis), rules) for row, lines, reached in silent]
    fitting = sorted((drawn for drawn in tried if isinstance(drawn, Candidate)), key=lambda candidate: candidate.id)
    return fitting[: max(0, rules.tasks - used)]


def wanting_requirements(
    silent: Sequence[TracedFunctionRow], used: int, project_files: Sequence[ProjectFileRow], rules: RepositoryRules
) -> list[Candidate]:
    """Return those of the functions that say nothing whose requirements a model would be asked for."""
    files = {(row["project_id"], row["path"]): row["text"].split("\n") for row in project_files}
    return _requested([(row, files[row["project_id"], row["path"]], {}) for row in silent], used, rules)


def _undocumented(drawn: Candidate) -> Undocumented:
    first, last = drawn.function["signature_first_line"] - 1, drawn.function["signature_last_line"]
    return Undocumented(
        id=drawn.id,
        namespace=drawn.function["namespace"],
        signature="\n".join(drawn.lines[first:last]),
        body="\n".join(drawn.reference),
        docstring=drawn.function["docstring"],
        node=parsed(drawn.lines[first : drawn.body.stop - 1]),
    )


def prove(
    project: ProjectRow, candidates: Sequence[Candidate], project_context: ProjectContext, mutation: MutationRules
) -> list[RepositoryTaskRow | Reject]:
    """Run the tests of candidates without their bodies, those that fail then with the bodies put in place, and mutated.

    Errors: those of `open_project`.
    """
    opened = open_project(project, project_context)
    without = [
        Variant(
            drawn.id,
            drawn.tests,
            {drawn.function["path"]: drawn.filled([drawn.margin + EMPTY])},
        )
        for drawn in candidates
    ]
    emptied = {run.id: run for run in run_variants(opened, without, project_context.workers)}
    judging = {drawn.id: _failing(emptied[drawn.id], drawn.tests) for drawn in candidates}
    able = [drawn for drawn in candidates if len(judging[drawn.id]) >= project_context.rules.min_tests]
    complete = [
        Variant(
            drawn.id,
            judging[drawn.id],
            {drawn.function["path"]: drawn.filled(drawn.reference)},
        )
        for drawn in able
    ]
    filled = {run.id: run for run in run_variants(opened, complete, project_context.workers)} if complete else {}
    proven = [drawn for drawn in able if _passes(filled[drawn.id])]
    noticed = _mutate(opened, proven, judging, project_context, mutation)

    def judged(drawn: Candidate) -> list[RepositoryTaskRow | Reject]:
        if refusal := _refusal(drawn, judging[drawn.id], emptied[drawn.id], filled.get(drawn.id)):
            return [refusal]
        tests, score = noticed[drawn.id].tests, noticed[drawn.id].score
        if half := noticed[drawn.id].half_answers(mutation):
            detail = f"{drawn.function['namespace']}: {half}"
            return [Reject(drawn.id, RejectReason.WEAK_TESTS, detail[:500])]
        if refusal := _uncovered(drawn, tests, project_context.rules) or _too_alike(
            drawn, score, project_context.rules
        ):
            return [refusal]
        if texts := _unstated(drawn, opened.tree, tests, project_context.rules):
            detail = f"{drawn.function['namespace']}: tests want {', '.join(map(repr, texts))}, which nothing states"
            return [Reject(drawn.id, RejectReason.UNKNOWABLE, detail[:500])]
        ended = worst(emptied[drawn.id].judged[test] for test in tests)
        return [task_row(project, drawn, tuple(sorted(tests)), ended, score)]

    return list(guarded(candidates, lambda candidate: candidate.id, judged))


def _unstated(drawn: Candidate, tree: Tree, tests: Sequence[str], rules: RepositoryRules) -> list[str]:
    """Return the texts of a body that its tests want and that neither its requirement nor the rest of the file has."""
    requirement = drawn.requirement
    visible = f"{requirement.functionality}\n{requirement.arguments}\n{drawn.filled([])}"
    sources = sources_of_tests(tree.text, tests)
    return unstated("\n".join(drawn.lines), drawn.body, visible, sources, rules.text_letters)


def _mutate(
    project: Project,
    candidates: Sequence[Candidate],
    judging: Mapping[str, Sequence[str]],
    project_context: ProjectContext,
    mutation: MutationRules,
) -> dict[str, Noticed]:
    """Return for each candidate which mutants of its body are noticed, and by which tests."""
    listed = project_context.rules.max_tests
    codes = [
        MutatedCode(
            drawn.id,
            drawn.function["path"],
            "\n".join(drawn.lines),
            drawn.body,
            judging[drawn.id],
            listed,
        )
        for drawn in candidates
    ]
    hurried = replace(project, rules=project.rules.model_copy(update={"test_time_s": mutation.time_s}))
    return notice_mutants(
        codes,
        Family.REPOSITORY_TASK,
        mutation,
        lambda variants: run_variants(hurried, variants, project_context.workers),
    )


def _passes(run: TestRun) -> bool:
    return run.outcome is Outcome.PASSED and run.worst is TestOutcome.PASSED


def _failing(run: TestRun, tests: Sequence[str]) -> list[str]:
    """Return the tests that notice that a body is missing, in their order; to run out of time is no failure."""
    return [test for test in tests if run.judged.get(test) in (TestOutcome.FAILED, TestOutcome.ERROR)]


def _refusal(drawn: Candidate, tests: Sequence[str], emptied: TestRun, filled: TestRun | None) -> Reject | None:
    if filled is None:
        why = emptied.detail or "no test" if emptied.outcome is not Outcome.PASSED else f"{len(tests)} tests"
        detail = f"{drawn.function['namespace']}: {why} of {len(drawn.tests)} fail without its body"
        return Reject(drawn.id, RejectReason.NOT_PROVEN, detail)
    if not _passes(filled):
        result = f"its tests come out as {filled.worst} with its own body: {filled.detail or ''}"
        detail = f"{drawn.function['namespace']}: {result}"
        return Reject(drawn.id, RejectReason.NOT_PROVEN, detail[:500])
    return None


def _uncovered(drawn: Candidate, tests: Iterable[str], rules: RepositoryRules) -> Reject | None:
    share = _coverage(drawn, tests)
    detail = f"{drawn.function['namespace']}: {share:.0%} of its lines, {rules.min_coverage:.0%} wanted"
    return Reject(drawn.id, RejectReason.NOT_COVERED, detail) if share < rules.min_coverage else None


def _too_alike(drawn: Candidate, score: MutationScore, rules: RepositoryRules) -> Reject | None:
    able = score.mutants - score.equivalent
    detail = f"{drawn.function['namespace']}: {able} changed bodies differ from its own, {rules.min_mutants} wanted"
    return Reject(drawn.id, RejectReason.WEAK_TESTS, detail) if able < rules.min_mutants else None


def _coverage(drawn: Candidate, tests: Iterable[str]) -> float:
    code = _code_lines(drawn)
    return round(len(code & frozenset[int]().union(*(drawn.reached[test] for test in tests))) / len(code), 4)


def task_row(
    project: ProjectRow, drawn: Candidate, tests: tuple[str, ...], emptied: TestOutcome, score: MutationScore
) -> RepositoryTaskRow:
    """Return the task of a candidate that these tests judge; `emptied` is how they end without its body."""
    function, requirement = drawn.function, drawn.requirement
    first, last = function["signature_first_line"] - 1, function["signature_last_line"]
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
        "id": content_id(drawn.id, requirement.functionality, requirement.arguments, tests),
        "function_id": drawn.id,
        "project": project["project"],
        "release_time": project["release_time"],
        "functionality": requirement.functionality,
        "arguments": requirement.arguments,
        "requirement_basis": drawn.basis,
        "tests": list(tests),
        "tests_reaching": function["tests"],
        "coverage": _coverage(drawn, tests),
        "input_code": input_code(drawn.lines[first:last], drawn.margin, requirement),
        "reference": "\n".join(drawn.reference) + "\n",
        "contexts_above": "\n".join(drawn.lines[:first]) + ("\n" if first else ""),
        "contexts_below": "\n".join(drawn.lines[drawn.body.stop - 1 :]),
        "domain": project["domain"],
        "reference_outcome": TestOutcome.PASSED,
        "emptied_outcome": emptied,
        # a project of which tests were traced has both
        "python": project["python"] or "",
        "lock_id": project["lock_id"] or "",
        **score.columns,
    }


def _code_lines(drawn: Candidate) -> frozenset[int]:
    """Return the lines of the body on which a statement begins."""
    first = drawn.function["signature_first_line"]
    node = parsed(drawn.lines[first - 1 : drawn.body.stop - 1])
    begun = {part.lineno + first - 1 for part in ast.walk(node) if isinstance(part, ast.stmt) and part is not node}
    return frozenset(begun & set(drawn.body))
