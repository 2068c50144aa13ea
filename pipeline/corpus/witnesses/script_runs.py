"""Scripts of tests run in the releases around a change: what each of their lines printed, and where they failed."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pipeline.core.syntax_trees import literal_eval
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.corpus.own_tests.rules import WitnessRules
from pipeline.corpus.witnesses.scripts import Line
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, ReleaseRow
from pipeline.lake.stage import Reject

MARK = "=====8<====="
"""A program prints it after each of its lines, so that the outputs of lines can be separated."""


@dataclass
class ScriptRuns:
    """Runs scripts in releases; results by the text of a script and the release, notes on what could not be run."""

    releases: Mapping[str, ReleaseRow]
    runner: Runner
    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    notes: list[Reject] = field(default_factory=list)
    _environments: dict[str, Environment | None] = field(default_factory=dict)

    def run(self, scripts: Mapping[str, Mapping[str, Sequence[Line]]], time_s: float | None = None) -> None:
        """Run scripts by release and text, each that was not run there; each for `time_s` at most, if less is wanted.

        Errors: those of `EnvironmentStore.open`.
        """
        new = [version for version in scripts if version not in self._environments]
        with ThreadPoolExecutor(self.runner.store.workers) as pool:
            for version, built in zip(new, pool.map(self._built, new), strict=True):
                self._environments[version] = self._opened(version, built)
        for version, by_text in scripts.items():
            environment = self._environments[version]
            texts = [text for text in by_text if (text, version) not in self.results]
            if environment is None or not texts:
                continue
            names = tuple(self.releases[version]["import_names"])
            cases = [Case(content_id(text), "", marked(by_text[text]), import_names=names) for text in texts]
            with at_release(version):
                results = attempt(version, self._run_in, environment, cases, time_s)
            if isinstance(results, Reject):
                self.notes.append(results)
            else:
                self.results |= {(text, version): result for text, result in zip(texts, results, strict=True)}

    def _run_in(self, environment: Environment, cases: Sequence[Case], time_s: float | None) -> list[Result]:
        runner = self.runner
        # What a deprecated API warns of would stand among what is printed.
        rules = runner.rules.once.model_copy(update={"ignore_warnings": True})
        rules = rules.model_copy(update={"time_s": time_s}) if time_s else rules
        return run_cases(environment, cases, runner.sandbox, rules, runner.workers, None, runner.memory)

    def _built(self, version: str) -> EnvironmentRow | Reject:
        return attempt(version, self._build, self.releases[version])

    def _build(self, release: ReleaseRow) -> EnvironmentRow | Reject:
        try:
            with at_release(release["version"]):
                return self.runner.store.build(request_of(release))
        except IndexUnreachable as error:
            return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))

    def _opened(self, version: str, built: EnvironmentRow | Reject) -> Environment | None:
        if isinstance(built, Reject):
            self.notes.append(built)
        elif built["outcome"] != EnvironmentOutcome.BUILT:
            self.notes.append(Reject(version, RejectReason.NO_ENVIRONMENT, str(built["outcome"])))
        else:
            return self.runner.store.open(built)
        return None


def marked(lines: Sequence[Line]) -> str:
    """Return the program that prints a mark after each of its lines."""
    return "".join(f"{line.text}\n" if _is_future(line) else f"{line.text}\nprint({MARK!r})\n" for line in lines)


def _is_future(line: Line) -> bool:
    return line.text.startswith("from __future__ ")


def outputs(lines: Sequence[Line], result: Result | None) -> list[str] | None:
    """Return what each line of a program printed; None where it did not run to its end."""
    if result is None or result.outcome is not Outcome.PASSED:
        return None
    *printed, last = result.output.rstrip("\n").split(MARK)
    texts = [text.removeprefix("\n") for text in printed]
    running = [line for line in lines if not _is_future(line)]
    if last.strip() or len(texts) != len(running):
        return None
    by_line = iter(texts)
    return ["" if _is_future(line) else next(by_line, "") for line in lines]


def as_asserted(lines: Sequence[Line], printed: Sequence[str]) -> bool:
    """Say whether the assertions of a program hold: without what was left out of the test they may not."""
    return all(
        _holds(line, text.rstrip("\n"))
        for line, text in zip(lines, printed, strict=True)
        if line.expectation is not None and isinstance(line.node, ast.Expr)
    )


def _holds(line: Line, text: str) -> bool:
    if not line.compares or line.expectation is None:
        return text == "True"
    expected = literal_eval(line.expectation)
    try:
        return text == str(expected) or bool(literal_eval(text) == expected)
    except (ValueError, SyntaxError):
        # an object of a class of its own, which equals the literal
        return not isinstance(expected, str | bytes)


def failing_place(lines: Sequence[Line], expected: Sequence[str], result: Result | None) -> int | None:
    """Return the place of the line at which a program fails, or first prints something else than `expected`."""
    if result is None:
        return None
    if (there := outputs(lines, result)) is not None:
        return next((place for place, pair in enumerate(zip(expected, there, strict=True)) if pair[0] != pair[1]), None)
    running = [place for place, line in enumerate(lines) if not _is_future(line)]
    done = result.output.count(MARK)
    return running[done] if done < len(running) else None


def outcome_of(result: Result | None) -> Outcome:
    """Return how a program failed; one that ran to its end printed something else."""
    if result is None:
        return Outcome.NO_ENVIRONMENT
    return Outcome.FAILED_ASSERTION if result.outcome is Outcome.PASSED else result.outcome


def reason_at_home(result: Result | None, rules: WitnessRules) -> RejectReason:
    """Return why a test that does not pass in its own release is no witness: by what its run lacks, if it says so."""
    if result is None or result.outcome is Outcome.PASSED:
        return RejectReason.NOT_PROVEN
    return rules.reason_at_home(f"{result.outcome}: {result.detail or ''}")


def described(result: Result | None) -> str:
    """Return the outcome of a run with the end of its message."""
    return f"{outcome_of(result)}: {(result.detail if result else None) or ''}"[-300:]
