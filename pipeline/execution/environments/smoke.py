"""The proof that an environment works: its library is imported, in the sandbox."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.installed import owner_of
from pipeline.execution.environments.resolution.failures import FailureRules, StepFailed
from pipeline.execution.environments.resolution.resolver import portable_log
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits

_PROGRAM = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\nprint('done')"
_LINES = 6
_FRAME = re.compile(r'^ +File "([^"]+)", line \d+', re.M)
"""How a traceback names the file of a frame."""


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
