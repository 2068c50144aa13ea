"""How a stage is declared by the tables that it reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import stage_version
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
) -> Stage:
    """Make a stage of a function of the tables that it reads; another one is not among those that it is given."""
    tables = tuple(reads.split())

    def run_on_lake(lake: Lake, library: str, _: Any) -> Output:
        return run(as_tables({table: lake.read(table, library) for table in tables}))

    return Stage(name, stage_version(name), tables, tuple(writes.split()), lambda: plain(depends()), run_on_lake)
