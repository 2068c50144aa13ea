"""Failed answers, which a model is shown again together with the trace (self-debugging)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from pipeline.evaluation.prompts.rows import Attempt


class _Line(msgspec.Struct, frozen=True):
    id: str
    solution: str
    trace: str


def read_attempts(path: Path) -> dict[str, Attempt]:
    """Read failed answers, JSON lines with `id`, `solution` and `trace`; blank lines are passed over.

    Errors: ValueError that names file and line, for what is no such object and for an id that is there twice; OSError.
    """
    with path.open("rb") as file:
        return _read(path.name, file)


def _read(name: str, lines: Iterable[bytes]) -> dict[str, Attempt]:
    decoder = msgspec.json.Decoder(_Line)
    found: dict[str, Attempt] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{name}:{number}: no object with id, solution and trace: {error}") from None
        if read.id in found:
            raise ValueError(f"{name}:{number}: {read.id!r} is there twice; leave the one that is to be shown")
        found[read.id] = Attempt(read.solution, read.trace)
    return found
