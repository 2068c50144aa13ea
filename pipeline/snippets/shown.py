"""Which APIs of a library a program shows."""

from __future__ import annotations

from pipeline.lake import Row
from pipeline.usage import Api, preamble_length, scan, source_of


def paths_shown(program: Row, api: Api) -> frozenset[str]:
    """Return the public paths that the code of a program uses; what its preamble uses is there for the code's sake."""
    start = preamble_length(program)
    return frozenset(use.path for use in scan(source_of(program), api).uses if use.name_start_byte >= start)
