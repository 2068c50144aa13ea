"""The modules that a distribution brought into an environment, and the proof that they can be imported."""

from __future__ import annotations

import csv
import re
import signal
from collections.abc import Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import FailureRules, StepFailed
from pipeline.execution.environments.resolution.resolver import portable_log
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits

_BESIDE = frozenset({"test", "tests", "testing", "docs", "doc", "examples", "example", "benchmarks", "scripts"})
_PROGRAM = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\nprint('done')"
_LINES = 6
_FRAME = re.compile(r'^ +File "([^"]+)", line \d+', re.M)
"""How a traceback names the file of a frame."""


def installed_names(environment: Environment, library: str) -> tuple[str, ...]:
    """Return the top-level modules of an installed distribution, tests and private ones left out; () if it has none.

    They are read from RECORD (the database of installed projects, PEP 376), since not every build writes
    top_level.txt. Nothing is imported.
    """
    distribution = next(
        (d for d in _installed(environment.site_packages) if canonicalize_name(d.name) == library), None
    )
    names = _modules(distribution) if distribution else set()
    return tuple(sorted(name for name in names if name.isidentifier() and name[0] != "_" and name not in _BESIDE))


def principal(names: tuple[str, ...], library: str) -> tuple[str, ...]:
    """Return the module that bears the library's name, or all of them where none does."""
    same = tuple(name for name in names if canonicalize_name(name) == library)
    return same or names


def owner_of(path: Path, environment: Environment) -> str | None:
    """Return the distribution that a file in an environment belongs to, as name==version; None if none has it."""
    inside = path.relative_to(environment.site_packages).as_posix()
    for distribution in _installed(environment.site_packages):
        lines = csv.reader((distribution.read_text("RECORD") or "").splitlines())
        if any(line and line[0] == inside for line in lines):
            return f"{canonicalize_name(distribution.name)}=={distribution.version}"
    return None


def _installed(site_packages: Path) -> list[Distribution]:
    return list(distributions(path=[str(site_packages)]))


def _modules(distribution: Distribution) -> set[str]:
    """Return the first segments of what RECORD lists as packages and modules; `X.libs` holds libraries of a wheel."""
    lines = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    paths = [PurePosixPath(line[0]) for line in lines if line]
    inside = [path for path in paths if path.suffix in (".py", ".so", ".pyd")]
    return {path.parts[0].split(".")[0] for path in inside if len(path.parts) == 1 or "." not in path.parts[0]}


def import_modules(
    environment: Environment, names: Sequence[str], sandbox: Sandbox, failures: FailureRules, timeout_s: float
) -> None:
    """Import modules one after the other.

    Errors: StepFailed with IMPORT_FAILED, MISSING_SYSTEM_LIBRARY (which is in `missing`) or TIMED_OUT.
    """
    argv = [str(environment.python), "-c", _PROGRAM, *names]
    done = sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=Limits(time_s=timeout_s))
    if done.timed_out:
        raise StepFailed(EnvironmentOutcome.TIMED_OUT, f"importing {', '.join(names)} took more than {timeout_s:g} s")
    if done.returncode == 0 and done.stdout.endswith(b"done\n"):
        return
    log = done.stderr.decode(errors="replace")
    hidden = (str(environment.site_packages), str(environment.folders[-1].parent))
    lines = portable_log(log, hidden).splitlines()[-_LINES:]
    if not lines or done.returncode == 128 + signal.SIGKILL:
        # Whatever was said before, a warning perhaps, is not what ended it.
        lines.append(f"ended with status {done.returncode}")
    detail = "\n".join(lines)
    missing, culprit = failures.missing("import", log), _culprit(log, environment)
    if missing:
        raise StepFailed(EnvironmentOutcome.MISSING_SYSTEM_LIBRARY, detail, missing[1], culprit)
    raise StepFailed(EnvironmentOutcome.IMPORT_FAILED, detail, culprit=culprit)


def _culprit(log: str, environment: Environment) -> str | None:
    """Return the distribution in whose code an import ended: that of the innermost frame in site-packages."""
    inside = [path for path in map(Path, _FRAME.findall(log)) if path.is_relative_to(environment.site_packages)]
    return owner_of(inside[-1], environment) if inside else None
