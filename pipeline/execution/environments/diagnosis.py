"""What of environments and sandbox works on this machine, for `driftline doctor`."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import uv
from more_itertools import first

from pipeline.core.rules.load import RuleError
from pipeline.core.settings import settings
from pipeline.execution.environments.missing import missing_rules
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.sandbox.probe import ADVICE, trials

_ENOUGH_BYTES = 5 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: whether it works, what was seen, and what to do where it does not."""

    name: str
    works: bool
    observed: str
    advice: str = ""


def diagnose() -> list[Finding]:
    """Return what works here: interpreters, uv, sandbox, libraries of the system and free disk."""
    return [_interpreters(), _uv(), _sandbox(), _system(), _disk(settings().cache)]


def _interpreters() -> Finding:
    try:
        supported = environment_rules().python_released
    except RuleError as error:
        return Finding("interpreters", False, str(error), "correct the file and line named")
    installed = [interpreter for interpreter in discover() if interpreter.python in supported]
    versions = ", ".join(interpreter.full for interpreter in installed) or "none"
    missing = sorted(
        set(supported) - {interpreter.python for interpreter in installed}, key=lambda python: int(python[2:])
    )
    advice = f"not installed: {', '.join(missing)}; releases of their time run on a neighbour" if missing else ""
    return Finding("interpreters", bool(installed), versions, advice)


def _uv() -> Finding:
    try:
        done = subprocess.run([uv.find_uv_bin(), "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("uv", False, str(error), "install the locked requirements again")
    return Finding("uv", True, done.stdout.strip())


def _sandbox() -> Finding:
    """Look at every kind of sandbox: the one that is taken, and what is against the others."""
    tried = list(trials())
    chosen = next((trial.kind for trial in tried if trial.sandbox and not trial.problem), None)
    others = "; ".join(str(trial) for trial in tried if trial.kind != chosen)
    if chosen is None and settings().allow_unsafe:
        return Finding(
            "sandbox", False, "none", f"crawled code runs unprotected, as DRIFTLINE_ALLOW_UNSAFE asks; {others}"
        )
    if chosen is None:
        return Finding("sandbox", False, "none", f"{others}. {ADVICE}")
    return Finding("sandbox", True, chosen, f"others: {others}")


def _system() -> Finding:
    """Look for the libraries and programs that samples of others use most."""
    try:
        rules = missing_rules()
    except RuleError as error:
        return Finding("system libraries", False, str(error), "correct the file and line named")
    missing = rules.missing()
    packages = sorted({rules.debian[name] for name in missing if name in rules.debian})
    advice = f"samples that need them fail: apt-get install {' '.join(packages)}" if packages else ""
    return Finding("system libraries", True, f"lacking: {', '.join(missing)}" if missing else "all usual ones", advice)


def _disk(folder: Path) -> Finding:
    """Look at the disk that the cache is on, or will be."""
    there = first(parent for parent in (folder, *folder.parents) if parent.is_dir())
    free = shutil.disk_usage(there).free
    advice = "" if free >= _ENOUGH_BYTES else "free some space, or move the data with DRIFTLINE_DATA"
    return Finding("disk", free >= _ENOUGH_BYTES, f"{free / (1 << 30):.1f} GiB free for the cache", advice)
