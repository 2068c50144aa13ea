"""Compiled bytecode, kept for each distribution, so that an environment gets it by hard links and not by compiling.

The files (PEP 552, unchecked hash) are not compared with their sources as they are loaded: what a distribution holds
is known by the hashes of its RECORD, and an environment is never written to. Python 3.6 knows no such files; there
everything is compiled each time.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import StepFailed
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.lake.ids import content_id

_FULL = 28
_PROGRAM = """
import errno, py_compile, sys
modes = getattr(py_compile, "PycInvalidationMode", None)
more = {"invalidation_mode": modes.UNCHECKED_HASH} if modes else {}
for path in sys.stdin.buffer.read().decode().split("\\0"):
    try:
        py_compile.compile(path, doraise=True, **more)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sys.exit(28)
    except Exception:
        pass
"""
_SLICE = 40


@dataclass(frozen=True, slots=True)
class _Distribution:
    """The Python sources of an installed distribution, by path from site-packages; `key` names their content."""

    key: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Bytecode:
    """The bytecode kept below `root`, one folder for a Python X.Y and the sources of a distribution."""

    root: Path
    workers: int
    timeout_s: float

    def add(self, site_packages: Path, interpreter: Interpreter) -> None:
        """Give all distributions of a new environment their bytecode.

        Sources that do not compile (templates) stay without, and so do a distribution's own tests: nobody imports them,
        and they are a third of the sources of numpy or pandas. The bare interpreter compiles, since started as the
        environment's it would run `.pth` files.

        Errors: StepFailed with NO_SPACE or TIMED_OUT.
        """
        keeping = interpreter.python != "3.6"
        new = [
            distribution
            for distribution in _distributions(site_packages)
            if not (keeping and self._link(distribution, site_packages))
        ]
        self._compile(site_packages, [source for distribution in new for source in distribution.sources], interpreter)
        if keeping:
            for distribution in new:
                self._keep(distribution, site_packages, interpreter)

    def _folder(self, distribution: _Distribution) -> Path:
        return self.root / distribution.key[:2] / distribution.key

    def _link(self, distribution: _Distribution, site_packages: Path) -> bool:
        """Link what is kept of a distribution into an environment; False if nothing is kept."""
        folder = self._folder(distribution)
        if not folder.is_dir():
            return False
        os.utime(folder)
        _link_tree(str(folder), str(site_packages))
        return True

    def _keep(self, distribution: _Distribution, site_packages: Path, interpreter: Interpreter) -> None:
        """Link the bytecode of a distribution to where it is kept, whole or not at all."""
        target = self._folder(distribution)
        target.parent.mkdir(parents=True, exist_ok=True)
        tag = f"cpython-{interpreter.python.replace('.', '')}"
        with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as folder:
            new = Path(folder, "new")
            new.mkdir()
            for source in distribution.sources:
                path = PurePosixPath(source)
                compiled = path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc"
                with contextlib.suppress(FileNotFoundError):
                    (new / compiled).parent.mkdir(parents=True, exist_ok=True)
                    os.link(site_packages / compiled, new / compiled)
            # Where another process was faster, its folder holds the same.
            with contextlib.suppress(OSError):
                new.replace(target)

    def _compile(self, site_packages: Path, sources: Sequence[str], interpreter: Interpreter) -> None:
        parts = [sources[start : start + _SLICE] for start in range(0, len(sources), _SLICE)]
        shares = [[path for part in parts[worker :: self.workers] for path in part] for worker in range(self.workers)]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda share: self._compile_share(site_packages, share, interpreter), filter(None, shares)))

    def _compile_share(self, site_packages: Path, share: Sequence[str], interpreter: Interpreter) -> None:
        try:
            done = subprocess.run(
                [str(interpreter.path), "-I", "-S", "-c", _PROGRAM],
                input="\0".join(share).encode(),
                cwd=site_packages,
                capture_output=True,
                timeout=self.timeout_s,
                check=False,
                env={},
                umask=0o022,
            )
        except subprocess.TimeoutExpired:
            raise StepFailed(EnvironmentOutcome.TIMED_OUT, "compiling bytecode took too long") from None
        if done.returncode == _FULL:
            raise StepFailed(EnvironmentOutcome.NO_SPACE, os.strerror(errno.ENOSPC))


def _distributions(site_packages: Path) -> Iterator[_Distribution]:
    """Yield what is installed, as RECORD states it (PEP 376): each source with its hash."""
    python = site_packages.parent.name
    for record in sorted(site_packages.glob("*.dist-info/RECORD")):
        with record.open(newline="", encoding="utf-8", errors="backslashreplace") as file:
            lines = [line for line in csv.reader(file) if line and line[0].endswith(".py")]
        inside = sorted((line[0], line[1]) for line in lines if len(line) > 1 and ".." not in line[0].split("/"))
        sources = tuple(path for path, _ in inside if "tests" not in path.split("/"))
        if sources:
            yield _Distribution(content_id(python, inside), sources)


def _link_tree(source: str, target: str) -> None:
    """Link every file of a tree into another one, which may have some of them already; thousands, so without Path."""
    for entry in os.scandir(source):
        there = f"{target}/{entry.name}"
        try:
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(there)  # noqa: PTH102
            else:
                os.link(entry.path, there)
        except FileExistsError:
            pass
        if entry.is_dir(follow_symlinks=False):
            _link_tree(entry.path, there)
