"""Safe reading of untrusted files: limits on memory, and checks of names that may become paths."""

from __future__ import annotations

import re
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.names import LONGEST_NAME, UnsafeName, inner_path

_SHARE = 0.8
"""Share of the free memory that reading one file may take."""

_lock = threading.RLock()


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Limit this process to most of the free memory during the block (setrlimit(2)); threads take turns.

    Without figures of the kernel there is no limit. Errors: MemoryError, or Arrow's, when the limit is reached.
    """
    used, free = _kib("/proc/self/status", "VmData:"), _kib("/proc/meminfo", "MemAvailable:")
    if used is None or free is None:
        yield
        return
    with _lock:
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = (used + int(free * _SHARE)) << 10
        if soft != resource.RLIM_INFINITY:
            bound = min(bound, soft)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _kib(path: str, name: str) -> int | None:
    """Return a number of KiB from one of the kernel's files (proc(5)), None where it is missing."""
    try:
        with Path(path).open() as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)
    except OSError:
        return None


_NAMES = re.compile(
    r"(?:.*_)?(?:id|sha256|snapshot)|lock_ids|library|project|(?:target_|previous_)?version|python|module|artifact|sdist"
)
_PATHS = frozenset({"project_files", "repository_tasks", "scenes", "traced_functions"})
"""Tables whose `path` is a file of a project; elsewhere it is a dotted name."""

_NO_NAME = r"^[.]|[/\\\x00-\x1f\x7f]"


def unsafe_values(data: pa.Table, table: str) -> Iterator[str]:
    """Yield a line for each column with an unsafe file name, or a path that leads out of its project."""
    for field in data.schema:
        texts = _texts(data[field.name])
        if texts is None or not holds_names(field.name, table):
            continue
        if field.name == "path":
            wrong = next(filter(_leads_out, pc.unique(texts).to_pylist()), None)
        else:
            leading_out = texts.filter(pc.match_substring_regex(texts, _NO_NAME))
            too_long = texts.filter(pc.greater(pc.binary_length(texts), pa.scalar(LONGEST_NAME)))
            wrong = next(iter([*leading_out.slice(0, 1).to_pylist(), *too_long.slice(0, 1).to_pylist()]), None)
        if wrong is not None:
            yield f"{field.name} has the value {wrong[:LONGEST_NAME]!r}, which is no valid file name"


def holds_names(column: str, table: str) -> bool:
    """Say whether a column of a table holds names of files, or paths within a project."""
    if column == "path":
        return table.removeprefix("published_") in _PATHS
    return _NAMES.fullmatch(column) is not None


def _texts(column: pa.ChunkedArray[Any]) -> Any:
    """Return the texts in a column or in its lists; None for other types."""
    flat: Any = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    return flat if pa.types.is_string(flat.type) else None


def _leads_out(path: str | None) -> bool:
    try:
        return path is not None and not inner_path(path, "a project")
    except UnsafeName:
        return True
