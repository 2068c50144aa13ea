"""pyproject.toml: what the project asks for (PEP 621), its dependency groups (PEP 735), and what its tools say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.crawl.pins.requirement import requirement, specified
from pipeline.crawl.pins.stated import PYTHON, Stated, refused
from pipeline.crawl.pins.text import Lines
from pipeline.lake import Reject

_AT_LINE = re.compile(r"at line (\d+)")


def read(file: str, text: str, files: Mapping[str, bytes]) -> Iterator[Stated | Reject]:
    """Yield what a pyproject.toml states."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _AT_LINE.search(str(error))
        yield refused(file, int(line[1]) if line else 1, f"not TOML: {error}")
        return
    lines = Lines(text)
    yield from _project(file, document.get("project"), lines)


def _project(file: str, project: Any, lines: Lines) -> Iterator[Stated | Reject]:
    if not isinstance(project, dict):
        return
    start = lines.of("[project]")
    if isinstance(python := project.get("requires-python"), str):
        yield specified(PYTHON, python, file, lines.of("requires-python", start))
    yield from _listed(file, project.get("dependencies"), None, lines, start)
    extras = project.get("optional-dependencies")
    for group, asked in extras.items() if isinstance(extras, dict) else ():
        yield from _listed(file, asked, group, lines, start)


def _listed(file: str, asked: Any, group: str | None, lines: Lines, start: int) -> Iterator[Stated | Reject]:
    for text in asked if isinstance(asked, list) else ():
        if isinstance(text, str):
            yield requirement(text, file, lines.of(text, start), group)
