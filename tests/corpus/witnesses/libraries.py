"""A library as a module of each release, on which scripts run in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.witnesses.script_runs import ScriptRuns, marked
from pipeline.corpus.witnesses.scripts import Line
from pipeline.execution.validation.cases import Result


def run_in_folders(
    monkeypatch: pytest.MonkeyPatch, folder: Path, module: str, sources: Mapping[str, str], failure: Outcome
) -> None:
    """Let scripts run beside the source of their release; each that fails comes out as `failure`."""
    for version, source in sources.items():
        (folder / version).mkdir()
        (folder / version / f"{module}.py").write_text(source)

    def run(self: ScriptRuns, scripts: Mapping[str, Mapping[str, Sequence[Line]]], time_s: float | None = None) -> None:
        for version, by_text in scripts.items():
            for text, lines in by_text.items():
                command = [sys.executable, "-c", marked(lines)]
                done = subprocess.run(command, cwd=folder / version, capture_output=True, text=True, check=False)
                outcome = failure if done.returncode else Outcome.PASSED
                detail = done.stderr.splitlines()[-1] if done.stderr else None
                self.results[text, version] = Result("", outcome, detail, 0.1, None, output=done.stdout)

    monkeypatch.setattr(ScriptRuns, "run", run)
