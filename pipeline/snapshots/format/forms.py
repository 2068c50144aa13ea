"""What the names in a snapshot must look like: ids, libraries and paths of a stranger may end in a path of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.lake.names import LONGEST_NAME, UnsafeName, inner_path

_NAMES = re.compile(
    r"(?:.*_)?(?:id|sha256|snapshot)|lock_ids|library|project|(?:target_|previous_)?version|python|module|artifact|sdist"
)
_PATHS = frozenset({"project_files", "repository_tasks", "scenes", "traced_functions"})
"""Tables whose `path` is that of a file of a project; elsewhere it is a dotted name."""

_NO_NAME = r"^[.]|[/\\\x00-\x1f\x7f]"


def unsafe_values(data: pa.Table, table: str) -> Iterator[str]:
    """Yield a line for each column that should hold names of files, or paths within a project, and does not."""
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
            yield f"{field.name} has the value {wrong[:LONGEST_NAME]!r}, which no file could be named by"


def holds_names(column: str, table: str) -> bool:
    """Say whether a column of a table holds names of files, or paths within a project."""
    if column == "path":
        return table.removeprefix("published_") in _PATHS
    return _NAMES.fullmatch(column) is not None


def _texts(column: pa.ChunkedArray[Any]) -> Any:
    """Return the texts in a column, those in lists too; None where it has none."""
    flat: Any = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    return flat if pa.types.is_string(flat.type) else None


def _leads_out(path: str | None) -> bool:
    try:
        return path is not None and not inner_path(path, "a project")
    except UnsafeName:
        return True
