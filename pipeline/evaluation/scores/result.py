"""The score file: what was scored, how, where, and the verdict on every sample, so that two can be compared."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from pipeline.core.build import build_version
from pipeline.core.errors import CodedError
from pipeline.core.printable import printable
from pipeline.core.vocabularies.evaluation import Protocol, View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion, Metric
from pipeline.evaluation.scores.references import ReferenceRun
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.score import Scored
from pipeline.evaluation.views import TaskView
from pipeline.lake.runner import write_json
from pipeline.snapshots.format.reader import Snapshot

FILE = "result.json"
FORMAT = 1
"""Version of the layout; raised when readers of the old one would misread it."""


class ResultError(CodedError, ValueError):
    """A file is no score file; the message has the reason, and what to do."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was asked: its name, endpoint and parameters, and what came.

    `samples` are those asked for each task. `cost_usd` is null where the model has no price.
    """

    model: str
    protocol: Protocol
    endpoint: str
    parameters: Mapping[str, Any]
    setting: str
    tasks: int
    samples: int
    prompts_sha256: str
    answered: int
    refused: int
    cut_off: int
    empty: int
    missing: int
    input_tokens: int
    output_tokens: int
    cost_usd: str | None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that ran answers, and the limits of a run there; null where nothing was run.

    `references` took over half the time limit there, or failed.
    """

    system: str
    processors: int
    workers: int
    sandbox: str
    time_s: float
    memory_mib: int
    repeats: int
    test_time_s: float
    references: Sequence[ReferenceRun] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of each sample of a task by metric; `prompt_sha256` is null where only predictions are known.

    `cluster` says what the task is about, as other tasks may be too; older files do not have it.
    """

    id: str
    family: Family
    library: str
    metrics: Mapping[Metric, Sequence[float]]
    prompt_sha256: str | None = None
    cluster: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A score file. `driftline` is the harness, as in `driftline --version`; `cutoff` is the date of the view."""

    format: int
    driftline: str
    snapshot: str
    manifest_sha256: str
    view: View
    measured: Measured | None
    machine: Machine | None
    scores: Sequence[Mapping[str, Any]]
    excluded: Mapping[Exclusion, int]
    tasks: Sequence[Verdict]
    cutoff: date | None = None


def result_of(
    snapshot: Path,
    scored: Scored,
    view: TaskView,
    runners: Runners | None,
    measured: Measured | None = None,
    prompts: Mapping[tuple[Family, str], str] | None = None,
) -> Result:
    """Return the score file of a scoring; `prompts` are the hashes of prompts by task."""
    reader = Snapshot(snapshot)
    verdicts = [
        Verdict(
            id=of,
            family=Family(family),
            library=str(scored.tasks[of][family].row.get("library") or ""),
            metrics={metric: list(samples) for metric, samples in by_metric.items()},
            prompt_sha256=(prompts or {}).get((family, of)),
            cluster=scored.tasks[of][family].cluster,
        )
        for (family, of), by_metric in sorted(scored.verdicts.items())
    ]
    return Result(
        format=FORMAT,
        driftline=build_version(),
        snapshot=reader.name,
        manifest_sha256=reader.sha256,
        view=view.view,
        cutoff=view.cutoff,
        measured=measured,
        machine=_machine(runners, scored) if runners else None,
        scores=scored.rows,
        excluded=dict(sorted(scored.reasons.items())),
        tasks=verdicts,
    )


def _machine(runners: Runners, scored: Scored) -> Machine:
    rules = runners.engine.rules
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processors=os.cpu_count() or 1,
        workers=runners.engine.workers,
        sandbox=type(runners.engine.sandbox).__name__,
        time_s=rules.time_s,
        memory_mib=rules.memory_mib,
        repeats=rules.repeats,
        test_time_s=runners.project_context.rules.test_time_s,
        references=list(scored.references),
    )


def write_result(result: Result, folder: Path) -> None:
    """Write a score file into a folder. Errors: OSError."""
    write_json(folder / FILE, msgspec.to_builtins(result, str_keys=True))


def read_result(path: Path) -> Result:
    """Read a score file, or that of a folder.

    Errors: ResultError, OSError.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise ResultError(
            f"{file}: no such score file; `driftline evaluate` and `driftline score --out` write them",
            code="score_file_missing",
        )
    try:
        result = msgspec.json.decode(file.read_bytes(), type=Result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ResultError(
            f"{file}: no score file of this driftline: {printable(str(error))}", code="score_file_invalid"
        ) from None
    if result.format != FORMAT:
        raise ResultError(
            f"{file}: a score file of format {result.format}; this driftline reads {FORMAT}",
            code="score_file_of_other_format",
        )
    return result
