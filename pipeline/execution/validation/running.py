"""The one way to run cases: fresh or forked, repeated, with the same outcomes."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pipeline.core.vocabularies.running import Outcome, Process, Variation
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Attempt, Case, Result, coverage
from pipeline.execution.validation.details import clean, tail
from pipeline.execution.validation.fork_server import ForkServer, imports_of
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.run_cache import RunCache, case_key, remembered, run_key

# Running these again could not come out otherwise, or would only take as long again.
_CERTAIN = frozenset({Outcome.TIMED_OUT, Outcome.SYNTAX_ERROR})


def run_cases(
    environment: Environment,
    cases: Sequence[Case],
    sandbox: Sandbox,
    rules: ValidationRules,
    workers: int = 1,
    on_result: Callable[[Result], None] | None = None,
    memory: RunCache | None = None,
) -> list[Result]:
    """Run cases, `workers` at a time, and return their results in the order of the cases.

    Each is run as often as the rules say, always under changed conditions; if it does not come out the same each time,
    it is FLAKY. `on_result` is told each result as soon as it is there, in the thread that ran the case. What the
    `memory` has of the same case is not run, and not told.
    """

    def run(places: list[int]) -> list[Result]:
        return _run_cases(environment, [cases[place] for place in places], sandbox, rules, workers, on_result)

    if memory is None:
        return run(list(range(len(cases))))
    keys = [case_key(case, run_key(environment), sandbox, rules) for case in cases]
    results = remembered(memory, keys, Result, run)
    return [replace(result, id=case.id) for result, case in zip(results, cases, strict=True)]


def _run_cases(
    environment: Environment,
    cases: Sequence[Case],
    sandbox: Sandbox,
    rules: ValidationRules,
    workers: int,
    on_result: Callable[[Result], None] | None,
) -> list[Result]:
    many = max(1, min(workers, len(cases)))
    is_forked = rules.process == Process.FORK and sandbox.two_users and len(cases) >= rules.fork_from
    imports = imports_of(cases if is_forked else (), environment, rules) or [None] * len(cases)
    with contextlib.ExitStack() as stack:
        runners: queue.SimpleQueue[Fresh | ForkServer] = queue.SimpleQueue()
        for _ in range(many):
            fresh = Fresh(environment, sandbox, rules)
            runners.put(stack.enter_context(ForkServer(fresh, cases, imports)) if is_forked else fresh)

        def run_one(case: Case) -> Result:
            runner = runners.get()
            try:
                result = run_case(environment, case, runner, rules)
            finally:
                runners.put(runner)
            if on_result is not None:
                on_result(result)
            return result

        order = sorted(range(len(cases)), key=lambda place: (imports[place] is None, imports[place] or ()))
        with ThreadPoolExecutor(many) as pool:
            results = dict(zip(order, pool.map(run_one, [cases[place] for place in order]), strict=True))
        return [results[place] for place in range(len(cases))]


def run_case(environment: Environment, case: Case, runner: Fresh | ForkServer, rules: ValidationRules) -> Result:
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
        Variation.ORDER: "tests backwards" if repeat % 2 else "",
        Variation.CLOCK: f"{repeat * rules.clock_shift_days} days later",
    }
    conditions = ", ".join(text for variation, text in changed.items() if variation in rules.vary and text)
    return f"{first.outcome}, then {again.outcome}{f' ({conditions})' if conditions else ''}\n{failed.message}".strip()
