"""Functions and tests that somebody writes beside the rules: what is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.drafting import Refusal, Text, Written
from pipeline.drafting.kinds.rules import FunctionTestsRules
from pipeline.functions.function import Function, Tests, read_tests
from pipeline.functions.proving import By, Trial, coverage_of, prove
from pipeline.functions.untaken import Untaken, is_named
from pipeline.functions.writers import (
    Example,
    FunctionTestWriter,
    FunctionWriter,
    Untested,
    WrittenFunction,
    WrittenTests,
)
from pipeline.lake import Reject, Row, content_id
from pipeline.problems.library import Library
from pipeline.problems.running import Place
from pipeline.terms import Drafter, DraftKind, RejectReason, TestKind
from pipeline.usage import source_of
from pipeline.validation import Runner


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes beside the rules: functions of examples that make no task, and tests of kinds that none gives."""

    functions: FunctionWriter
    tests: FunctionTestWriter


@dataclass(slots=True)
class Improved:
    """Functions with those that were written, and what became of the other drafts.

    `settled` are the rejects of examples that stand no longer, by key: None where there is a function now, else what
    is to be said instead.
    """

    trials: list[Trial]
    refused: list[Row] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)
    settled: dict[str, Reject | None] = field(default_factory=dict)

    def left(self, rejects: Iterable[Reject]) -> list[Reject]:
        """Return the rejects of examples as they are now."""
        now = (self.settled.get(reject.key, reject) for reject in rejects)
        return [reject for reject in now if reject is not None]

    def enter(self, key: str, row: Row, refusal: Refusal, *, stands: bool) -> None:
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
    writers: Writers,
    runner: Runner,
) -> Improved:
    """Have functions made of examples, and tests written for functions that lack some, and prove these again.

    What a function had stands where nothing better holds; one that was written and has no tests is none.
    """
    found = Improved(list(trials))
    keys = _write_functions(examples, library, places, writers.functions, found)
    fresh = [trial for trial in found.trials if trial.function.id in keys]
    asked = lacking_tests(found.trials, described, writers.tests.rules)
    wanted = [_untested(trial, kinds, _text(trial, described), places) for trial, kinds in asked]
    changed: list[Trial] = []
    for (trial, _), written in zip(asked, writers.tests.write(wanted), strict=True):
        if isinstance(written, WrittenTests):
            changed.append(replace(trial, tests=read_tests(written.tests), tests_by=_by(written), runs=[]))
        else:
            key = trial.function.id
            row = _of_version(trial.snippet, trial.function.version, DraftKind.FUNCTION_TESTS, key)
            found.enter(keys.get(key, key), row, written, stands=key not in keys)
    prove(changed, places, runner)
    better = {trial.function.id: trial for trial in changed if trial.passed}
    found.settled |= {keys[trial.function.id]: None for trial in fresh if trial.function.id in better}
    stand = [trial for trial in found.trials if trial.function.id not in keys or trial.function.id in better]
    found.trials = [better.get(trial.function.id, trial) for trial in stand]
    return found


def lacking_tests(
    trials: Iterable[Trial], described: Mapping[str, Written], rules: FunctionTestsRules
) -> list[tuple[Trial, tuple[TestKind, ...]]]:
    """Return the functions that tests are wanted of, with the kinds: as many as the rules take, the barest first."""
    wanted = [(trial, wanted_kinds(trial, rules.min_coverage)) for trial in trials if _text(trial, described)]
    wanted.sort(key=lambda pair: (-len(pair[1]), pair[0].function.id))
    return [pair for pair in wanted if pair[1]][: rules.max_per_library]


def wanted_kinds(trial: Trial, min_coverage: float) -> tuple[TestKind, ...]:
    """Return the kinds of tests that are to be written: what is not there, and more where lines are not reached."""
    lacking = trial.tests.lacking
    if not lacking and coverage_of(trial) < min_coverage:
        return (TestKind.FUNCTIONALITY,)
    return lacking


def _write_functions(
    examples: Sequence[Untaken],
    library: Library,
    places: Mapping[str, Place],
    writer: FunctionWriter,
    found: Improved,
) -> dict[str, str]:
    """Add functions of examples, without tests as yet; return the keys of their examples' rejects by function."""
    here = [one for one in examples if one.version in places]
    known = {trial.function.id for trial in found.trials}
    keys: dict[str, str] = {}
    wanted = [_example(one, library, places[one.version]) for one in here]
    for one, written in zip(here, writer.write(wanted), strict=True):
        if isinstance(written, Refusal):
            row = _of_version(one.snippet, one.version, DraftKind.TASK_FUNCTION, None)
            found.enter(one.reject.key, row, written, stands=False)
            continue
        trial = _trial(one, written, library)
        if trial is not None and trial.function.id not in {*known, *keys}:
            found.trials.append(trial)
            keys[trial.function.id] = one.reject.key
    return keys


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


def _trial(one: Untaken, written: WrittenFunction, library: Library) -> Trial | None:
    """Return the function of an example with the use that is masked in it; None where it names no such use."""
    uses = library.uses(written.program, one.version)
    use = next((use for use in uses if use.path == one.use.path and is_named(use)), None)
    if use is None:
        return None
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
        environment=place.environment,
        module=function.module,
        function=function.name,
        program=function.program,
        description=text,
        tests=trial.tests.text,
        lacking=lacking,
        hidden=function.hidden,
        import_names=tuple(place.row["import_names"]),
    )


def _text(trial: Trial, described: Mapping[str, Written]) -> str:
    if trial.description is not None:
        return trial.description.text
    written = described.get(trial.function.id)
    return written.text.text if written is not None and written.text is not None else ""


def _by(written: WrittenFunction | WrittenTests) -> By:
    return By(Drafter.MODEL, written.model, written.prompt_sha256, written.tokens, written.nano_usd)


def _of_version(snippet: Row, version: str, kind: DraftKind, function: str | None) -> Row:
    at = {"library": snippet["library"], "version": version}
    return {**at, "kind": kind, "snippet_id": snippet["id"], "function_id": function}


def _refused(refusal: Refusal, row: Row) -> Row:
    subject = row["function_id"] or row["snippet_id"]
    return row | {
        "id": content_id(subject, row["kind"], row["version"], refusal.model, refusal.prompt_sha256),
        "problem": refusal.problem,
        "model": refusal.model,
        "prompt_sha256": refusal.prompt_sha256,
        "tries": refusal.tries,
        "tokens": refusal.tokens,
        "nano_usd": refusal.nano_usd,
    }
