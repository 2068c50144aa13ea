"""TOML documents of others: parsed or refused, and read without trust in what stands where."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from pipeline.corpus.pins.statements import refused
from pipeline.corpus.pins.text import Lines
from pipeline.lake.stage import Reject

_AT_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file, and where things stand in it."""

    file: str
    top: dict[str, Any]
    lines: Lines


def parse(file: str, text: str) -> Document | Reject:
    """Parse a TOML file, or say at which line it is none."""
    try:
        return Document(file, tomllib.loads(text), Lines(text))
    except ValueError as error:
        line = _AT_LINE.search(str(error))
        return refused(file, int(line[1]) if line else 1, f"not TOML: {error}"[:400])


def table(value: Any, *path: str) -> dict[str, Any]:
    """Return the table at the end of a path; an empty one where there is none, or something else."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list as it is, and nothing for what is none."""
    return value if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """Return the strings of a list, or the one that stands in place of it."""
    return [item for item in (items(value) or [value]) if isinstance(item, str)]
