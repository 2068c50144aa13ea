"""Which failures to build an environment stand, so that nobody tries again what cannot come out otherwise.

What an index had as of a day that is past does not change, but for a project that it did not have at all: a mirror may
be filled. What a system lacks stays so until something is installed there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.resolver import LACKED
from pipeline.execution.environments.resolution.rules import EnvironmentRules
from pipeline.lake.rows import EnvironmentRow

_STAYS = frozenset(
    {
        EnvironmentOutcome.NO_FILES,
        EnvironmentOutcome.UNRESOLVABLE,
        EnvironmentOutcome.BUILD_FAILED,
        EnvironmentOutcome.IMPORT_FAILED,
        EnvironmentOutcome.MISSING_SYSTEM_LIBRARY,
    }
)
"""How an attempt can end for good; a download that failed, a full disk or a time limit may be better another day."""

_PASSING = re.compile(
    r"ended with status|SIGKILL|[Kk]illed|[Oo]ut of memory|MemoryError|bad_alloc|[Cc]annot allocate memory"
    r"|can't start new thread|[Rr]esource temporarily unavailable"
    r"|[:…] status \d{3}|HTTP status|Failed to fetch|[Hh]ash mismatch|the index says"
)
"""What is said, or a program's end without a word, where the machine may have been short of something just then, or a
file could not be had."""

_MIRRORED_AFTER = timedelta(days=1)
"""After so long a mirror has what was uploaded to the index."""

_INSTALLED = (
    *("/etc/ld.so.cache", "/var/lib/dpkg/status", "/lib/apk/db/installed"),
    *("/var/lib/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/rpmdb.sqlite"),
)
"""What changes with each package that is installed on a system: the linker's cache, databases of packages."""


def is_settled(row: EnvironmentRow, rules: EnvironmentRules, now: datetime) -> bool:
    """Whether a row of `environments` that is not built would come out alike on any later day, `now` being a UTC time.

    Nothing is settled of which no attempt was made: what has no such release, or no interpreter, may get it.
    """
    attempts = row["attempts"]
    days = (rules.tools_as_of, *rules.taken_later.values())
    return (
        bool(attempts)
        and not may_pass(row)
        and all(attempt["cutoff"] + _MIRRORED_AFTER <= now for attempt in attempts)
        and all(day < now.date() for day in days)
    )


def may_pass(row: EnvironmentRow) -> bool:
    """Whether a row of `environments` that is not built has an attempt that failed for what may be gone at once."""
    return any(
        attempt["outcome"] not in _STAYS or _PASSING.search(attempt["detail"] or "") for attempt in row["attempts"]
    )


def lacked(row: EnvironmentRow) -> Iterator[str]:
    """Yield the projects for whose lack on the index an environment could not be built, each once."""
    if row["outcome"] == EnvironmentOutcome.BUILT:
        return
    details = (attempt["detail"] or "" for attempt in row["attempts"])
    yield from dict.fromkeys(name for detail in details for name in LACKED.findall(detail))


def system() -> list[tuple[str, int, int]]:
    """Return what tells whether anything was installed on this system: databases of that with their time and size."""
    there = [path for path in map(Path, _INSTALLED) if path.is_file()]
    return [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in there]
