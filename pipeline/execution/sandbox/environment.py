"""An environment that is there to run something in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

BARE = "bare"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Environment:
    """Python and packages on disk: `python_version` is X.Y, `folders` is what a run must be able to read.

    `import_names` are the modules by which the library is imported, the one that bears its name alone if there is one.
    """

    lock_id: str
    python_version: str
    python: Path
    site_packages: Path
    folders: tuple[Path, ...]
    import_names: tuple[str, ...] = ()


def bare_environment() -> Environment:
    """Return the interpreter that runs us, without any package: enough to try out a sandbox."""
    prefix = Path(sys.base_prefix).resolve()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = prefix / "bin" / f"python{version}"
    return Environment(BARE, version, python, prefix / "lib" / f"python{version}" / "site-packages", (prefix,))
