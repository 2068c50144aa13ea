"""The one way to run cases: fresh or forked, repeated, with the same outcomes."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pipeline.core.vocabularies.running import Process
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.fork_server import ForkServer, imports_of
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.repeats import run_case
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.run_cache import RunCache, case_key, remembered, run_key


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
