"""The stage `functions`: examples with stated outputs become task functions with tests, proven by running."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packaging.version import Version

from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.changes import LibEvolutionEvalTag
from pipeline.core.vocabularies.functions import FunctionRun, TestKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.head import head
from pipeline.families.functions.choosing import Choice, Choices, within_quota
from pipeline.families.functions.function import Function
from pipeline.families.functions.proving import (
    Checked,
    Trial,
    ask_references,
    function_run_row,
    prove,
    runs_of,
    try_siblings,
)
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.functions.unused_examples import untaken_examples, versions_of
from pipeline.families.functions.writing import Improved, Writers, improve
from pipeline.families.passed_parameters import conversion_text, parameter_texts, request_of
from pipeline.families.problems.candidates import Candidates, show
from pipeline.families.problems.descriptions import completed
from pipeline.families.problems.library import Library
from pipeline.families.problems.rules import ProblemRules, StatementRules
from pipeline.families.problems.running import (
    OpenEnvironment,
    Reference,
    environments_with_tests,
    places_of,
    run_in_other_releases,
    with_other_code,
)
from pipeline.families.problems.witnessed import witnessed_tasks
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import (
    FunctionRow,
    FunctionRunRow,
    Tables,
)
from pipeline.lake.stage import Output, Reject
from pipeline.llm.names import find_names
from pipeline.llm.refusals import missing_text, notes_of
from pipeline.llm.rules import DraftingRules
from pipeline.llm.writers import Request, Text, Writer, WriterResult


def functions_stage(
    tables: Tables,
    rules: FunctionRules,
    of_problems: ProblemRules,
    drafting: DraftingRules,
    tagging: LifecycleRules,
    usage: UsageRules,
    min_name_length: int,
    mutation: MutationRules,
    writer: Writer,
    runner: Runner,
    fails: Collection[Outcome],
    writers: Writers | None = None,
) -> Output:
    """Make the tables `functions`, `function_runs`, `function_environments` and `refused_functions` of a library.

    The unit is a task of an example or a witness in a version. An example or witness without a task, and a task that no
    version can have, is one unit each. Refused are beside those NO_TEXT and DRAFT_WAITING, where nothing describes a
    function that passed, and SEVERAL_ANSWERS as in `try_siblings`. References that pass run in every other release.
    Code that is right for the other version is one more mutant, killed where it ends here as one of `fails`.
    Notes: those of `notes_of`, and INDEX_UNREACHABLE by version.

    `writers` make functions of examples that make no task, which then are no rejects, or DRAFT_WAITING ones, and write
    tests of what has too few; what came of that is noted as in `notes_of`.
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
    example_tasks, untaken = parted(show(tables["snippets"], library, of_problems))
    witnessed, unshown = parted(
        witnessed_tasks(tables["snippets"], tables.get("witnesses", ()), library, of_problems, with_program=True)
    )
    finder = Choices(
        Candidates([*example_tasks, *witnessed], tables["rewrites"], library, of_problems), min_name_length
    )
    choices, unfit = parted(guarded([*example_tasks, *witnessed], lambda each: each.key, finder.of))
    chosen, surplus = within_quota(choices, rules)
    tasks = [each.snippet for each in example_tasks]
    examples = (
        untaken_examples(untaken, tasks, tables["snippets"], library, writers.functions.rules, min_name_length)
        if writers
        else []
    )
    versions = _versions(chosen) | versions_of(examples, library)
    rows, unreachable = environments_with_tests(tables["releases"], versions, runner)
    places, closed = places_of(rows, runner)
    references, unproven = parted(ask_references(chosen, places, runner, rules, mutation))
    sure, unsure = parted(try_siblings(references, library, places, runner, rules, mutation))
    tried, untried = parted(
        guarded(
            sure,
            lambda reference: reference.choice.key,
            lambda reference: [_tried(reference, rules, mutation, places)],
        )
    )
    trials = _prove_in_turn(tried, places, runner)
    described = _describe(trials, writer, drafting, of_problems.statement)
    improved = Improved(trials)
    if writers is not None:
        spelled = drafting.spelled_name
        improved = improve(trials, examples, described, library, places, mutation, writers, runner, spelled)
    described |= {trial.function.id: WriterResult(trial.description) for trial in improved.trials if trial.description}
    described_trials, undescribed = parted(_described(trial, described) for trial in improved.trials)
    results, failed = parted(
        guarded(
            described_trials,
            lambda trial: trial.function.id,
            lambda trial: [
                (_row(trial, described[trial.function.id].text if trial.passed else None, library, fails), trial.runs)
            ],
        )
    )
    functions = [row for row, _ in results]
    runs = [run for _, of_trial in results for run in of_trial]
    passed = list(_references(functions, runs))
    elsewhere = run_in_other_releases(passed, tables["releases"], rows, places, runner)
    runs += [function_run_row(key, FunctionRun.OTHER_RELEASE, place, ended) for key, place, ended in elsewhere.runs]
    environments = {row["version"]: row for row in [*rows, *elsewhere.environments]}
    refused = [*improved.left(untaken), *unshown, *unfit, *surplus, *unproven, *unsure, *untried, *undescribed, *failed]
    return Output(
        {
            "functions": sorted(functions, key=lambda row: str(row["id"])),
            "function_runs": sorted(runs, key=lambda row: str(row["id"])),
            "function_environments": sorted(environments.values(), key=lambda row: Version(row["version"])),
            "refused_functions": sorted(improved.refused, key=lambda row: str(row["id"])),
        },
        units_in=len(functions) + len(refused),
        units_out=len(functions),
        rejects=sorted(refused, key=lambda reject: (reject.key, reject.reason, reject.detail)),
        notes=[*unreachable, *closed, *elsewhere.notes, *notes_of(sorted(described.items())), *improved.notes],
    )


def _references(functions: Iterable[FunctionRow], runs: Iterable[FunctionRunRow]) -> Iterator[Reference]:
    """Yield the references that passed their tests."""
    passed = {
        run["function_id"] for run in runs if (run["role"], run["outcome"]) == (FunctionRun.TESTS, Outcome.PASSED)
    }
    for row in functions:
        if row["id"] in passed:
            yield Reference(row["id"], row["version"], row["code"], row["module"], row["tests"])


def _tried(
    references: Checked, rules: FunctionRules, mutation: MutationRules, places: Mapping[str, OpenEnvironment]
) -> list[Trial]:
    """Return a function with all its tests, and with fewer, the strictest first; all can be run.

    A body may use any API of the library where nothing sets its version apart: `max(eccentricity(G).values())` is right
    for `diameter(G)`. So it may where no API can be taken away, as of a compiled class: the reference fails the test
    that wants it. Recorded values that do not come again leave those that the example states.
    """
    roots = places[references.choice.function.version].roots
    apis = (references.choice.function.path, *references.siblings)
    trials = [
        references.trial(rules, mutation, roots, example_cases_only=example_only, apis=paths)
        for paths in ((apis, ()) if references.choice.apart is not None else ((),))
        for example_only in (False, True)
    ]
    for trial in trials:
        list(runs_of(trial))
    return trials


def _prove_in_turn(
    tried: Sequence[Sequence[Trial]], places: Mapping[str, OpenEnvironment], runner: Runner
) -> list[Trial]:
    """Prove each function with its strictest tests that the reference passes; return the last where it passes none."""
    trials = [trials[0] for trials in tried]
    prove(trials, places, runner)
    for number in range(1, max(map(len, tried), default=0)):
        trials = [now if now.passed else trials[number] for now, trials in zip(trials, tried, strict=True)]
        prove([trial for trial in trials if not trial.runs], places, runner)
    return trials


def _versions(choices: Iterable[Choice]) -> set[str]:
    """Return the versions in which something is to be run."""
    ids: set[str] = set()
    for choice in choices:
        ids.add(choice.function.version)
        if choice.apart is not None and choice.apart.other_version is not None:
            ids.add(choice.apart.other_version)
    return ids


def _describe(
    trials: Sequence[Trial], writer: Writer, drafting: DraftingRules, statement: StatementRules
) -> dict[str, WriterResult]:
    """Have the functions described that passed their tests, by id, with what the documentation says of parameters."""
    passed = [trial for trial in trials if trial.passed]
    requests = [description_request(trial.function, drafting) for trial in passed]
    described: dict[str, WriterResult] = {}
    for trial, request, result in zip(passed, requests, writer.write(requests), strict=True):
        function, text = trial.function, result.text
        if text is not None:
            text = completed(text, request, function.program, drafting)
            required = _required_text(trial, statement)
            text = replace(text, text=with_parameters(text.text, function, drafting, statement, required))
        described[function.id] = replace(result, text=text)
    return described


def _required_text(trial: Trial, statement: StatementRules) -> str:
    """Return the sentence that a problem has too where tests want its API called, "" where any of the library will do.

    An older API may be right in its place: `_asdict` gives what `to_dict` does.
    """
    if not trial.apis:
        return ""
    is_new = trial.tags[1] == LibEvolutionEvalTag.INTRODUCED
    function, text = trial.function, statement.introduced if is_new else statement.required
    return text.format(library=function.library, version=function.version)


def description_request(function: Function, drafting: DraftingRules) -> Request:
    """Return the request for the description of a function."""
    facts = function.docstrings, function.program, function.document, function.passed, function.apis
    return request_of(function.id, function.hidden, *facts, drafting)


def with_parameters(
    text: str, function: Function, drafting: DraftingRules, statement: StatementRules, required: str = ""
) -> str:
    """Return a description, how the result is converted, and what the documentation says of each parameter.

    `required` is the sentence on the API that tests want.
    """
    name, hidden = function.path.rpartition(".")[2], function.hidden
    conversion = conversion_text(function.program, function.name, name, hidden, statement.conversion, drafting)
    text = " ".join(filter(None, [text, conversion, required]))
    lines = [
        statement.parameter.format(name=name, description=about)
        for name, about in parameter_texts(function.document, function.passed, drafting).items()
        if len(about) <= statement.max_parameter_characters and not find_names(about, function.hidden, drafting)
    ]
    return "\n\n".join([text, "\n".join(lines)] if lines else [text])


def _described(trial: Trial, described: dict[str, WriterResult]) -> Trial | Reject:
    key = trial.function.id
    if not trial.passed or described[key].text is not None:
        return trial
    return missing_text(key, described[key], f"no docstring has a sentence that describes {trial.function.path}")


def _row(trial: Trial, text: Text | None, library: Library, fails: Collection[Outcome]) -> FunctionRow:
    """Return the row of a function; one that failed its tests has no description."""
    function, code_by, tests_by = trial.function, trial.code_by, trial.tests_by
    by_model = [by for by in (code_by, tests_by) if by.model is not None]
    return {
        **head(function.id, trial.snippet, function.path, function.version, trial.tags, library.history),
        "code": function.program,
        "function": function.name,
        "parameters": list(function.parameters),
        "core_token": trial.use.name,
        "core_start_byte": trial.use.name_start_byte,
        "core_end_byte": trial.use.name_end_byte,
        "access": trial.use.access,
        "redacted": text.redacted if text else False,
        "tests": trial.tests.text,
        "module": function.module,
        "accepted_paths": sorted(trial.apis),
        "return_type": trial.tests.counts.get(TestKind.RETURN_TYPE, 0),
        "normal_input": trial.tests.counts.get(TestKind.NORMAL_INPUT, 0),
        "boundary_values": trial.tests.counts.get(TestKind.BOUNDARY_VALUES, 0),
        "functionality": trial.tests.counts.get(TestKind.FUNCTIONALITY, 0),
        "missing_test_kinds": list(trial.tests.missing_kinds),
        "recorded_tests": trial.recorded_tests,
        "other_version": trial.other_version,
        "code_drafter": code_by.drafter,
        "code_model": code_by.model,
        "code_prompt_sha256": code_by.prompt_sha256,
        "tests_drafter": tests_by.drafter,
        "tests_model": tests_by.model,
        "tests_prompt_sha256": tests_by.prompt_sha256,
        "tokens": sum(by.tokens for by in by_model) if by_model else None,
        "nano_usd": sum(by.nano_usd for by in by_model) if by_model else None,
        "description": text.text if text else None,
        "drafter": text.drafter if text else None,
        "model": text.model if text else None,
        "prompt_sha256": text.prompt_sha256 if text else None,
        **with_other_code(trial.score, trial.runs, fails).columns,
    }
