"""What is to be run to know whether predictions pass, and what came of it; a killed run goes on where it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.scores.tally import Answered
from pipeline.execution.validation.cases import Case

# What another try may bring: these are told, and not remembered.
UNJUDGED = frozenset({Outcome.HARNESS_ERROR, Outcome.NO_ENVIRONMENT})


@dataclass(frozen=True, slots=True)
class Run:
    """One run that a sample's Pass@k asks for; `key` is a hash of all that decides how it comes out.

    Of a `control` the sample leaves the answer out.
    """

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
    """Tests of a project with one of its files rewritten: `rewrite` makes its text of the one that is there."""

    project_id: str
    path: str
    rewrite: Callable[[str], str]
    tests: Sequence[str]


class RunFile:
    """The runs of one scoring: outcomes by key, kept as they come in a file of it, those of controls in one for all.

    Lines that a killed run left unfinished, or that are of no run, are passed over.
    """

    def __init__(self, own: Path | None, controls: Path | None) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.details: dict[str, str] = {}
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
        known, line = {outcome.value: outcome for outcome in Outcome}, b""
        for line in file:
            try:
                found = json.loads(line)
                self.outcomes[str(found["key"])] = known[found["outcome"]]
                self.details[str(found["key"])] = str(found.get("detail") or "")
            except (ValueError, KeyError, TypeError):
                continue
        if line and not line.endswith(b"\n"):
            file.write(b"\n")
        return file

    def keep(self, run: Run, outcome: Outcome, detail: str | None) -> None:
        """Remember how a run came out, and write it down unless another try may bring something else."""
        family, of = run.answered
        told = {"key": run.key, "id": of, "family": family, "metric": run.metric, "outcome": outcome}
        with self._writing:
            self.outcomes[run.key] = outcome
            self.details[run.key] = detail or ""
            file = self._files[run.control]
            if file and outcome not in UNJUDGED:
                file.write(json.dumps(told | {"detail": detail, "sample": run.sample}).encode() + b"\n")
                file.flush()
