"""The CPython interpreters of this machine, and which of them a release is run on."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import uv
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.rules import EnvironmentRules

_QUERY = (
    "import json, platform, sys;"
    "print(json.dumps([platform.python_implementation(), '.'.join(map(str, sys.version_info[:3])),"
    " sys.executable, sys.base_prefix, sys.prefix]))"
)
_NAME = re.compile(r"python3\.\d+")
_DOT_STAR = re.compile(r"((?:<=?|>=?|~=)\s*[\d.]*\d)\.\*")


@dataclass(frozen=True, slots=True, order=True)
class Interpreter:
    """A CPython on this machine: `full` is X.Y.Z, `prefix` the folder of its standard library."""

    full: str
    path: Path
    prefix: Path

    @property
    def python(self) -> str:
        """Its version as X.Y."""
        return ".".join(self.full.split(".")[:2])


@functools.cache
def discover() -> tuple[Interpreter, ...]:
    """Return the newest patch of every CPython X.Y that uv, pyenv and PATH offer, oldest first.

    Nothing is downloaded. Virtual environments and pyenv's shims lead to the interpreter behind them. The answer is
    kept for the life of the process.
    """
    newest: dict[str, Interpreter] = {}
    for path in dict.fromkeys(_candidates()):
        interpreter = _inspect(path)
        if interpreter and (interpreter.python not in newest or _rank(interpreter) > _rank(newest[interpreter.python])):
            newest[interpreter.python] = interpreter
    return tuple(sorted(newest.values(), key=_rank))


def install(python: str, timeout_s: float) -> None:
    """Have uv install the newest patch of Python X.Y where it keeps its own; `discover` then finds it.

    Errors: StepFailed with NO_INTERPRETER, where uv has none of that version for this machine or cannot fetch it.
    """
    command = [uv.find_uv_bin(), "python", "install", python, "--no-bin", "--no-config", "--color", "never"]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=True)
    except subprocess.TimeoutExpired:
        problem = f"not done after {timeout_s:g} s"
    except subprocess.CalledProcessError as error:
        problem = error.stderr.strip().splitlines()[-1] if error.stderr.strip() else f"status {error.returncode}"
    else:
        discover.cache_clear()
        return
    raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, f"uv cannot install Python {python}: {problem}")


def preference(
    interpreters: Sequence[Interpreter],
    requires_python: str | None,
    release_time: datetime,
    rules: EnvironmentRules,
    has_wheel: Callable[[str], bool] = lambda python: True,
) -> list[Interpreter]:
    """Return the interpreters that a release can be run on, the best first.

    A release says by Requires-Python (PEP 345) what it runs on; specifiers that PEP 440 no longer allows
    (`>=3.6.*`) are read as they were meant. Those for which it has a wheel come first; of these the newest that
    existed on its day, then older ones, then those that came after it, the oldest first.
    """
    allowed = _specifiers(requires_python)
    fit = [
        interpreter
        for interpreter in sorted(interpreters, key=_rank, reverse=True)
        if interpreter.python in rules.python_released
        and (allowed is None or allowed.contains(interpreter.full, prereleases=True))
    ]
    existing = [interpreter for interpreter in fit if rules.released(interpreter.python) <= release_time]
    order = existing + [interpreter for interpreter in reversed(fit) if interpreter not in existing]
    return sorted(order, key=lambda interpreter: not has_wheel(interpreter.python))


def _specifiers(requires_python: str | None) -> SpecifierSet | None:
    """Read Requires-Python; None where it is missing, or where nobody can say what it means."""
    try:
        return SpecifierSet(_DOT_STAR.sub(r"\1", requires_python)) if requires_python else None
    except InvalidSpecifier:
        return None


def _rank(interpreter: Interpreter) -> tuple[Version, str]:
    return Version(interpreter.full), str(interpreter.path)


def _candidates() -> Iterator[Path]:
    yield from _of_uv()
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for version in _listing(root / "versions"):
        yield (version / "bin" / "python3").resolve()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and Path(folder) != root / "shims":
            yield from (path.resolve() for path in _listing(Path(folder)) if _NAME.fullmatch(path.name))


def _listing(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted; nothing where it is not there, or is another user's."""
    return sorted(folder.iterdir()) if os.access(folder, os.R_OK | os.X_OK) and folder.is_dir() else []


def _of_uv() -> list[Path]:
    """Return the interpreters that uv has installed, none where uv does not answer.

    `uv python list` would ask every other one again, for a second.
    """
    command = [uv.find_uv_bin(), "python", "dir", "--no-config", "--offline"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [(folder / "bin" / "python3").resolve() for folder in _listing(Path(done.stdout.strip()))]


def _inspect(path: Path) -> Interpreter | None:
    """Ask a candidate what it is; None where it does not run, or is not a CPython outside a virtual environment."""
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _QUERY], capture_output=True, text=True, timeout=60, check=True, env={}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    implementation, full, executable, base_prefix, prefix = json.loads(done.stdout)
    if implementation != "CPython" or prefix != base_prefix:
        return None
    return Interpreter(full, Path(executable).resolve(), Path(base_prefix).resolve())
