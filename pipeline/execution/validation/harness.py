"""Talks with the harness in the sandbox: hands over its sources and the cases, and takes back what it signed."""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.validation.inside.program import RUNNERS

_OUTCOMES = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.NO_ENVIRONMENT}
_ALWAYS = (
    *("outcomes", "seeds", "execute", "program", "case", "drop_privileges", "kernel", "cleaner", "watch", "guard"),
    "deciding",
)
# Reads the sources of the harness, as modules to be loaded when they are first imported, and starts it.
_BOOT = """
import json, os, sys, types
def take(size):
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part: os._exit(98)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
class Sources:
    def __init__(self, sources): self.sources = sources
    def find_spec(self, name, path=None, target=None):
        source = self.sources.get(name.rpartition(".")[2]) if name.startswith("driftline_inside.") else None
        if source is not None:
            return type(sys.__spec__)(name, self, origin="<harness>")
    def create_module(self, spec): return None
    def exec_module(self, module):
        name = module.__name__.rpartition(".")[2]
        exec(compile(self.sources[name], "<harness %s>" % name, "exec", 0, True), module.__dict__)
sys.meta_path.insert(0, Sources(json.loads(take(int.from_bytes(take(4), "big")).decode())))
package = types.ModuleType("driftline_inside")
package.__path__ = []
sys.modules["driftline_inside"] = package
from driftline_inside.guard import main
main()
os._exit(0)
"""


class NoAnswer(CodedError, RuntimeError):
    """The harness ended, or said what it would not say; the message is what it printed."""

    code = "harness_no_answer"


@dataclass(frozen=True, slots=True)
class Ready:
    """The harness has started.

    `problem` is what an import beforehand raised, `printed` whether one printed, `threads` how many there are then.
    """

    problem: str | None
    printed: bool
    threads: int


@dataclass(frozen=True, slots=True)
class Report:
    """What the case's process says of itself; `lines`: those of the code that begin statements, and those executed."""

    outcome: Outcome
    message: str
    lines: tuple[frozenset[int], frozenset[int]] | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the harness saw of one case.

    `broken` is the limit that ended it, `status` how its process ended (128 + N after signal N), `report` what the
    case's process said of itself, if it ended normally right after that. `begun`: code of the case may have run;
    `clean`: the next case may run there; `forged`: the case wrote where the harness reports.
    """

    status: int
    broken: str | None
    report: Report | None
    output: str
    duration_s: float
    peak_memory_bytes: int
    begun: bool
    clean: bool
    forged: bool


def command(python: Path) -> list[str]:
    """Return the command that starts the harness; everything else comes through its standard input."""
    return [str(python), "-c", _BOOT]


def opening(
    specifications: Iterable[Mapping[str, Any]], load: Sequence[str], last: bool, own: Mapping[str, str] | None = None
) -> bytes:
    """Return what is sent first: sources that these cases need, what to `inside.guard.load`, and if one case is all.

    `own` are sources of modules that stand beside those of the harness, or in their place: `case` says what is run.
    """
    names = {*_ALWAYS, *(name for specification in specifications for name in _needed(specification))}
    sources = {name: _source(name) for name in sorted(names)} | dict(own or {})
    return _frame(json.dumps(sources).encode()) + _frame(json.dumps({"load": list(load), "last": last}).encode())


def module(name: str) -> str:
    """Return under what name a module of the harness can be imported in the sandbox."""
    return f"driftline_inside.{name}"


def new_nonce() -> bytes:
    """Return what will sign one result."""
    return secrets.token_hex(16).encode()


def asking(specification: Mapping[str, Any], limits: Mapping[str, Any], nonce: bytes) -> bytes:
    """Return what is sent for one case; the nonce comes last, and is read when the case is over."""
    return _frame(json.dumps(limits).encode()) + _frame(json.dumps(specification).encode()) + _frame(nonce)


def read_ready(frame: bytes) -> Ready:
    """Read the first answer.

    Errors: NoAnswer.
    """
    answer = _loaded(frame)
    return Ready(answer["problem"], answer["printed"], answer["threads"])


def read_observation(frame: bytes, nonce: bytes) -> Observation:
    """Read the answer about one case.

    Errors: NoAnswer if it is not signed.
    """
    if not frame.startswith(nonce):
        raise NoAnswer("the answer is not signed")
    answer = _loaded(frame[len(nonce) :])
    report = None if answer["report"] is None else read_report(answer["report"])
    return Observation(
        status=answer["status"],
        broken=answer["broken"],
        report=report,
        output=answer["output"],
        duration_s=answer["duration_s"],
        peak_memory_bytes=answer["peak"],
        begun=answer["begun"],
        clean=answer["clean"],
        forged=answer["forged"] or (report is None and answer["report"] is not None),
    )


def read_report(text: str) -> Report | None:
    """Read what the case's process said of itself, see `inside.case.written_down`; None if it says anything else."""
    try:
        outcome, has, ran, message = text.split("\n", 3)
        if has == ran == "-":
            return Report(_OUTCOMES[outcome], message)
        statements, executed = (frozenset(map(int, numbers.split())) for numbers in (has, ran))
        return Report(_OUTCOMES[outcome], message, (statements, statements & executed))
    except (ValueError, KeyError):
        return None


def frames(output: bytes) -> list[bytes]:
    """Return the whole frames of an output."""
    whole = []
    while len(output) >= 4 + (size := int.from_bytes(output[:4], "big")) > 4:
        whole.append(output[4 : 4 + size])
        output = output[4 + size :]
    return whole


def _frame(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def _loaded(frame: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(frame)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise NoAnswer("the answer is not what the harness says")
    return answer


def _needed(specification: Mapping[str, Any]) -> Iterable[str]:
    has_tests, has_module = bool(specification["test"]), specification["test_file"] is not None
    may_call_runners = has_tests or any(name in specification["code"] for name in RUNNERS)
    needs = {
        "checks": specification["statements"],
        "observe": specification["tests"] is not None,
        "script_tests": has_tests,
        "runners": may_call_runners,
        "vacuous": may_call_runners or has_module,
        "pytest_run": may_call_runners or has_module,
        "lines": specification["cover"],
        "clock": specification["clock_shift_s"],
    }
    return (name for name, is_needed in needs.items() if is_needed)


@functools.cache
def _source(name: str) -> str:
    # Not by a path: a verifier of an exported task reads them out of its archive.
    folder = "pipeline.execution.sandbox" if name == "drop_privileges" else "pipeline.execution.validation.inside"
    return files(folder).joinpath(f"{name}.py").read_text(encoding="utf-8")
