"""What became of a run: from what the harness saw, or from how the sandbox ended if it said nothing."""

from __future__ import annotations

import signal
from collections.abc import Callable

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.supervise import Finished
from pipeline.execution.validation.cases import Attempt
from pipeline.execution.validation.harness import Observation
from pipeline.execution.validation.observations import Judged

_LIMITS = {
    "timed_out": (Outcome.TIMED_OUT, "still running at the time limit"),
    "out_of_memory": (Outcome.OUT_OF_MEMORY, "went over the memory limit"),
    "too_much_output": (Outcome.SANDBOX_VIOLATION, "went over the limit of output"),
    "too_many_files": (Outcome.SANDBOX_VIOLATION, "went over the limit of files"),
    "too_many_processes": (Outcome.SANDBOX_VIOLATION, "went over the limit of processes"),
    "scratch_full": (Outcome.SANDBOX_VIOLATION, "filled its scratch folder"),
}
_OF_HARNESS = 97  # status of a case's process whose harness failed, see `inside.guard`


def judge(
    observation: Observation, of_report: Callable[[Outcome, str], Judged] = lambda *reported: reported
) -> Attempt:
    """Return the attempt that the harness saw; `of_report` makes of a whole report what it comes to."""
    outcome, message = _judged(observation, of_report)
    return Attempt(
        outcome,
        message,
        observation.duration_s,
        observation.peak_memory_bytes,
        observation.output,
        observation.report.lines if observation.report else None,
    )


def judge_unanswered(finished: Finished, why: str, is_ready: bool) -> Attempt:
    """Return the attempt of a run whose harness did not answer: a limit that was kept from outside, or its end.

    A harness that was ready, and then is gone, was ended by a case; before that no code of a case has run.
    """
    errors = finished.stderr.decode(errors="replace").strip()
    broken = next((name for name in _LIMITS if getattr(finished, name)), None)
    if is_ready:
        outcome, message = _LIMITS[broken] if broken else (Outcome.SANDBOX_VIOLATION, "ended the harness")
    else:
        outcome, message = Outcome.HARNESS_ERROR, f"no answer, status {finished.returncode}: {errors or why}"
    return Attempt(outcome, message, finished.duration_s, finished.peak_memory_bytes, errors)


def _judged(observation: Observation, of_report: Callable[[Outcome, str], Judged]) -> Judged:
    if observation.broken:
        return _LIMITS[observation.broken]
    if observation.report is not None:
        return of_report(observation.report.outcome, observation.report.message)
    if observation.forged:
        return Outcome.SANDBOX_VIOLATION, "wrote into a pipe of the harness"
    if "MemoryError" in observation.output or "bad_alloc" in observation.output:
        return Outcome.OUT_OF_MEMORY, observation.output
    if observation.status > 128:
        return Outcome.SANDBOX_VIOLATION, f"killed by {_signal(observation.status - 128)}"
    if observation.status == _OF_HARNESS and not observation.begun:
        return Outcome.HARNESS_ERROR, observation.output or "the harness failed"
    return Outcome.WRONG_EXCEPTION, f"the process ended with status {observation.status} before the end of the code"


def _signal(number: int) -> str:
    names = {member.value: member.name for member in signal.Signals}
    return names.get(number, f"signal {number}")
