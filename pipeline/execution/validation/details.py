"""What a program said, made fit for a table: no control characters, nothing that differs from machine to machine."""

from __future__ import annotations

import os
import re

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import SCRATCH

LENGTH = 500
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_OWN = re.compile(r"/tmp/(?!tmp)(?=\w+\.py\b)")  # noqa: S108 - looked for, not written to
_SCRATCH = re.compile(r"/tmp/[\w.\-/]+|/dev/shm/[\w.\-/]+")  # noqa: S108 - looked for, not written to


def clean(message: str, environment: Environment) -> str:
    """Return the tail of a message, at most 500 characters, without what only one run or one machine has."""
    return tail(message, environment, LENGTH)


def tail(output: str, environment: Environment, length: int) -> str:
    """Return the end of what a program printed, without what only one run or one machine has.

    Escape sequences and control characters go; paths of scratch, environment and interpreter and memory addresses
    are normalised; files that lie in scratch itself keep their names.
    """
    text = _CONTROL.sub("", _ANSI.sub("", output))
    for folder in (environment.site_packages, *sorted(environment.folders, key=lambda f: len(str(f)), reverse=True)):
        placeholder = "site-packages" if folder == environment.site_packages else "python"
        # pytest tells files elsewhere as seen from the scratch folder.
        for name in sorted((str(folder), os.path.relpath(folder, SCRATCH)), key=len, reverse=True):
            text = text.replace(name, placeholder)
    text = _ADDRESS.sub("0x…", _SCRATCH.sub("scratch", _OWN.sub("", text))).strip()
    return text if len(text) <= length else "…" + text[len(text) + 1 - length :]
