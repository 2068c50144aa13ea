"""Pinned environments on disk: built once per lock, shared by all who need it, rebuilt from the lock when gone."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from pipeline.environments.environment import Environment
from pipeline.environments.failures import StepFailed
from pipeline.environments.index_facts import IndexFacts, ReleaseFacts
from pipeline.environments.installed import installed_names, principal
from pipeline.environments.interpreters import Interpreter, discover
from pipeline.environments.ladder import Attempt, attempts, farthest
from pipeline.environments.probe import find_sandbox
from pipeline.environments.resolver import Resolver, telling
from pipeline.environments.rules import EnvironmentRules
from pipeline.environments.sandbox import Sandbox
from pipeline.environments.supervise import Limits
from pipeline.environments.wanted import Wanted
from pipeline.lake import Row, content_id
from pipeline.terms import EnvironmentOutcome

_ATTEMPT = ("python", "rung", "cutoff", "outcome", "detail", "missing")
_FINAL = frozenset({EnvironmentOutcome.BUILT, EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})


class EnvironmentStore:
    """The environments under one folder, `<root>/<lock_id>`, with uv's cache beside them so that files are linked."""

    def __init__(
        self,
        root: Path,
        *,
        index_url: str,
        rules: EnvironmentRules,
        workers: int = 1,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.root = root.resolve()
        self.rules = rules
        self.workers = workers
        self.interpreters = discover()
        self.sandbox = sandbox or find_sandbox()
        self.facts = IndexFacts(index_url)
        self.builder: None = None
        self._resolver = Resolver(index_url, self.root / "uv", rules.step_timeout_s)
        self.root.mkdir(parents=True, exist_ok=True)

    def build(self, wanted: Wanted) -> Row:
        """Build the environment that is wanted and return its `environments` row, built or why not.

        It tries the interpreters that fit, the best first, and on each the rungs of the ladder; the row tells of
        the attempt that worked, or of the one that came farthest, and lists them all.

        Errors: IndexUnreachable, because what the index would have said is not known then.
        """
        started = time.monotonic()
        row: Row = {"library": wanted.library, "version": wanted.version, "import_names": list(wanted.import_names)}
        row |= dict.fromkeys(("python", "python_full", "cutoff", "rung", "lock_id", "lock", "detail", "missing"))
        row |= self._climb(wanted)
        return row | {"build_s": round(time.monotonic() - started, 3)}

    def open(self, row: Row) -> Environment:
        """Return the environment of a built `environments` row, rebuilt exactly from its lock if it is gone.

        Errors: ValueError for a row that was not built, or whose interpreter is not on this machine; StepFailed
        and IndexUnreachable where it cannot be rebuilt.
        """
        if row["outcome"] != EnvironmentOutcome.BUILT:
            raise ValueError(f"{row['library']} {row['version']} has no environment: {row['outcome']}")
        interpreter = next((found for found in self.interpreters if found.python == row["python"]), None)
        if interpreter is None:
            raise ValueError(f"{row['library']} {row['version']} needs Python {row['python']}, which is not installed")
        return replace(self._ready(row["lock_id"], row["lock"], interpreter), import_names=tuple(row["import_names"]))

    def _climb(self, wanted: Wanted) -> Row:
        """Try until one attempt works; return what the one that came farthest adds to the row, and the list of all."""
        tried: list[Row] = []
        try:
            facts = self.facts.release(wanted)
            for attempt in attempts(wanted, facts, self.interpreters, self.rules):
                if attempt.builds and self.builder is None:
                    continue
                tried.append(self._try(wanted, facts, attempt))
                if tried[-1]["outcome"] in _FINAL:
                    break
        except StepFailed as error:
            return {"outcome": error.outcome, "detail": error.detail, "attempts": []}
        return farthest(tried) | {"attempts": [{name: row[name] for name in _ATTEMPT} for row in tried]}

    def _try(self, wanted: Wanted, facts: ReleaseFacts, attempt: Attempt) -> Row:
        """Resolve, install and import once; return what that adds to the row."""
        interpreter = attempt.interpreter
        made: Row = {"python": interpreter.python, "python_full": interpreter.full, "detail": None, "missing": None}
        made |= {"rung": attempt.rung, "cutoff": attempt.cutoff}
        try:
            gaps = self.rules.extra_pins(wanted.library, wanted.version, facts.release_time)
            requirements = [wanted.requirement, *wanted.pins, *wanted.tools, *gaps]
            lock = self._resolver.lock(requirements, interpreter, attempt.cutoff, self.rules.later(wanted.tools))
            made |= {"lock": lock, "lock_id": content_id(interpreter.python, lock)}
            environment = self._ready(made["lock_id"], lock, interpreter)
            names = principal(wanted.import_names or installed_names(environment, wanted.library), wanted.library)
            made |= {"import_names": list(names)}
            self._import(environment, names)
        except StepFailed as error:
            return made | {"outcome": error.outcome, "detail": error.detail, "missing": error.missing}
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return made | {"outcome": EnvironmentOutcome.NO_SPACE, "detail": os.strerror(errno.ENOSPC)}
        return made | {"outcome": EnvironmentOutcome.BUILT}

    def _ready(self, lock_id: str, lock: str, interpreter: Interpreter) -> Environment:
        """Return the environment of a lock, made first where it is not there; others who want it wait."""
        folder = self.root / lock_id
        if not folder.is_dir():
            with FileLock(self.root / f"{lock_id}.lock"):
                if not folder.is_dir():
                    self._make(folder, lock, interpreter)
        site_packages = folder / "lib" / f"python{interpreter.python}" / "site-packages"
        return Environment(
            lock_id, interpreter.python, folder / "bin" / "python", site_packages, (interpreter.prefix, folder)
        )

    def _make(self, folder: Path, lock: str, interpreter: Interpreter) -> None:
        """Make an environment under a temporary name and rename it when it is complete."""
        temporary = folder.with_name(f".{folder.name}.new")
        # Whoever holds the lock owns this name: what is there was left by a process that was killed.
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            self._resolver.make(temporary, lock, interpreter)
            self._compile(temporary, folder, interpreter)
            temporary.replace(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _compile(self, temporary: Path, folder: Path, interpreter: Interpreter) -> None:
        """Compile all bytecode once, by the bare interpreter: started as the environment's it would run `.pth` files.

        Files that do not compile (tests of syntax errors, templates) are left as they are.
        """
        packages = Path("lib", f"python{interpreter.python}", "site-packages")
        command = [str(interpreter.path), "-I", "-S", "-m", "compileall", "-q", "-d", str(folder / packages), "-j", "2"]
        try:
            done = subprocess.run(
                [*command, str(temporary / packages)],
                capture_output=True,
                text=True,
                timeout=self.rules.step_timeout_s,
                check=False,
                env={},
                umask=0o022,
            )
        except subprocess.TimeoutExpired:
            raise StepFailed(EnvironmentOutcome.TIMED_OUT, "compiling bytecode took too long") from None
        if "No space left on device" in done.stdout + done.stderr:
            raise StepFailed(EnvironmentOutcome.NO_SPACE, os.strerror(errno.ENOSPC))

    def _import(self, environment: Environment, names: Sequence[str]) -> None:
        """Import the library in the sandbox; StepFailed with IMPORT_FAILED if that does not work."""
        program = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\nprint('done')"
        argv = [str(environment.python), "-c", program, *names]
        limits = Limits(time_s=self.rules.import_timeout_s)
        done = self.sandbox.run(argv, environment=environment, files={}, stdin=b"", limits=limits)
        if done.timed_out:
            raise StepFailed(EnvironmentOutcome.TIMED_OUT, "importing the library took too long")
        if done.returncode != 0 or not done.stdout.endswith(b"done\n"):
            log = telling(done.stderr.decode(errors="replace"), (str(environment.site_packages), str(self.root)))
            detail = log or f"ended with status {done.returncode}"
            raise StepFailed(EnvironmentOutcome.IMPORT_FAILED, "\n".join(detail.splitlines()[-6:]))
