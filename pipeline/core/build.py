"""Which build of Driftline this is: its release, and the commit of its sources.

The commit is asked for at run time: an editable install is not built again for each commit, so a version that a build
backend writes down (setuptools-scm, hatch-vcs) would be the one of the day of the installation.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

VERSION = "0.1.0"
"""The release; `pyproject.toml` reads it here."""
ARCHIVED_COMMIT = Path(__file__).with_name("commit.txt")
"""`git archive` writes the commit into this file (`export-subst` in `.gitattributes`)."""
SOURCES = ("pipeline", "schemas")
"""A change in these folders that is not committed makes a build dirty; a manifest has the hashes of rule files."""
_PROJECT = Path(__file__).resolve().parents[2]
_LETTERS = 12
_GIT_S = 60.0


@cache
def build_version() -> str:
    """Return the release and the commit, as a version with a local part (PEP 440): `0.1.0+g1f2e3d4c5b6a`.

    `.dirty` follows where the sources differ from the commit. Without a clone the commit is the one of the archive,
    else of the variable `DRIFTLINE_COMMIT`; without all of them the local part is `unknown`.
    """
    commit = _git("rev-parse", "HEAD")
    if commit:
        changed = _git("status", "--porcelain", "--", *SOURCES)
        return f"{VERSION}+g{commit[:_LETTERS]}{'' if changed == '' else '.dirty'}"
    for recorded in (ARCHIVED_COMMIT.read_text(encoding="utf-8").strip(), os.environ.get("DRIFTLINE_COMMIT", "")):
        if re.fullmatch("[0-9a-f]{7,64}", recorded):
            return f"{VERSION}+g{recorded[:_LETTERS]}"
    return f"{VERSION}+unknown"


def _git(*arguments: str) -> str | None:
    """Return what git prints about the project's own repository, None if there is none or git cannot read it."""
    if not (_PROJECT / ".git").exists():
        return None
    # The folder may belong to another user than the process, as in a container; a hook of git sets GIT_DIR.
    command = ["git", "--no-optional-locks", "-c", f"safe.directory={_PROJECT}", "-C", str(_PROJECT), *arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables = inherited | {"GIT_CEILING_DIRECTORIES": str(_PROJECT.parent)}
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=_GIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
