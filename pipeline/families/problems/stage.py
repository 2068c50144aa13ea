"""The stage `problems`: examples with stated outputs become version-conditioned problems, proven by running."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator

from packaging.version import Version

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Drafter
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.candidates import Candidate, Candidates, ExampleTask, show
from pipeline.families.problems.drafted import ProblemWriter
from pipeline.families.problems.drafts import Draft, additional_dependencies, draft
from pipeline.families.problems.library import Library
from pipeline.families.problems.proving import Trial, prove
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.problems.running import (
    OpenEnvironment,
    Reference,
    environments_with_tests,
    places_of,
    problem_run_row,
    run_in_other_releases,
    with_other_code,
)
from pipeline.families.problems.statement import state
from pipeline.families.problems.witnessed import witnessed_tasks
from pipeline.families.problems.writing import WrittenRows, write_problems
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import (
    AnyRow,
    ProblemRow,
    ProblemRunRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.rules import DraftingRules


def problems_stage(
    tables: Tables,
    rules: ProblemRules,
    drafting: DraftingRules,
    tagging: LifecycleRules,
    usage: UsageRules,
    mutation: MutationRules,
    runner: Runner,
    fails: Collection[Outcome],
    writer: ProblemWriter | None = None,
) -> Output:
    """Make the tables `problems`, `problem_runs` and `problem_environments` of a library.

    The unit is a task of an example or a witness in a version that sets it apart. A task of no such version, and an
    example or witness without a task, is one unit each. Where there is a `writer`, so is each change that none decides.
    References that pass run in every other release. Code that is right for the other version is one more mutant, killed
    where it ends here as one of `fails`.
    """
    library = Library(
        tables["releases"],
        tables["symbols"],
        tables["changes"],
        tables["lifecycles"],
        tables["documents"],
        tables["api_documents"],
        tables["verdicts"],
        tagging,
        usage,
    )
    examples, rejects = parted(show(tables["snippets"], library, rules))
    witnessed, unfit = parted(witnessed_tasks(tables["snippets"], tables.get("witnesses", ()), library, rules))
    examples += witnessed
    candidates, unchanged = _candidates(Candidates(examples, tables["rewrites"], library, rules), examples)
    chosen, surplus = _within_quota(candidates, rules)
    drafts, undrafted = parted(
        guarded(
            chosen,
            lambda candidate: f"{candidate.example.key} {candidate.version}",
            lambda candidate: [draft(candidate, library, rules, drafting)],
        )
    )
    drafts, twice = _distinct(drafts)
    versions = {version for each in drafts for version in (each.row["version"], each.row["other_version"]) if version}
    rows, unreachable = environments_with_tests(tables["releases"], versions, runner)
    places, closed = places_of(rows, runner)
    trials, unproven = parted(prove(drafts, library, places, runner, rules, mutation))
    refused = [*rejects, *unfit, *unchanged, *surplus, *undrafted, *twice, *unproven]
    results, failed = parted(
        guarded(
            trials,
            lambda trial: trial.draft.id,
            lambda trial: [(_problem(trial, places[trial.version], library, rules, drafting, mutation), trial)],
        )
    )
    refused += failed
    problems = [row for row, _ in results]
    proven = [row for row, trial in results if trial.passed]
    written = WrittenRows()
    if writer is not None:
        snippets, spelled = tables["snippets"], drafting.spelled_name
        written = write_problems(library, snippets, proven, places, rules, mutation, writer, spelled, runner)
    problems += written.problems
    refused += written.rejects
    # What could not be built is tried again for what a writer wants there.
    runs = [*(run for _, trial in results for run in trial.runs), *written.runs]
    problems = _with_other_code(problems, runs, fails)
    references = list(_references(problems, runs))
    elsewhere = run_in_other_releases(references, tables["releases"], rows, places, runner)
    runs += [problem_run_row(key, ProblemRun.OTHER_RELEASE, place, ended) for key, place, ended in elsewhere.runs]
    environments = {row["version"]: row for row in [*rows, *written.environments, *elsewhere.environments]}
    return Output(
        {
            "problems": sorted(problems, key=_id),
            "problem_runs": sorted(runs, key=_id),
            "problem_environments": sorted(environments.values(), key=lambda row: Version(row["version"])),
        },
        units_in=len(problems) + len(refused),
        units_out=len(problems),
        rejects=sorted(refused, key=lambda reject: (reject.key, reject.reason, reject.detail)),
        notes=[*unreachable, *closed, *written.notes, *elsewhere.notes],
    )


def _id(row: AnyRow) -> str:
    return str(row["id"])


def _with_other_code(
    problems: Iterable[ProblemRow], runs: Iterable[ProblemRunRow], fails: Collection[Outcome]
) -> list[ProblemRow]:
    """Return problems whose mutation score counts the code for the other version."""
    by_problem: dict[str, list[ProblemRunRow]] = defaultdict(list)
    for run in runs:
        by_problem[run["problem_id"]].append(run)
    rows: list[ProblemRow] = []
    for row in problems:
        score = MutationScore(row["mutants"], row["mutants_killed"], row["mutants_equivalent"])
        rows.append({**row, **with_other_code(score, by_problem[row["id"]], fails).columns})
    return rows


def _references(problems: Iterable[ProblemRow], runs: Iterable[ProblemRunRow]) -> Iterator[Reference]:
    """Yield the references that passed their hidden tests."""
    passed = {run["problem_id"] for run in runs if (run["role"], run["outcome"]) == (ProblemRun.HIDDEN, Outcome.PASSED)}
    for row in problems:
        if row["id"] in passed:
            program, tests = row["starting_code"] + row["solution"], (row["hidden_tests"], row["test"])
            yield Reference(row["id"], row["version"], program, row["module"], *tests)


def _problem(
    trial: Trial,
    place: OpenEnvironment,
    library: Library,
    rules: ProblemRules,
    drafting: DraftingRules,
    mutation: MutationRules,
) -> ProblemRow:
    """Return the row of a problem whose tests are known."""
    draft = trial.draft
    statement = state(draft.written, trial.visible_case, draft.source, rules.statement, drafting)
    texts = [draft.written.program, trial.visible, trial.hidden]
    own = library.roots(trial.version) | {trial.module}
    pins = additional_dependencies(texts, own, place.row["lock"] or "", place.environment)
    return {
        **draft.row,
        "accepted_paths": sorted(trial.required),
        "problem": statement.text,
        "written_from": statement.written_from,
        "drafter": Drafter.OFFLINE,
        "model": None,
        "prompt_sha256": statement.written_from,
        "tokens": None,
        "nano_usd": None,
        "test": trial.visible,
        "hidden_tests": trial.hidden,
        "module": trial.module,
        "stated_tests": len(trial.documented),
        "recorded_tests": len(trial.recorded),
        "drafted_tests": 0,
        "additional_dependencies": pins,
        **trial.score(mutation).columns,
    }


def _candidates(finder: Candidates, examples: Iterable[ExampleTask]) -> tuple[list[Candidate], list[Reject]]:
    def of_task(each: ExampleTask) -> Iterable[Candidate | Reject]:
        run = f"{each.snippet['version']} to {each.snippet['last_version']}"
        return list(finder.of(each)) or [Reject(each.key, RejectReason.UNCHANGED, f"{run}: {each.task.returned}")]

    return parted(guarded(examples, lambda each: each.key, of_task))


def _within_quota(candidates: Iterable[Candidate], rules: ProblemRules) -> tuple[list[Candidate], list[Reject]]:
    """Keep as many candidates as the rules take, the most telling first."""
    counts: Counter[Hashable] = Counter()
    chosen: list[Candidate] = []
    rejects: list[Reject] = []
    for each in sorted(candidates, key=lambda candidate: candidate.rank):
        kinds = {
            ("path", each.path, each.version): rules.max_per_path_and_version,
            ("snippet", each.example.snippet["id"], each.version): rules.max_per_snippet_and_version,
            ("library",): rules.max_per_library,
        }
        full = next((kind for kind, limit in kinds.items() if counts[kind] >= limit), None)
        if full is not None:
            detail = f"the rule takes {kinds[full]} of {' '.join(full)}"
            rejects.append(Reject(f"{each.example.key} {each.version}", RejectReason.OVER_QUOTA, detail))
        else:
            counts.update(kinds.keys())
            chosen.append(each)
    return chosen, rejects


def _distinct(drafts: Iterable[Draft]) -> tuple[list[Draft], list[Reject]]:
    """Keep one draft of the same program in the same version."""
    by_content: dict[str, Draft] = {}
    rejects: list[Reject] = []
    for each in drafts:
        if each.id in by_content:
            detail = f"the same program as {by_content[each.id].candidate.example.key}"
            key = f"{each.candidate.example.key} {each.row['version']}"
            rejects.append(Reject(key, RejectReason.DUPLICATE, detail))
        by_content.setdefault(each.id, each)
    return list(by_content.values()), rejects
