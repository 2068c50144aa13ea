"""The acceptance of task functions: proof, licence and source in each row, and the program masked at each level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypedDict

from packaging.version import Version

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun, TestKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter, Evidence
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import too_weak
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.functions.function import read_tests
from pipeline.families.functions.masking import mask_function
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.descriptions import untrue_result
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    AnyRow,
    FunctionRow,
    FunctionRunRow,
    PublishedFunctionRow,
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
from pipeline.quality.acceptance.sourced import source_columns
from pipeline.quality.flags.subjects import deciding_run


def functions_acceptance_stage(
    tables: Tables,
    rules: QualityRules,
    least: FunctionRules,
    masking: MaskingRules,
    mutation: MutationRules,
    drafting: DraftingRules,
) -> Output:
    """Make the table `published_functions` of a library; the unit is a function at a level, or one refused as a whole.

    Refused are, in this order: LICENCE, NOT_PROVEN (the reference fails its tests), NO_CHECK (a program whose functions
    do nothing passes them, there are fewer tests or kinds than `least` wants, or a body could return one value, or an
    argument, in all of them), NOT_COVERED (they execute less of the program), WEAK_TESTS (they notice fewer mutants of
    it than `mutation` wants), LEAKS_ANSWER (the description spells the name of the core API), NO_TEXT (it says that
    another type comes out), REVIEWED_OUT and FLAGGED,
    what `mask_function` refuses, SEVERAL_ANSWERS and NEAR_DUPLICATE (another function asks for the same). A
    function is `discriminating` as `QualityRules.decides` says, but for one whose answer is a name that the other
    release has, or whose tests accept an API that is new and that anybody would write (`common_functions`).
    """
    runs: dict[str, dict[str, FunctionRunRow]] = defaultdict(dict)
    others: dict[str, list[FunctionRunRow]] = defaultdict(list)
    for run in tables["function_runs"]:
        if run["role"] == FunctionRun.OTHER_RELEASE:
            others[run["function_id"]].append(run)
        else:
            runs[run["function_id"]][run["role"]] = run
    facts = _AcceptanceInputs(
        runs,
        others,
        {row["id"]: row for row in tables["snippets"]},
        frozenset(row["id"] for row in tables["published_changes"]),
        least,
        masking,
        mutation,
        drafting,
        PublicNames(tables["symbols"], tables["releases"]),
        LibraryReviews.of(tables, rules),
    )
    output = accepted("published_functions", tables["functions"], lambda row: _published(row, facts))
    prompt = "version", "granularity", "masked_code", "description"
    rows, ambiguous = one_answer(output.tables["published_functions"], prompt, itemgetter("answer"))
    rows, alike = one_of_alike(
        rows, itemgetter(*_SAME_FUNCTION), lambda row: (-(row["mutants_killed"] or 0), Version(row["version"]))
    )
    return refusing(output, "published_functions", rows, ambiguous + alike)


_SAME_FUNCTION = ("path", "granularity", "answer", "discriminating")


@dataclass(frozen=True, slots=True)
class _AcceptanceInputs:
    """The tables and rules that decide on functions; `runs` are by function and role, `others` in other releases."""

    runs: Mapping[str, Mapping[str, FunctionRunRow]]
    others: Mapping[str, Sequence[FunctionRunRow]]
    snippets: Mapping[str, SnippetRow]
    published_changes: frozenset[str]
    least: FunctionRules
    masking: MaskingRules
    mutation: MutationRules
    drafting: DraftingRules
    names: PublicNames
    reviews: LibraryReviews


def _published(original: FunctionRow, facts: _AcceptanceInputs) -> Iterator[PublishedFunctionRow | Reject]:
    reviewed = facts.reviews.reviewed(Family.FUNCTION, original, original["description"])
    function: FunctionRow = {**reviewed.row, "description": reviewed.description}
    if reviewed.description != original["description"]:
        function["drafter"], function["model"], function["prompt_sha256"] = Drafter.ANNOTATOR, None, None
    runs = facts.runs[function["id"]]
    if refusal := _refusal(function, runs, facts) or reviewed.refusal():
        yield refusal
        return
    proof, source_of_it = _proof(runs, facts), source_columns(facts.snippets[function["snippet_id"]])
    source = parse_source(function["code"])
    use = function["core_start_byte"], function["core_end_byte"]
    for level in facts.masking.granularities:
        masked = mask_function(source, use, level, facts.masking, function["description"] or "", function["path"])
        if isinstance(masked, Reject):
            yield Reject(f"{function['id']} {level}", masked.reason, masked.detail)
            continue
        yield {
            **function,
            **proof,
            **source_of_it,
            **reviewed.columns(),
            "change_id": function["change_id"] if function["change_id"] in facts.published_changes else None,
            "id": content_id("masked function", function["id"], level, masked.masked_code),
            "function_id": function["id"],
            "granularity": level,
            "masked_code": masked.masked_code,
            "answer": masked.answer,
            "versions": versions_of_reference(function["version"], facts.others.get(function["id"], ())),
            "discriminating": proof["discriminating"] and not _is_guessable_name(function, runs, masked.answer, facts),
        }


def _is_guessable_name(
    function: FunctionRow, runs: Mapping[str, FunctionRunRow], answer: str, facts: _AcceptanceInputs
) -> bool:
    """Return whether who knows the other release writes the answer by its name, or whoever knows Python alone.

    Where the other release has the name that is masked, what is shown fails there. Where it has no other code, the API
    is new: any other of its name gives the name away, and tests take any API that they accept.
    """
    path, version, names = function["path"], function["version"], facts.names
    is_new = deciding_run(runs) == FunctionRun.REFERENCE_ELSEWHERE
    others = {run["version"] for run in runs.values()} - {version}
    is_code = names.kind_of(path, version) in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    has_name = names.has_last_name if is_new and is_code else names.has_name
    if answer == path.rpartition(".")[2] and any(has_name(path, other) for other in others):
        return True
    return is_new and facts.names.some_is_common((path, *function["accepted_paths"]), version, facts.reviews.rules)


class _Proof(TypedDict):
    """The columns of the runs."""

    evidence: str
    reference_outcome: str
    emptied_outcome: str
    python: str
    lock_id: str
    coverage: float
    other_code: str | None
    other_outcome: str | None
    other_program: str | None
    discriminating: bool


def _proof(runs: Mapping[str, FunctionRunRow], facts: _AcceptanceInputs) -> _Proof:
    tests, role = runs[FunctionRun.TESTS], deciding_run(runs)
    other = runs[role] if role else None
    decides = other is not None and facts.reviews.rules.decides(role, other["outcome"])
    return {
        "evidence": Evidence.EXECUTED if decides else Evidence.STATIC,
        "reference_outcome": tests["outcome"],
        "emptied_outcome": runs[FunctionRun.EMPTIED]["outcome"],
        "python": tests["python"],
        "lock_id": tests["lock_id"],
        "coverage": _coverage(tests),
        "other_code": role,
        "other_outcome": other["outcome"] if other else None,
        "other_program": other["program"] if other else None,
        "discriminating": decides,
    }


def _refusal(function: FunctionRow, runs: Mapping[str, FunctionRunRow], facts: _AcceptanceInputs) -> Reject | None:
    key, least = function["id"], facts.least
    if unlicensed := facts.reviews.unlicensed(key, facts.snippets[function["snippet_id"]]["licence"]):
        return unlicensed
    tests, emptied = runs.get(FunctionRun.TESTS), runs.get(FunctionRun.EMPTIED)
    if tests is None or tests["outcome"] != Outcome.PASSED:
        detail = f"{tests['outcome']}: {tests['detail'] or ''}" if tests else "not run"
        return Reject(key, RejectReason.NOT_PROVEN, f"{function['version']}: {detail}")
    if emptied is None or emptied["outcome"] not in facts.reviews.rules.fails_in_target:
        detail = f"ends as {emptied['outcome']}" if emptied else "was not run"
        return Reject(key, RejectReason.NO_CHECK, f"a program whose functions do nothing {detail}")
    columns: AnyRow = function
    kinds = {kind: columns[kind] for kind in TestKind if columns[kind]}
    if sum(kinds.values()) < least.min_tests or len(kinds) < least.min_kinds:
        detail = f"{sum(kinds.values())} tests of {len(kinds)} kinds, {least.min_tests} of {least.min_kinds} wanted"
        return Reject(key, RejectReason.NO_CHECK, detail)
    if trivial := read_tests(function["tests"]).trivial:
        return Reject(key, RejectReason.NO_CHECK, f"for all tests a body could {trivial}")
    if (share := _coverage(tests)) < least.min_coverage:
        return Reject(key, RejectReason.NOT_COVERED, f"{share:.1%} of the program, {least.min_coverage:.1%} wanted")
    if weak := too_weak(function, Family.FUNCTION, facts.mutation):
        return weak
    words = spelling_words(function["core_token"], function["description"] or "", facts.drafting.spelled_name)
    detail = f"the description spells {function['core_token']}: {', '.join(words)}"
    if words:
        return Reject(key, RejectReason.LEAKS_ANSWER, detail)
    untrue = untrue_result(function["description"] or "", function["code"], facts.drafting)
    return Reject(key, RejectReason.NO_TEXT, untrue) if untrue else None


def _coverage(run: FunctionRunRow) -> float:
    """Return the share of executed statements; none where it was not measured."""
    return round((run["executed"] or 0) / run["statements"], 4) if run["statements"] else 0.0
