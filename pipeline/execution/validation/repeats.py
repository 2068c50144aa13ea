"""A case, run as often as the rules say, always under changed conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pipeline.core.vocabularies.running import Outcome, Variation
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Attempt, Case, Result, coverage
from pipeline.execution.validation.details import clean, tail

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.execution.validation.rules import ValidationRules

# Running these again could not come out otherwise, or would only take as long again.
_CERTAIN = frozenset({Outcome.TIMED_OUT, Outcome.SYNTAX_ERROR})


class Runner(Protocol):
    """Runs a case once."""

    def attempt(self, case: Case, repeat: int) -> Attempt:
        """Run a case once, as the repeat of that number."""
        ...


def run_case(environment: Environment, case: Case, runner: Runner, rules: ValidationRules) -> Result:
    """Run a case as often as the rules say."""
    first, again, ran = runner.attempt(case, 0), None, 1
    for repeat in range(1, rules.repeats):
        if first.outcome in _CERTAIN:
            break
        again, ran = runner.attempt(case, repeat), repeat + 1
        if again.outcome != first.outcome:
            break
    outcome, detail = first.outcome, first.message
    if again is not None and again.outcome != first.outcome:
        outcome, detail = Outcome.FLAKY, _difference(first, again, rules, ran - 1)
    return Result(
        case.id,
        outcome,
        None if outcome is Outcome.PASSED else clean(detail, environment),
        first.duration_s,
        first.peak_memory_bytes or None,
        output=tail(first.output, environment, rules.output_tail),
        coverage=coverage(first.lines),
        repeats=ran,
    )


def _difference(first: Attempt, again: Attempt, rules: ValidationRules, repeat: int) -> str:
    """Say how a case came out each time, and what had been changed."""
    failed = again if first.passed else first
    changed = {
        Variation.HASH_SEED: f"hash seed {repeat}",
        Variation.RANDOM_SEED: f"random seed {repeat}",
        Variation.ORDER: "tests backwards" if repeat % 2 else "",
        Variation.CLOCK: f"{repeat * rules.clock_shift_days} days later",
    }
    conditions = ", ".join(text for variation, text in changed.items() if variation in rules.vary and text)
    return f"{first.outcome}, then {again.outcome}{f' ({conditions})' if conditions else ''}\n{failed.message}".strip()
