"""What is run, how it came out, and how a case is put to the harness."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.core.vocabularies.running import Outcome, Variation
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation.observations import Judged, failing, is_skipped, judge_statements, judge_tests
from pipeline.execution.validation.splitting import NotParted, Parted, part

if TYPE_CHECKING:  # verifiers of exported tasks have neither
    from pipeline.execution.validation.rules import ValidationRules
    from pipeline.lake.rows import SnippetCheck

MODULE = "solution"
"""The name under which a test module imports the code where a case names none."""

_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Case:
    """A piece of code to run, in one of four ways; a case may ask for the last two together.

    Statement by statement, if `checks` (of `snippets`) state outputs; with the steps of `parted` tests, imported by
    these as `module`, or as a script before them if that is None; as a script, followed in the same namespace by the
    asserts of `test`; as the module `module`, imported by the pytest module `test_file`. In the first two what is
    expected stays out of the code's process; `apart` parts the tests of the last two where they can be. `cover` asks
    which lines of `code` are executed. `limits` are those of the rules, if None.
    """

    id: str
    preamble: str
    code: str
    checks: Sequence[SnippetCheck] = ()
    import_names: Sequence[str] = ()
    test: str | None = None
    test_file: str | None = None
    module: str | None = None
    parted: Parted | None = None
    apart: bool = False
    cover: bool = False
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Lines of a case's code on which a statement begins: how many, which were executed, and which never."""

    statements: int
    executed: tuple[int, ...]
    missing: tuple[int, ...]

    @property
    def share(self) -> float:
        """Executed statements of all statements; 1.0 where there is nothing to execute."""
        return len(self.executed) / self.statements if self.statements else 1.0


@dataclass(frozen=True, slots=True)
class Result:
    """How a case came out; `detail` and `observation` are the same on every machine.

    `observation` is what a probe found, as JSON. `output` is the end of what the case printed, `repeats` how often it
    was run.
    """

    id: str
    outcome: Outcome
    detail: str | None
    duration_s: float
    peak_memory_bytes: int | None
    observation: str | None = None
    output: str = ""
    coverage: Coverage | None = None
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a case; `message` and `output` as the case said them; `lines`: those with code, and those executed."""

    outcome: Outcome
    message: str
    duration_s: float
    peak_memory_bytes: int
    output: str = ""
    lines: tuple[frozenset[int], frozenset[int]] | None = None

    @property
    def passed(self) -> bool:
        """Whether it came to its end, and all that was stated held."""
        return self.outcome is Outcome.PASSED


def together(attempts: Sequence[Attempt]) -> Attempt:
    """Return runs of one case after each other as one; the last one decides."""
    last, lines = attempts[-1], [attempt.lines for attempt in attempts if attempt.lines is not None]
    return Attempt(
        last.outcome,
        last.message,
        sum(attempt.duration_s for attempt in attempts),
        max(attempt.peak_memory_bytes for attempt in attempts),
        "\n".join(attempt.output for attempt in attempts if attempt.output),
        (frozenset().union(*(has for has, _ in lines)), frozenset().union(*(ran for _, ran in lines)))
        if lines
        else None,
    )


@dataclass(frozen=True, slots=True)
class Specification:
    """What the harness is to do for one run, and what is made of the outcome and message that it reports."""

    sent: dict[str, Any]
    judge: Callable[[Outcome, str], Judged]


def specifications(case: Case, rules: ValidationRules, repeat: int) -> list[Specification]:
    """Return what the harness is to do for one run of a case: as a script, as a module under test, or both in turn."""
    checks = [check for check in case.checks if not is_skipped(check, rules.options)]
    nothing: dict[str, Any] = {"test": None, "test_file": None, "tests": None, "statements": []}
    common = {
        "preamble": case.preamble,
        "code": case.code,
        "import_names": [name.split(".")[0] for name in case.import_names],
        "module": case.module or MODULE,
        "as_module": case.module is not None,
        "cover": case.cover,
        "seed": repeat if Variation.RANDOM_SEED in rules.vary else 0,
        "backwards": Variation.ORDER in rules.vary and repeat % 2 == 1,
        "clock_shift_s": repeat * rules.clock_shift_days * _DAY_S if Variation.CLOCK in rules.vary else 0,
    }
    if case.parted is not None:
        return [Specification(nothing | common | {"tests": _inputs(case.parted)}, _of_tests(case.parted))]
    if case.checks:
        statements = {"statements": [check["statement"] for check in checks]}
        return [Specification(nothing | common | statements, _of_statements(checks, rules))]
    if case.test is case.test_file is None:
        return [Specification(nothing | common, _of_script)]
    result = []
    for way, tests, module in (("test", case.test, None), ("test_file", case.test_file, case.module or MODULE)):
        if tests is None:
            continue
        if parted := parted_or_none(tests, module) if case.apart else None:
            sent = {"tests": _inputs(parted), "as_module": module is not None}
            result.append(Specification(nothing | common | sent, _of_tests(parted)))
        else:
            result.append(Specification(nothing | common | {way: tests}, lambda *reported: reported))
    return result


@functools.lru_cache(maxsize=256)
def parted_or_none(tests: str, module: str | None) -> Parted | None:
    """Return tests in parts, see `splitting.part`; None where they cannot be parted."""
    try:
        return part(tests, module)
    except NotParted:
        return None


def _inputs(parted: Parted) -> dict[str, Any]:
    """Return of tests what the process of the code gets."""
    return {
        "preamble": parted.preamble,
        "tests": [[(step.kind, step.source) for step in steps] for _, steps in parted.tests],
    }


def _of_script(outcome: Outcome, message: str) -> Judged:
    """Take over what became of code alone, which no harness fails to run once it has begun."""
    return (Outcome.WRONG_EXCEPTION if outcome is Outcome.HARNESS_ERROR else outcome), message


def _of_tests(parted: Parted) -> Callable[[Outcome, str], Judged]:
    def judge(outcome: Outcome, message: str) -> Judged:
        return judge_tests(parted, message) if outcome is Outcome.PASSED else (failing(outcome), message)

    return judge


def _of_statements(checks: Sequence[SnippetCheck], rules: ValidationRules) -> Callable[[Outcome, str], Judged]:
    def judge(outcome: Outcome, message: str) -> Judged:
        if not checks:
            return Outcome.HARNESS_ERROR, "every statement is marked SKIP"
        if outcome is not Outcome.PASSED:
            return failing(outcome), message
        return judge_statements(checks, rules.options, message)

    return judge


def variables(rules: ValidationRules, repeat: int) -> dict[str, str]:
    """Return what the rules and a repeat change in the environment of the process."""
    seed = {"PYTHONHASHSEED": str(repeat if Variation.HASH_SEED in rules.vary else 0)}
    return seed | ({"PYTHONWARNINGS": "ignore"} if rules.ignore_warnings else {})


def coverage(lines: tuple[Iterable[int], Iterable[int]] | None) -> Coverage | None:
    """Return the coverage from the lines with code and those executed."""
    if lines is None:
        return None
    statements, executed = (frozenset(numbers) for numbers in lines)
    return Coverage(len(statements), tuple(sorted(executed)), tuple(sorted(statements - executed)))


def limits_of(case: Case, rules: ValidationRules) -> Limits:
    """Return what a case may use."""
    return case.limits or rules.limits


def harness_limits(limits: Limits) -> Mapping[str, float]:
    """Return what the harness itself sees to."""
    return {
        "time_s": limits.time_s,
        "memory_bytes": limits.memory_bytes,
        "output_bytes": limits.output_bytes,
        "files": limits.files,
    }
