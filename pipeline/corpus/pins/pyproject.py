"""pyproject.toml: what the project asks for (PEP 621), its dependency groups (PEP 735), and what its tools say.

Build requirements are left out: they say what builds the project, not what its code uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Any

from pipeline.corpus.pins import poetry
from pipeline.corpus.pins.requirement import requirement, specified
from pipeline.corpus.pins.requirements_txt import read_line
from pipeline.corpus.pins.statements import PYTHON, FileEntry, Include
from pipeline.corpus.pins.toml import Document, parse, table, texts
from pipeline.lake.stage import Reject


def read(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a pyproject.toml states."""
    document = parse(file, text)
    if isinstance(document, Reject):
        yield document
        return
    yield from _python(document, "project", "requires-python")
    yield from _python(document, "tool", "flit", "metadata", "requires-python")
    for group, path in _lists(document.top):
        yield from _listed(document, group, *path)
    yield from poetry.read(document)
    yield from _files(document)


def _python(document: Document, *path: str) -> Iterator[FileEntry]:
    specifier = table(document.top, *path[:-1]).get(path[-1])
    if isinstance(specifier, str):
        line = document.lines.key(path[-1], document.lines.table(*path[:-1]))
        yield specified(PYTHON, specifier, document.file, line)


def _lists(top: dict[str, Any]) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """Yield the groups of a document, with the path to the requirements of each."""
    flit, pdm, hatch, uv = (("tool", tool) for tool in ("flit", "pdm", "hatch", "uv"))
    yield None, ("project", "dependencies")
    yield None, (*flit, "metadata", "requires")
    yield None, (*uv, "constraint-dependencies")
    yield "dev", (*uv, "dev-dependencies")
    yield "override", (*uv, "override-dependencies")
    for path in (
        ("project", "optional-dependencies"),
        ("dependency-groups",),
        (*flit, "metadata", "requires-extra"),
        (*pdm, "dev-dependencies"),
    ):
        for group in table(top, *path):
            yield group, (*path, group)
    for environment in table(top, *hatch, "envs"):
        for key in ("dependencies", "extra-dependencies"):
            yield environment, (*hatch, "envs", environment, key)


def _listed(document: Document, group: str | None, *path: str) -> Iterator[FileEntry]:
    """Yield the requirements of a list; what stands in it besides, such as PEP 735's include-group, asks for none."""
    start = document.lines.table(*path[:-1])
    for text in texts(table(document.top, *path[:-1]).get(path[-1])):
        line = document.lines.literal(text, start)
        if path[:2] in (("tool", "pdm"), ("tool", "hatch")):
            yield from read_line(document.file, line, text, group)
        else:
            yield requirement(text, document.file, line, group)


def _files(document: Document) -> Iterator[Include]:
    """Yield the files that setuptools or a plugin of hatchling reads the requirements from."""
    setuptools = ("tool", "setuptools", "dynamic")
    plugin = ("tool", "hatch", "metadata", "hooks", "requirements_txt")
    yield from _included(document, None, "file", *setuptools, "dependencies")
    for group in table(document.top, *setuptools, "optional-dependencies"):
        yield from _included(document, group, "file", *setuptools, "optional-dependencies", group)
    yield from _included(document, None, "files", *plugin)
    yield from _included(document, None, "filename", *plugin)
    for group in table(document.top, *plugin, "optional-dependencies"):
        yield from _included(document, group, group, *plugin, "optional-dependencies")


def _included(document: Document, group: str | None, key: str, *path: str) -> Iterator[Include]:
    for name in texts(table(document.top, *path).get(key)):
        line = document.lines.literal(name, document.lines.table(*path[:-1]))
        yield Include(normpath(join(dirname(document.file), name)), document.file, line, group)
