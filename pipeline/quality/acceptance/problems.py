"""The acceptance of version-conditioned problems: proof, licence and source in each row."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.families.problems.descriptions import untrue_result
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.selecting import passed_by
from pipeline.lake.rows import (
    ProblemRow,
    ProblemRunRow,
    PublishedProblemRow,
    ReviewEditRun,
    SnippetRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.names import spelling_words
from pipeline.llm.rules import DraftingRules
from pipeline.quality.acceptance.public_names import PublicNames
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, accepted, refusing
from pipeline.quality.acceptance.same_prompts import one_answer, one_of_alike, versions_of_reference
from pipeline.quality.acceptance.sourced import SourceColumns, columns_of_change, source_columns
from pipeline.quality.flags.subjects import deciding_run


def problems_acceptance_stage(
    tables: Tables,
    rules: QualityRules,
    least: ProblemRules,
    mutation: MutationRules,
    drafting: DraftingRules,
) -> Output:
    """Make the table `published_problems` of a library; the unit is a problem.

    Refused are, in this order: LICENCE, NOT_PROVEN (the reference fails the visible or the hidden tests in its own
    version), NO_CHECK (there are fewer hidden tests than `least` wants, or a body passes them that returns one value or
    what it is given), NOT_COVERED (they execute less of the program than `least` wants), WEAK_TESTS (they notice fewer
    mutants of the reference than `mutation` wants), LEAKS_ANSWER (the statement spells the name of the core API),
    NO_TEXT (its description says that another type comes out),
    UNCHANGED (no code is known that passes in one of the two versions and fails in the other), REVIEWED_OUT, FLAGGED,
    SEVERAL_ANSWERS (the same statement is about another API, too; which one the tests want cannot be read in it) and
    NEAR_DUPLICATE (another problem of the version accepts the same APIs, and its reference passes as many arguments or
    more). A problem is `discriminating` if code that passes in the other version fails here as the rules list. Where
    none is known, the reference that fails there shows at least that the version decides, unless an API that the tests
    accept is one that anybody would write (`common_functions`).
    """
    runs: dict[str, dict[str, ProblemRunRow]] = defaultdict(dict)
    others: dict[str, list[ProblemRunRow]] = defaultdict(list)
    for run in tables["problem_runs"]:
        if run["role"] == ProblemRun.OTHER_RELEASE:
            others[run["problem_id"]].append(run)
        else:
            runs[run["problem_id"]][run["role"]] = run
    facts = _AcceptanceInputs(
        runs,
        others,
        {row["id"]: row for row in tables["snippets"]},
        frozenset(row["id"] for row in tables["published_changes"]),
        LibraryReviews.of(tables, rules),
        PublicNames(tables["symbols"], tables["releases"]),
        least,
        mutation,
        drafting,
    )
    output = accepted("published_problems", tables["problems"], lambda row: [_published(row, facts)])
    rows = output.tables["published_problems"]
    rows, ambiguous = one_answer(rows, ("version", "problem"), lambda row: " or ".join(_accepted(row)))
    # The last release of an API is the one in which a newer name may be taken for it.
    rows, repeated = one_of_alike(
        rows,
        itemgetter("path", "starting_code", "solution"),
        lambda row: (not row["discriminating"], -row["release_time"].timestamp()),
    )
    rows, alike = one_of_alike(rows, lambda row: (row["version"], _accepted(row)), _by_arguments)
    return refusing(output, "published_problems", rows, ambiguous + repeated + alike)


def _accepted(problem: ProblemRow) -> tuple[str, ...]:
    """Return the APIs that a problem asks for: that of the reference where the tests accept any of the library."""
    return tuple(problem["accepted_paths"]) or (problem["path"],)


def _by_arguments(problem: PublishedProblemRow) -> tuple[bool, int]:
    """Order problems about one API of a version: by whether they discriminate, then by the arguments of its calls."""
    calls = [node for node in ast.walk(parse_python(_program(problem))) if isinstance(node, ast.Call)]
    own = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == problem["target_entity"]]
    most = max((len(call.args) + len(call.keywords) for call in own), default=0)
    return not problem["discriminating"], -most


def _program(problem: ProblemRow | PublishedProblemRow) -> str:
    return f"{problem['starting_code']}{problem['solution']}"


@dataclass(frozen=True, slots=True)
class _AcceptanceInputs:
    """The tables and rules that decide on problems; `runs` are by problem and role, `others` in other releases."""

    runs: Mapping[str, Mapping[str, ProblemRunRow]]
    others: Mapping[str, Sequence[ProblemRunRow]]
    snippets: Mapping[str, SnippetRow]
    published_changes: frozenset[str]
    reviews: LibraryReviews
    names: PublicNames
    least: ProblemRules
    mutation: MutationRules
    drafting: DraftingRules


def _published(original: ProblemRow, facts: _AcceptanceInputs) -> PublishedProblemRow | Reject:
    reviewed = facts.reviews.reviewed(Family.PROBLEM, original)
    problem = reviewed.row
    runs: dict[str, ProblemRunRow | ReviewEditRun] = {**facts.runs[problem["id"]]}
    runs |= {run["subject"]: run for run in reviewed.runs}
    if refusal := _refusal(problem, runs, facts):
        return refusal
    hidden = runs[ProblemRun.HIDDEN]
    role = deciding_run(runs)
    other = runs[role] if role else None
    if other is None or not facts.reviews.rules.decides(role, other["outcome"]):
        detail = f"it ends in {problem['other_version']} as it does in {problem['version']}"
        return Reject(problem["id"], RejectReason.UNCHANGED, detail)
    if refusal := reviewed.refusal():
        return refusal
    is_new = role == ProblemRun.REFERENCE_ELSEWHERE
    guessable = is_new and facts.names.some_is_common(_accepted(problem), problem["version"], facts.reviews.rules)
    by_person = problem["problem"] != original["problem"]
    return {
        **problem,
        **_source(problem, facts),
        "change_id": problem["change_id"] if problem["change_id"] in facts.published_changes else None,
        "description": problem["problem"].partition("\n\n")[0],
        "drafter": Drafter.ANNOTATOR if by_person else problem["drafter"],
        "model": None if by_person else problem["model"],
        "evidence": Evidence.EXECUTED,
        "reference_outcome": hidden["outcome"],
        "visible_outcome": runs[ProblemRun.VISIBLE]["outcome"],
        "python": hidden["python"],
        "lock_id": hidden["lock_id"],
        "coverage": _coverage(hidden),
        # Code that a person edited was run in the versions that set it apart only.
        "versions": versions_of_reference(
            problem["version"], () if reviewed.runs else facts.others.get(problem["id"], ())
        ),
        "other_code": role,
        "other_outcome": other["outcome"] if other else None,
        "other_solution": other["code"] if other else None,
        "discriminating": not guessable,
        **reviewed.columns(),
    }


def _source(problem: ProblemRow, facts: _AcceptanceInputs) -> SourceColumns:
    """Return the source columns of a problem: those of its snippet, or of the release with the change."""
    if problem["snippet_id"] is not None:
        return source_columns(facts.snippets[problem["snippet_id"]])
    return columns_of_change(facts.reviews.releases[problem["version"]])


def _refusal(
    problem: ProblemRow, runs: Mapping[str, ProblemRunRow | ReviewEditRun], facts: _AcceptanceInputs
) -> Reject | None:
    key = problem["id"]
    if unlicensed := facts.reviews.unlicensed(key, _source(problem, facts)["licence"]):
        return unlicensed
    for role in (ProblemRun.VISIBLE, ProblemRun.HIDDEN):
        run = runs.get(role)
        if run is None or run["outcome"] != Outcome.PASSED:
            detail = f"{run['outcome']}: {run['detail'] or ''}" if run else "not run"
            return Reject(key, RejectReason.NOT_PROVEN, f"{problem['version']}, {role} tests: {detail}")
    if (
        tests := problem["stated_tests"] + problem["recorded_tests"] + problem["drafted_tests"]
    ) < facts.least.min_tests:
        return Reject(key, RejectReason.NO_CHECK, f"{tests} hidden tests, {facts.least.min_tests} wanted")
    if body := passed_by(problem["hidden_tests"]):
        return Reject(key, RejectReason.NO_CHECK, f"a body passes all hidden tests that does nothing of it: {body}")
    if (share := _coverage(runs[ProblemRun.HIDDEN])) < facts.least.min_coverage:
        return Reject(
            key, RejectReason.NOT_COVERED, f"{share:.0%} of the program, {facts.least.min_coverage:.0%} wanted"
        )
    if weak := too_weak(problem, Family.PROBLEM, facts.mutation):
        return weak
    words = spelling_words(problem["target_entity"], problem["problem"], facts.drafting.spelled_name)
    detail = f"the statement spells {problem['target_entity']}: {', '.join(words)}"
    if words:
        return Reject(key, RejectReason.LEAKS_ANSWER, detail)
    untrue = untrue_result(problem["problem"].partition("\n\n")[0], _program(problem), facts.drafting)
    return Reject(key, RejectReason.NO_TEXT, untrue) if untrue else None


def _coverage(run: ProblemRunRow | ReviewEditRun) -> float:
    """Return the share of executed statements; of a program without any, all of it."""
    statements = run["statements"] or 0
    return round((run["executed"] or 0) / statements, 4) if statements else 1.0
