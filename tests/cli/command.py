"""The command line as a user has it: arguments in, status and two texts out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pipeline.cli.main import main


@dataclass(frozen=True)
class Result:
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything that stood on the terminal."""
        return self.out + self.err

    @property
    def json(self) -> Any:
        """What a program reads."""
        return json.loads(self.out)


Driftline = Callable[..., Result]


def driftline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Driftline:
    """Return a function that runs `driftline`; whatever is no exit would be a traceback, and fails the test."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["driftline", *map(str, arguments)])
        capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        written = capsys.readouterr()
        assert "Traceback" not in written.out + written.err, written.out + written.err
        return Result(status, written.out, written.err)

    return run
