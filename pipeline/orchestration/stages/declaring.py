"""How a stage is declared by the tables that it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import stage_version
from pipeline.lake.reads import LakeTables, Read
from pipeline.lake.rows import Tables
from pipeline.lake.runner import Stage
from pipeline.lake.stage import Output, as_tables
from pipeline.lake.tables import Lake


def declared(
    name: str,
    *,
    reads: str,
    writes: str,
    depends: Callable[[], Any],
    run: Callable[[Tables], Output],
    partly: Sequence[Read] = (),
) -> Stage:
    """Make a stage of a function of the tables that it reads; another one is not among those that it is given.

    Of the tables `partly` it is given some columns or rows. Each table is read when the function first asks for it.
    """
    tables, parts = tuple(reads.split()), {read.table: read for read in partly}
    if undeclared := parts.keys() - set(tables):
        raise ValueError(f"stage {name} reads {sorted(undeclared)} partly, but does not declare to read them")

    def run_on_lake(lake: Lake, library: str, _: Any) -> Output:
        return run(as_tables(LakeTables(lake, library, tables, parts)))

    version, written = stage_version(name), tuple(writes.split())
    return Stage(name, version, tables, written, lambda: plain(depends()), run_on_lake, parts)
