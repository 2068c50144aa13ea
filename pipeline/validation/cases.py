"""Run cases in the sandbox and say how each came out."""

from __future__ import annotations

import json
import secrets
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.environments import Environment, Finished, Limits, Sandbox
from pipeline.lake import Row
from pipeline.terms import Outcome
from pipeline.validation.details import clean
from pipeline.validation.rules import ValidationRules

_HARNESS = Path(__file__).with_name("harness.py").read_bytes()
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
# Running these again could not come out otherwise, or would only take as long again.
_CERTAIN = frozenset({Outcome.TIMED_OUT, Outcome.SYNTAX_ERROR, Outcome.FLAKY})


@dataclass(frozen=True, slots=True)
class Case:
    """A piece of code to run: as a program, or statement by statement if `checks` (of `snippets`) state outputs."""

    id: str
    preamble: str
    code: str
    checks: Sequence[Row] = ()
    import_names: Sequence[str] = ()
    test: str | None = None
    test_file: str | None = None
    module: str | None = None
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
    """How a case came out; `detail` and `seen` are the same on every machine; `seen` is what a probe found, as JSON."""

    id: str
    outcome: Outcome
    detail: str | None
    duration_s: float
    peak_memory_bytes: int | None
    seen: str | None = None
    output: str = ""
    coverage: Coverage | None = None
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What the harness said, as far as it came; `end` is there only if the nonce signed it."""

    started: bool = False
    end: dict[str, Any] | None = None


def run_cases(
    environment: Environment,
    cases: Sequence[Case],
    sandbox: Sandbox,
    rules: ValidationRules,
    workers: int = 1,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run cases, `workers` at a time, and return their results in the order of the cases.

    `on_result` is told each result as soon as it is there, in the thread that ran the case.
    """

    def one(case: Case) -> Result:
        result = run_case(environment, case, sandbox, rules)
        if on_result is not None:
            on_result(result)
        return result

    with ThreadPoolExecutor(max(1, workers)) as pool:
        return list(pool.map(one, cases))


def run_case(environment: Environment, case: Case, sandbox: Sandbox, rules: ValidationRules) -> Result:
    """Run a case as often as the rules say, each time with another hash seed; differing outcomes make it FLAKY."""
    first = _run_once(environment, case, sandbox, rules, 0)
    for repeat in range(1, rules.repeats):
        if first.outcome in _CERTAIN:
            break
        again = _run_once(environment, case, sandbox, rules, repeat)
        if again.outcome != first.outcome:
            seen = f"{first.outcome}, then {again.outcome}"
            return Result(case.id, Outcome.FLAKY, seen, first.duration_s, first.peak_memory_bytes)
    return first


def _run_once(environment: Environment, case: Case, sandbox: Sandbox, rules: ValidationRules, seed: int) -> Result:
    spec = {
        "preamble": case.preamble,
        "code": case.code,
        "test": case.test,
        "checks": [dict(check) for check in case.checks],
        "options": list(rules.options),
        "import_names": [name.split(".")[0] for name in case.import_names],
    }
    finished, report = _run_harness(environment, spec, sandbox, rules, seed)
    outcome, message = _judge(finished, report)
    detail = None if outcome is Outcome.PASSED else clean(message, environment)
    peak = max(finished.peak_memory_bytes, (report.end or {}).get("peak") or 0) or None
    output = clean(finished.stderr.decode(errors="replace"), environment)
    return Result(case.id, outcome, detail, finished.duration_s, peak, output=output)


def _run_harness(
    environment: Environment, spec: dict[str, Any], sandbox: Sandbox, rules: ValidationRules, seed: int
) -> tuple[Finished, Report]:
    """Run the harness on the specification of a case and read its report."""
    nonce = secrets.token_hex(16).encode()
    finished = sandbox.run(
        [str(environment.python), ".harness.py"],
        environment=environment,
        files={".harness.py": _HARNESS, ".case.json": json.dumps(spec).encode()},
        stdin=nonce,
        limits=rules.limits,
        variables={"PYTHONHASHSEED": str(seed)},
    )
    return finished, _read(finished.stdout, nonce)


def _read(output: bytes, nonce: bytes) -> Report:
    lines = output.split(b"\n")
    signed = [line.removeprefix(nonce) for line in lines if line.startswith(nonce)]
    return Report(lines[0] == b'"started"', json.loads(signed[0]) if signed else None)


def _judge(finished: Finished, report: Report) -> tuple[Outcome, str]:
    """Return outcome and message of a run from its report or, without one, from how the process ended."""
    errors = finished.stderr.decode(errors="replace")
    if finished.timed_out:
        return Outcome.TIMED_OUT, "still running at the time limit"
    if finished.out_of_memory:
        return Outcome.OUT_OF_MEMORY, "went over the memory limit"
    if finished.too_much_output:
        return Outcome.SANDBOX_VIOLATION, "went over the limit of output"
    if not report.started:
        return Outcome.HARNESS_ERROR, errors or f"not started, status {finished.returncode}"
    if report.end is not None:
        return _OUTCOMES[report.end["outcome"]], report.end["message"]
    return _without_report(finished.returncode, errors)


def _without_report(status: int, errors: str) -> tuple[Outcome, str]:
    if "MemoryError" in errors or "bad_alloc" in errors:
        return Outcome.OUT_OF_MEMORY, errors
    if status > 128:
        names = {member.value: member.name for member in signal.Signals}
        return Outcome.SANDBOX_VIOLATION, f"killed by {names.get(status - 128, f'signal {status - 128}')}"
    return Outcome.WRONG_EXCEPTION, f"the process ended with status {status} before the end of the code"
