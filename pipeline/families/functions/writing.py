"""Functions and tests that somebody writes beside the rules: what is asked for, and what comes of it."""

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
from pipeline.families.problems.library import Library
from pipeline.families.problems.running import Place
from pipeline.lake.ids import content_id
from pipeline.lake.rows import RefusedFunctionRow, SnippetRow
from pipeline.lake.stage import Reject
from pipeline.llm.tasks.rules import FunctionTestsRules
from pipeline.llm.writers import Refusal, Text, Written


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes beside the rules: functions of examples that make no task, and tests of kinds that none gives."""

    functions: FunctionWriter
    tests: FunctionTestWriter


class RefusedOf(TypedDict):
    """What was asked for and is not there: the columns of `refused_functions` but for why."""

    library: str
    version: str
    kind: str
    snippet_id: str
    function_id: str | None


@dataclass(slots=True)
class Improved:
    """Functions with those that were written, and what became of the other drafts.

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

    def enter(self, key: str, row: RefusedOf, refusal: Refusal, *, stands: bool) -> None:
        """Enter what was not written; `stands`: there is a function all the same."""
        waiting = Reject(key, RejectReason.DRAFT_WAITING, refusal.problem)
        if not refusal.waiting:
            self.notes.append(Reject(key, RejectReason.DRAFT_REFUSED, refusal.problem))
            self.refused.append(_refused(refusal, row))
        elif stands:
            self.notes.append(waiting)
        else:
            self.settled[key] = waiting


def improve(
    trials: Sequence[Trial],
    examples: Sequence[Untaken],
    described: Mapping[str, Written],
    library: Library,
    places: Mapping[str, Place],
    mutation: MutationRules,
    writers: Writers,
    runner: Runner,
) -> Improved:
    """Have functions made of examples, and tests written for functions that lack some, and prove these again.

    What a function had stands where nothing better holds; one that was written and has no tests is none.
    """
    found = Improved(list(trials))
    fresh = _write_functions(examples, library, places, writers.functions, found)
    keys = {name: key for name, (key, _) in fresh.items()}
    asked = lacking_tests(found.trials, described, writers.tests.rules)
    wanted = [_untested(trial, kinds, _text(trial, described), places) for trial, kinds in asked]
    changed: list[tuple[Trial, Trial, WrittenTests]] = []
    for (trial, _), written in zip(asked, writers.tests.write(wanted), strict=True):
        if isinstance(written, WrittenTests):
            new = replace(trial, tests=read_tests(written.tests), tests_by=_by(written), runs=[])
            changed.append((trial, new, written))
        else:
            _enter_tests(trial, written, keys, found)
    prove([new for _, new, _ in changed], places, runner)
    better: dict[str, Trial] = {}
    for trial, new, written in changed:
        if problem := _worse(new, trial):
            _enter_tests(trial, _given_up(written, problem), keys, found)
        else:
            new.score = _score(new, places[new.function.version], runner, mutation)
            better[new.function.id] = new
    _settle(fresh, better, found)
    stand = [trial for trial in found.trials if trial.function.id not in fresh or trial.function.id in better]
    found.trials = [better.get(trial.function.id, trial) for trial in stand]
    return found


def _score(trial: Trial, place: Place, runner: Runner, rules: MutationRules) -> MutationScore:
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
    """Say what a function would lose by its new tests; None where nothing."""
    if not new.passed:
        ended = next((run for run in new.runs if run["role"] == FunctionRun.TESTS), None)
        said = f"end as {ended['outcome']}:\n{ended['detail'] or ''}".strip() if ended else "were not run"
        return f"run once more, the tests {said}"
    if old.apart and not new.apart:
        return "with these tests, code that is right for the other version is told apart no longer"
    return None


def _enter_tests(trial: Trial, refusal: Refusal, keys: Mapping[str, str], found: Improved) -> None:
    name = trial.function.id
    row = _of_version(trial.snippet, trial.function.version, DraftKind.FUNCTION_TESTS, name)
    found.enter(keys.get(name, f"{name} tests"), row, refusal, stands=name not in keys)


def _settle(fresh: Mapping[str, tuple[str, WrittenFunction]], better: Mapping[str, Trial], found: Improved) -> None:
    """Enter what became of the functions that were written: those without tests were paid for, too."""
    trials = {trial.function.id: trial for trial in found.trials}
    for name, (key, written) in fresh.items():
        if name in better:
            found.settled[key] = None
        elif key not in found.settled:
            row = _of_version(trials[name].snippet, trials[name].function.version, DraftKind.TASK_FUNCTION, None)
            found.enter(key, row, _given_up(written, "no tests of it were accepted"), stands=False)


def lacking_tests(
    trials: Iterable[Trial], described: Mapping[str, Written], rules: FunctionTestsRules
) -> list[tuple[Trial, tuple[TestKind, ...]]]:
    """Return the functions that tests are wanted of, with the kinds: as many as the rules take, the barest first."""
    wanted = [(trial, wanted_kinds(trial, rules.min_coverage)) for trial in trials if _text(trial, described)]
    wanted.sort(key=lambda pair: (-len(pair[1]), pair[0].function.id))
    return [pair for pair in wanted if pair[1]][: rules.max_per_library]


def wanted_kinds(trial: Trial, min_coverage: float) -> tuple[TestKind, ...]:
    """Return the kinds of tests that are to be written: those that are not there, and more where tests tell too little.

    That is where they do not reach lines, or a body could do without any work.
    """
    lacking = trial.tests.lacking
    too_little = coverage_of(trial) < min_coverage or trial.tests.trivial is not None
    if too_little and TestKind.FUNCTIONALITY not in lacking:
        return (*lacking, TestKind.FUNCTIONALITY)
    return lacking


def _write_functions(
    examples: Sequence[Untaken],
    library: Library,
    places: Mapping[str, Place],
    writer: FunctionWriter,
    found: Improved,
) -> dict[str, tuple[str, WrittenFunction]]:
    """Add functions of examples, without tests as yet; return them by id with the keys of their examples' rejects."""
    here = [one for one in examples if one.version in places]
    known = {trial.function.id for trial in found.trials}
    fresh: dict[str, tuple[str, WrittenFunction]] = {}
    wanted = [_example(one, library, places[one.version]) for one in here]
    for one, written in zip(here, writer.write(wanted), strict=True):
        made = written if isinstance(written, Refusal) else _new(one, written, library, {*known, *fresh})
        if isinstance(made, Trial) and isinstance(written, WrittenFunction):
            found.trials.append(made)
            fresh[made.function.id] = one.reject.key, written
        elif isinstance(made, Refusal):
            row = _of_version(one.snippet, one.version, DraftKind.TASK_FUNCTION, None)
            found.enter(one.reject.key, row, made, stands=False)
    return fresh


def _given_up(written: WrittenFunction | WrittenTests, problem: str) -> Refusal:
    """Return a refusal of what was written, and paid for, and comes to nothing all the same."""
    spent = (written.tokens, written.nano_usd)
    return Refusal(problem, False, written.model, written.prompt_sha256, written.tries, *spent)


def _new(one: Untaken, written: WrittenFunction, library: Library, known: Collection[str]) -> Trial | Refusal:
    made = _trial(one, written, library)
    if isinstance(made, Trial) and made.function.id in known:
        return _given_up(written, "it is the same program as another function")
    return made


def _example(one: Untaken, library: Library, place: Place) -> Example:
    documented = filter(None, (one.snippet["path"], one.use.path))
    return Example(
        id=str(one.snippet["id"]),
        library=one.snippet["library"],
        version=one.version,
        path=one.use.path,
        code=source_of(one.snippet),
        docstrings=library.docstrings(documented, one.version),
        hidden=one.hidden,
        api=library.api(one.version),
        environment=place.environment,
    )


def _trial(one: Untaken, written: WrittenFunction, library: Library) -> Trial | Refusal:
    """Return the function of an example with the use that is masked in it; a refusal where it names no such use."""
    uses = library.uses(written.program, one.version)
    use = next((use for use in uses if use.path == one.use.path and is_named(use)), None)
    if use is None:
        return _given_up(written, f"it does not use {one.use.path} by that path and name")
    function = Function(
        library=one.snippet["library"],
        version=one.version,
        path=use.path,
        program=written.program,
        name=written.function,
        parameters=written.parameters,
        hidden=one.hidden,
        snippet_id=one.snippet["id"],
        docstrings=(),
    )
    return Trial(
        function=function,
        snippet=one.snippet,
        tags=one.tags,
        use=use,
        tests=Tests("", {}),
        other_version=one.neighbour(library),
        code_by=_by(written),
        description=Text(written.description, False, Drafter.MODEL, written.model, written.prompt_sha256),
    )


def _untested(trial: Trial, lacking: tuple[TestKind, ...], text: str, places: Mapping[str, Place]) -> Untested:
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
        lacking=lacking,
        hidden=function.hidden,
        import_names=tuple(place.row["import_names"]),
        other=trial.other.program if trial.other is not None and trial.apart else None,
    )


def _text(trial: Trial, described: Mapping[str, Written]) -> str:
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
