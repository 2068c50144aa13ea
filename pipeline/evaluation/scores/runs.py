"""Runs of predictions and the files that store their outcomes, so that a killed scoring resumes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, Self

from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.tally import Answered
from pipeline.execution.validation.cases import Case

CONTROLS = Path("scores", "controls.jsonl")
"""Below the cache: outcomes of empty answers, which are the same for every model."""

# Outcomes that another try may change: they are reported, not stored.
UNJUDGED = frozenset({Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT})


@dataclass(frozen=True, slots=True)
class Run:
    """A run for a sample's Pass@k; `key` hashes everything that decides its outcome. A `control` is an empty answer."""

    answered: Answered
    sample: str
    metric: Metric
    key: str
    control: bool


@dataclass(frozen=True, slots=True)
class CaseRun(Run):
    """A case in the environment of a lock."""

    lock_id: str
    case: Case


@dataclass(frozen=True, slots=True)
class ProjectRun(Run):
    """Tests of a project with one of its files rewritten: `rewrite` returns the new text of the file."""

    project_id: str
    path: str
    rewrite: Callable[[str], str]
    tests: Sequence[str]


class RunResult(NamedTuple):
    """The outcome of a run, and its reason."""

    outcome: Outcome
    detail: str


class RunFile:
    """Outcomes of runs by key, appended to the file of a scoring; controls have one file for all models.

    Unfinished lines of a killed run, and lines that are no run, are skipped.
    """

    def __init__(self, own: Path | None, controls: Path | None) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.details: dict[str, str] = {}
        self.times_s: dict[str, float] = {}
        self._writing = threading.Lock()
        self._files = {True: self._open(controls), False: self._open(own)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            if file:
                file.close()

    def _open(self, path: Path | None) -> IO[bytes] | None:
        if path is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
        file.seek(0)
        by_name, line = {outcome.value: outcome for outcome in Outcome}, b""
        for line in file:
            try:
                record = json.loads(line)
                self.outcomes[str(record["key"])] = by_name[record["outcome"]]
                self.details[str(record["key"])] = str(record.get("detail") or "")
                self.times_s[str(record["key"])] = float(record.get("duration_s") or 0.0)
            except (ValueError, KeyError, TypeError):
                continue
        if line and not line.endswith(b"\n"):
            file.write(b"\n")
        return file

    def keep(self, run: Run, outcome: Outcome, detail: str | None, duration_s: float = 0.0) -> None:
        """Store the outcome of a run and its time; the file gets it unless another try may change it."""
        family, of = run.answered
        record = {"key": run.key, "id": of, "family": family, "metric": run.metric, "outcome": outcome}
        with self._writing:
            self.outcomes[run.key] = outcome
            self.details[run.key] = detail or ""
            self.times_s[run.key] = duration_s
            file = self._files[run.control]
            if file and outcome not in UNJUDGED:
                file.write(
                    json.dumps(
                        record | {"detail": detail, "duration_s": round(duration_s, 3), "sample": run.sample}
                    ).encode()
                    + b"\n"
                )
                file.flush()
