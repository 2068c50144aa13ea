"""Environments on disk, one folder for each lock: made from the lock where it is not there, never written to after."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path

from pipeline.execution.environments.bytecode import Bytecode
from pipeline.execution.environments.file_locks import BUILDING, IN_USE, alone, hold
from pipeline.execution.environments.resolution.interpreters import Interpreter
from pipeline.execution.environments.resolution.pinned import lock_id_of
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.execution.sandbox.environment import Environment

_LOCK = "lock.txt"

Installable = Callable[[str, Interpreter], str]
"""Turns a lock into what can be installed: sources that are to be built become the wheels that were built of them."""


class EnvironmentCache:
    """The environments below `root`, `<root>/<lock_id>`, with the caches beside them that their files are links to."""

    def __init__(self, root: Path, resolver: Resolver, installable: Installable, workers: int) -> None:
        self.root = root
        self._resolver = resolver
        self._installable = installable
        self._bytecode = Bytecode(root / "bytecode", workers, resolver.timeout_s)

    def take(self, lock: str, interpreter: Interpreter, names: tuple[str, ...]) -> tuple[Environment, bool]:
        """Return the environment of a lock and whether it had to be made; others who want it meanwhile wait.

        It is in use, and will not be taken away, for as long as anybody has the object that is returned.
        """
        lock_id = lock_id_of(interpreter.python, lock)
        folder = self.root / lock_id
        held = hold(folder.with_suffix(IN_USE))
        try:
            is_new = self._provide(folder, lock, interpreter)
        except BaseException:
            os.close(held)
            raise
        packages = folder / "lib" / f"python{interpreter.python}" / "site-packages"
        folders = (interpreter.prefix, folder)
        environment = Environment(lock_id, interpreter.python, folder / "bin" / "python", packages, folders, names)
        weakref.finalize(environment, os.close, held)
        return environment, is_new

    def _provide(self, folder: Path, lock: str, interpreter: Interpreter) -> bool:
        """Make an environment if it is not there, and say whether it was made."""
        if _is_complete(folder):
            return False
        with alone(folder.with_suffix(BUILDING)):
            if _is_complete(folder):
                return False
            self._make(folder, lock, interpreter)
            return True

    def _make(self, folder: Path, lock: str, interpreter: Interpreter) -> None:
        """Make an environment under a temporary name and rename it when it is complete."""
        temporary = folder.with_name(f".{folder.name}.new")
        # Who makes it owns these names: what is there was left by a process that was killed, or is
        # an environment whose interpreter has gone.
        for old in (temporary, folder):
            shutil.rmtree(old, ignore_errors=True)
        try:
            self._resolver.make(temporary, self._installable(lock, interpreter), interpreter)
            self._bytecode.add(temporary / "lib" / f"python{interpreter.python}" / "site-packages", interpreter)
            (temporary / _LOCK).write_text(lock)
            temporary.replace(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _is_complete(folder: Path) -> bool:
    """Whether an environment is complete, with an interpreter behind it."""
    return (folder / "bin" / "python").exists()
