"""Which APIs of a library a program shows."""

from __future__ import annotations

from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.text import Program, preamble_length, source_of
from pipeline.corpus.usages.uses import Use


def demonstrated_uses(program: Program, api: Api) -> list[Use]:
    """Return what the code of a program uses of a library; what its preamble uses is there for the code's sake."""
    start = preamble_length(program)
    return [use for use in scan(source_of(program), api).uses if use.name_start_byte >= start]


def demonstrated_paths(program: Program, api: Api) -> frozenset[str]:
    """Return the public paths that the code of a program uses."""
    return frozenset(use.path for use in demonstrated_uses(program, api))
