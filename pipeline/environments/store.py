"""Pinned environments on disk: built once per lock, shared by all who need it, rebuilt from the lock when gone."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from filelock import FileLock

from pipeline.environments.environment import Environment
from pipeline.environments.interpreters import Interpreter, discover, preference
from pipeline.environments.probe import find_sandbox
from pipeline.environments.resolver import Resolver, StepFailed, telling
from pipeline.environments.rules import EnvironmentRules
from pipeline.environments.sandbox import Sandbox
from pipeline.environments.supervise import Limits
from pipeline.lake import Row, content_id
from pipeline.terms import EnvironmentOutcome, Rung

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
        self._resolver = Resolver(index_url, self.root / "uv", rules.step_timeout_s)
        self.root.mkdir(parents=True, exist_ok=True)

    def build(self, release: Row) -> Row:
        """Build the environment of a `releases` row and return its `environments` row, built or why not.

        It tries the interpreters that fit, the best first, and on each the rungs of the ladder; the row tells of
        the attempt that worked, or of the first one, which is the one that should have.

        Errors: IndexUnreachable, because what the index would have said is not known then.
        """
        started = time.monotonic()
        row = {"library": release["library"], "version": release["version"]}
        row |= dict.fromkeys(("python", "python_full", "cutoff", "rung", "lock_id", "lock", "detail"))
        row |= self._climb(release)
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
        return self._ready(row["lock_id"], row["lock"], interpreter)

    def _climb(self, release: Row) -> Row:
        """Return what the attempt that worked, or else the first one, adds to the row."""
        rows: list[Row] = []
        for interpreter, attempt in self._attempts(release):
            rows.append(attempt | self._try(release, interpreter, attempt["cutoff"]))
            if rows[-1]["outcome"] in _FINAL:
                return rows[-1]
        asked = f"asks for Python {release['requires_python'] or 'of any version'}, of which none is installed"
        return rows[0] if rows else {"outcome": EnvironmentOutcome.NO_INTERPRETER, "detail": asked}

    def _attempts(self, release: Row) -> Iterator[tuple[Interpreter, Row]]:
        fit = preference(self.interpreters, release["requires_python"], release["release_time"], self.rules)
        for interpreter in fit[: self.rules.interpreters_tried]:
            cutoff = self.rules.cutoff(release["release_time"], interpreter.python)
            head = {"python": interpreter.python, "python_full": interpreter.full}
            yield interpreter, head | {"rung": Rung.WHEELS, "cutoff": cutoff}
            later = cutoff + timedelta(days=self.rules.later_days)
            yield interpreter, head | {"rung": Rung.WHEELS_LATER, "cutoff": later}

    def _try(self, release: Row, interpreter: Interpreter, cutoff: datetime) -> Row:
        """Resolve, install and import once; return what that adds to the row."""
        made: Row = {}
        try:
            lock = self._resolver.lock(self._wanted(release), interpreter, cutoff)
            made = {"lock": lock, "lock_id": content_id(interpreter.python, lock)}
            environment = self._ready(made["lock_id"], lock, interpreter)
            self._import(environment, release["import_names"])
        except StepFailed as error:
            return made | {"outcome": error.outcome, "detail": error.detail}
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return made | {"outcome": EnvironmentOutcome.NO_SPACE, "detail": os.strerror(errno.ENOSPC)}
        return made | {"outcome": EnvironmentOutcome.BUILT, "detail": None}

    def _wanted(self, release: Row) -> list[str]:
        return [f"{release['library']}=={release['version']}", *self.rules.extra_pins(release)]

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
