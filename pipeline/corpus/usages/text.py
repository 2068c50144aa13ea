"""The text of a snippet in which positions count."""

from __future__ import annotations

from pipeline.lake.schema import Row


def source_of(snippet: Row) -> str:
    """Return the program of a snippet: its preamble, which ends in a newline unless it is empty, then its code.

    Every byte position and line of a usage counts in this text, encoded as UTF-8.
    """
    preamble: str = snippet["preamble"]
    if preamble and not preamble.endswith("\n"):
        preamble += "\n"
    return preamble + str(snippet["code"])


def preamble_length(snippet: Row) -> int:
    """Return the position of the first byte of the code in `source_of`."""
    return len(source_of(snippet | {"code": ""}).encode("utf-8", "surrogatepass"))
