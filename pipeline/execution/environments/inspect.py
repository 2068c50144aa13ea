"""Ask an environment what it has at API paths and in modules: in one process, however some of them behave."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Finished, Limits
from pipeline.lake.ids import sha256_json

Description = dict[str, Any]
"""What the program in the sandbox found, as plain JSON; see `inspect_program.describe` and `describe_module`."""

_PACKAGE = "driftline_inside"
_INSIDE = Path(__file__).with_name("inside")
_SOURCES = {f"{_PACKAGE}/{path.name}": path.read_bytes() for path in sorted(_INSIDE.glob("*.py"))}
PROGRAM_SHA256 = sha256_json({name: source.decode() for name, source in _SOURCES.items()})
"""Hash of the sources of the probe, a part of the keys of caches."""
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an environment has under a name: a description where the outcome is PASSED, else a message."""

    name: str
    outcome: Outcome
    message: str = ""
    description: Description | None = None
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Report:
    """What the program said, as far as it came; it ended by itself only if the nonce signed it."""

    started: bool = False
    lines: Sequence[dict[str, Any]] = field(default_factory=list)
    signed: bool = False


def ask(
    environment: Environment, names: Iterable[str], kind: Literal["path", "module"], sandbox: Sandbox, limits: Limits
) -> dict[str, Answer]:
    """Return for every name what is there: PASSED, API_MISSING, IMPORT_ERROR, or HARNESS_ERROR.

    A name that ends the process or the time costs itself only, since the rest is asked for in a new process. A wrapper
    that does so when it is tried costs only what its API accepts: the rest of the description remains.
    """
    answers: dict[str, Answer] = {}
    remaining = list(enumerate(dict.fromkeys(names)))
    while remaining:
        questions = [[index, kind, name] for index, name in remaining]
        finished, report = _run(environment, questions, sandbox, limits)
        each_s = finished.duration_s / len(remaining)
        named = dict(remaining)
        for line in report.lines:
            if "outcome" in line:
                name = named[line["index"]]
                answers[name] = Answer(name, _OUTCOMES[line["outcome"]], line["message"], line["observation"], each_s)
            elif "added" in line and (answer := answers.get(named[line["index"]])) is not None:
                answers[answer.name] = replace(answer, description={**(answer.description or {}), **line["added"]})
        if not report.signed:
            culprit = named[max((line["trying"] for line in report.lines if "trying" in line), default=remaining[0][0])]
            answer = answers.setdefault(culprit, _culprit(culprit, finished, report))
            if answer.description:
                answers[culprit] = replace(answer, description=answer.description | {"unfollowed": "ended"})
        remaining = [(index, name) for index, name in remaining if name not in answers]
    return answers


def _run(
    environment: Environment, questions: Sequence[Sequence[Any]], sandbox: Sandbox, limits: Limits
) -> tuple[Finished, _Report]:
    nonce = secrets.token_hex(16).encode()
    finished = sandbox.run(
        [str(environment.python), "-m", f"{_PACKAGE}.inspect_program"],
        environment=environment,
        files=_SOURCES | {".wanted.json": json.dumps(questions).encode()},
        stdin=nonce,
        limits=limits,
        variables={"PYTHONHASHSEED": "0"},
    )
    lines = finished.stdout.split(b"\n")
    indices = [index for index, *_ in questions]
    records = [record for line in lines[1:] if (record := _record(line, indices)) is not None]
    return finished, _Report(lines[0] == b'"started"', records, nonce in lines)


def _record(line: bytes, indices: Sequence[int]) -> dict[str, Any] | None:
    """Read a line of the program; None for one that code of the library wrote, or a process that it forked."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match record:
        case {"trying": index} | {"index": index, "added": dict()}:
            return record if index in indices else None
        case {"index": index, "outcome": str(outcome), "message": str(), "observation": dict() | None}:
            return record if index in indices and outcome in _OUTCOMES else None
    return None


def _culprit(name: str, finished: Finished, report: _Report) -> Answer:
    """Return the answer for the name that the process was at when it ended."""
    if report.started:
        message = "the process ended or stood still while importing it"
        return Answer(name, Outcome.IMPORT_ERROR, message, duration_s=finished.duration_s)
    message = finished.stderr.decode(errors="replace")
    return Answer(name, Outcome.HARNESS_ERROR, message, duration_s=finished.duration_s)
