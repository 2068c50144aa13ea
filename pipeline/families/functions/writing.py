"""Functions and tests by a model: requests, and their results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun, TestKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Drafter
from pipeline.corpus.usages.text import source_of
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import score_by_tests
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.stage import Runner
from pipeline.families.functions.function import Function, Tests, read_tests
from pipeline.families.functions.proving import By, Trial, coverage_of, prove
from pipeline.families.functions.unused_examples import Untaken, is_named
from pipeline.families.functions.writers import (
    Example,
    FunctionTestWriter,
    FunctionWriter,
    Untested,
    WrittenFunction,
    WrittenTests,
)
from pipeline.families.problems.apis.needs import NEEDS_API, NEEDS_LIBRARY, with_library_test
from pipeline.families.problems.library import Library
from pipeline.families.problems.running import OpenEnvironment
from pipeline.lake.ids import content_id
from pipeline.lake.rows import RefusedFunctionRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.rules import SpelledNameRules
from pipeline.llm.tasks.rules import FunctionTestsRules
from pipeline.llm.writers import Refusal, Text, WriterResult


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes beside the rules: functions of examples that make no task, and tests of kinds that none gives."""

    functions: FunctionWriter
    tests: FunctionTestWriter


class RefusedOf(TypedDict):
    """A refused request: the columns of `refused_functions` without the reason."""

    library: str
    version: str
    kind: str
    snippet_id: str
    function_id: str | None


@dataclass(slots=True)
class Improved:
    """Functions, written ones included, and the refused drafts.

    `settled` are the rejects of examples that stand no longer, by key: None where there is a function now, else what
    is to be said instead.
    """

    trials: list[Trial]
    refused: list[RefusedFunctionRow] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)
    settled: dict[str, Reject | None] = field(default_factory=dict)

    def left(self, rejects: Iterable[Reject]) -> list[Reject]:
        """Return the rejects of examples as they are now."""
        now = (self.settled.get(reject.key, reject) for reject in rejects)
        return [reject for reject in now if reject is not None]

    def enter(self, key: str, row: RefusedOf, refusal: Refusal, *, has_function: bool) -> None:
        """Record a refusal; `has_function`: there is a function nevertheless."""
        waiting = Reject(key, RejectReason.DRAFT_WAITING, refusal.problem)
        if not refusal.waiting:
            self.notes.append(Reject(key, RejectReason.DRAFT_REFUSED, refusal.problem))
            self.refused.append(_refused(refusal, row))
        elif has_function:
            self.notes.append(waiting)
        else:
            self.settled[key] = waiting


def improve(
    trials: Sequence[Trial],
    examples: Sequence[Untaken],
    described: Mapping[str, WriterResult],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    mutation: MutationRules,
    writers: Writers,
    runner: Runner,
    spelled_name: SpelledNameRules,
) -> Improved:
    """Have functions made of examples, and tests written for functions that lack some, and prove these again.

    What a function had stands where nothing better holds; one that was written and has no tests is none. No written
    description may spell the core API by `spelled_name`.
    """
    improved = Improved(list(trials))
    fresh = _write_functions(examples, library, places, writers.functions, improved, spelled_name)
    keys = {name: key for name, (key, _) in fresh.items()}
    missing = missing_tests(improved.trials, described, writers.tests.rules)
    requests = [_untested(trial, kinds, _text(trial, described), places) for trial, kinds in missing]
    changed: list[tuple[Trial, Trial, WrittenTests]] = []
    for (trial, _), written in zip(missing, writers.tests.write(requests), strict=True):
        if isinstance(written, WrittenTests):
            text = _needing_library(written.tests, trial, places)
            new = replace(trial, tests=read_tests(text), tests_by=_by(written), runs=[])
            changed.append((trial, new, written))
        else:
            _enter_tests(trial, written, keys, improved)
    prove([new for _, new, _ in changed], places, runner)
    better: dict[str, Trial] = {}
    for trial, new, written in changed:
        if problem := _worse(new, trial):
            _enter_tests(trial, _abandoned(written, problem), keys, improved)
        else:
            new.score = _score(new, places[new.function.version], runner, mutation)
            better[new.function.id] = new
    _settle(fresh, better, improved)
    stand = [trial for trial in improved.trials if trial.function.id not in fresh or trial.function.id in better]
    improved.trials = [better.get(trial.function.id, trial) for trial in stand]
    return improved


def _needing_library(tests: str, trial: Trial, places: Mapping[str, OpenEnvironment]) -> str:
    """Return tests with the one that a program needs the library, where they lack it and have a call for it."""
    if any(f"def {name}(" in tests for name in (NEEDS_API, NEEDS_LIBRARY)):
        return tests
    function = trial.function
    return with_library_test(tests, function.name, function.module, places[function.version].roots) or tests


def _score(trial: Trial, place: OpenEnvironment, runner: Runner, rules: MutationRules) -> MutationScore:
    """Return how many mutants of a function the tests kill that were written for it."""
    function = trial.function
    case = Case(
        function.id,
        "",
        function.program,
        import_names=place.row["import_names"],
        test_file=trial.tests.text,
        module=function.module,
    )
    lines = range(1, function.program.count("\n") + 2)
    return score_by_tests(case, lines, Family.FUNCTION, place.environment, runner, rules)


def _worse(new: Trial, old: Trial) -> str | None:
    """Return what a function would lose with its new tests; None for nothing."""
    if not new.passed:
        ended = next((run for run in new.runs if run["role"] == FunctionRun.TESTS), None)
        detail = f"end as {ended['outcome']}:\n{ended['detail'] or ''}".strip() if ended else "were not run"
        return f"run once more, the tests {detail}"
    if old.apart and not new.apart:
        return "with these tests, code that is right for the other version is told apart no longer"
    return None


def _enter_tests(trial: Trial, refusal: Refusal, keys: Mapping[str, str], improved: Improved) -> None:
    name = trial.function.id
    row = _of_version(trial.snippet, trial.function.version, DraftKind.FUNCTION_TESTS, name)
    improved.enter(keys.get(name, f"{name} tests"), row, refusal, has_function=name not in keys)


def _settle(fresh: Mapping[str, tuple[str, WrittenFunction]], better: Mapping[str, Trial], improved: Improved) -> None:
    """Record the results of written functions; those without tests have a cost, too."""
    trials = {trial.function.id: trial for trial in improved.trials}
    for name, (key, written) in fresh.items():
        if name in better:
            improved.settled[key] = None
        elif key not in improved.settled:
            row = _of_version(trials[name].snippet, trials[name].function.version, DraftKind.TASK_FUNCTION, None)
            improved.enter(key, row, _abandoned(written, "no tests of it were accepted"), has_function=False)


def missing_tests(
    trials: Iterable[Trial], described: Mapping[str, WriterResult], rules: FunctionTestsRules
) -> list[tuple[Trial, tuple[TestKind, ...]]]:
    """Return the functions that need tests, with the kinds: at most as many as the rules allow, fewest tests first."""
    requests = [(trial, required_kinds(trial, rules.min_coverage)) for trial in trials if _text(trial, described)]
    requests.sort(key=lambda pair: (-len(pair[1]), pair[0].function.id))
    return [pair for pair in requests if pair[1]][: rules.max_per_library]


def required_kinds(trial: Trial, min_coverage: float) -> tuple[TestKind, ...]:
    """Return the kinds of tests to write: missing ones, and more where tests cover too little.

    That is where they do not reach lines, or a body could do without any work.
    """
    missing = trial.tests.missing_kinds
    too_little = coverage_of(trial) < min_coverage or trial.tests.trivial is not None
    if too_little and TestKind.FUNCTIONALITY not in missing:
        return (*missing, TestKind.FUNCTIONALITY)
    return missing


def _write_functions(
    examples: Sequence[Untaken],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    writer: FunctionWriter,
    improved: Improved,
    spelled_name: SpelledNameRules,
) -> dict[str, tuple[str, WrittenFunction]]:
    """Add functions of examples, without tests as yet; return them by id with the keys of their examples' rejects."""
    here = [example for example in examples if example.version in places]
    used_ids = {trial.function.id for trial in improved.trials}
    fresh: dict[str, tuple[str, WrittenFunction]] = {}
    requests = [_example(example, library, places[example.version], spelled_name) for example in here]
    for example, written in zip(here, writer.write(requests), strict=True):
        outcome = written if isinstance(written, Refusal) else _new(example, written, library, {*used_ids, *fresh})
        if isinstance(outcome, Trial) and isinstance(written, WrittenFunction):
            improved.trials.append(outcome)
            fresh[outcome.function.id] = example.reject.key, written
        elif isinstance(outcome, Refusal):
            row = _of_version(example.snippet, example.version, DraftKind.TASK_FUNCTION, None)
            improved.enter(example.reject.key, row, outcome, has_function=False)
    return fresh


def _abandoned(written: WrittenFunction | WrittenTests, problem: str) -> Refusal:
    """Return the refusal of a written and paid text that is not used."""
    spent = (written.tokens, written.nano_usd)
    return Refusal(problem, False, written.model, written.prompt_sha256, written.tries, *spent)


def _new(example: Untaken, written: WrittenFunction, library: Library, used_ids: Collection[str]) -> Trial | Refusal:
    trial = _trial(example, written, library)
    if isinstance(trial, Trial) and trial.function.id in used_ids:
        return _abandoned(written, "it is the same program as another function")
    return trial


def _example(example: Untaken, library: Library, place: OpenEnvironment, spelled_name: SpelledNameRules) -> Example:
    documented = filter(None, (example.snippet["path"], example.use.path))
    return Example(
        id=str(example.snippet["id"]),
        library=example.snippet["library"],
        version=example.version,
        path=example.use.path,
        code=source_of(example.snippet),
        docstrings=library.docstrings(documented, example.version),
        hidden=example.hidden,
        api=library.api(example.version),
        environment=place.environment,
        spelled_name=spelled_name,
    )


def _trial(example: Untaken, written: WrittenFunction, library: Library) -> Trial | Refusal:
    """Return the function of an example with the use that is masked in it; a refusal where it names no such use."""
    uses = library.uses(written.program, example.version)
    use = next((use for use in uses if use.path == example.use.path and is_named(use)), None)
    if use is None:
        return _abandoned(written, f"it does not use {example.use.path} by that path and name")
    function = Function(
        library=example.snippet["library"],
        version=example.version,
        path=use.path,
        program=written.program,
        name=written.function,
        parameters=written.parameters,
        hidden=example.hidden,
        docstrings=(),
    )
    return Trial(
        function=function,
        snippet=example.snippet,
        tags=example.tags,
        use=use,
        tests=Tests("", {}),
        other_version=example.neighbour(library),
        code_by=_by(written),
        description=Text(written.description, False, Drafter.MODEL, written.model, written.prompt_sha256),
    )


def _untested(
    trial: Trial, missing: tuple[TestKind, ...], text: str, places: Mapping[str, OpenEnvironment]
) -> Untested:
    function, place = trial.function, places[trial.function.version]
    return Untested(
        id=function.id,
        library=function.library,
        version=function.version,
        path=function.path,
        environment=place.environment,
        module=function.module,
        function=function.name,
        program=function.program,
        description=text,
        tests=trial.tests.text,
        missing_kinds=missing,
        hidden=function.hidden,
        import_names=tuple(place.row["import_names"]),
        other=trial.other.program if trial.other is not None and trial.apart else None,
    )


def _text(trial: Trial, described: Mapping[str, WriterResult]) -> str:
    if trial.description is not None:
        return trial.description.text
    written = described.get(trial.function.id)
    return written.text.text if written is not None and written.text is not None else ""


def _by(written: WrittenFunction | WrittenTests) -> By:
    return By(Drafter.MODEL, written.model, written.prompt_sha256, written.tokens, written.nano_usd)


def _of_version(snippet: SnippetRow, version: str, kind: DraftKind, function: str | None) -> RefusedOf:
    return {
        "library": snippet["library"],
        "version": version,
        "kind": kind,
        "snippet_id": snippet["id"],
        "function_id": function,
    }


def _refused(refusal: Refusal, row: RefusedOf) -> RefusedFunctionRow:
    subject = row["function_id"] or row["snippet_id"]
    return {
        **row,
        "id": content_id(subject, row["kind"], row["version"], refusal.model, refusal.prompt_sha256),
        **refusal.columns,
    }
