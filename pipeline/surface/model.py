"""The public API surface of one release, and how it is read from its sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from pipeline.crawl import SourceTree
from pipeline.lake import Reject, Row
from pipeline.surface.assemble import assemble
from pipeline.surface.records import ModuleRecord
from pipeline.surface.resolve import Distribution
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.visit import UnparsedError, visit_file
from pipeline.terms import RejectReason, SourceKind

SURFACE_VERSION = 10
"""Number of the way in which surfaces are read; a kept surface of another number is read again."""


@dataclass(frozen=True, slots=True)
class Surface:
    """What one release offers.

    `symbols` and `documents` are rows without library, first_version and last_version. `importable` are rows of
    paths that can be imported but are not public here: another release may have made them public, and then they
    have not gone. `modules` counts the files in scope, `problems` names those that do not parse.
    """

    symbols: tuple[Row, ...]
    documents: tuple[Row, ...]
    importable: tuple[Row, ...]
    modules: int
    problems: tuple[Reject, ...]

    def to_bytes(self) -> bytes:
        """Pack the surface (MessagePack), for keeping beside the artifact that it was read from."""
        problems = [(p.key, p.detail) for p in self.problems]
        parts = [self.symbols, self.documents, self.importable, self.modules, problems]
        return msgspec.msgpack.encode(parts)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Surface:
        """Unpack what `to_bytes` packed."""
        symbols, documents, importable, modules, problems = msgspec.msgpack.decode(packed)
        rejects = tuple(Reject(key, RejectReason.UNPARSED_SOURCE, detail) for key, detail in problems)
        return cls(tuple(symbols), tuple(documents), tuple(importable), modules, rejects)


def read_surface(tree: SourceTree, rules: SurfaceRules) -> Surface:
    """Read the public API of a release from its sources, without running any of them.

    A file that does not parse is a problem of the surface; its module is then there, but opaque.
    """
    modules: dict[str, ModuleRecord] = {}
    problems: list[Reject] = []
    for name, path in _files_in_scope(tree, rules):
        try:
            modules[name] = visit_file(name, path, tree.files[path], rules)
        except UnparsedError as error:
            problems.append(Reject(path, RejectReason.UNPARSED_SOURCE, str(error)))
            modules[name] = ModuleRecord(name, path, path.endswith("/__init__.py"), SourceKind.PY)
    unparsed = frozenset(problem.key for problem in problems)
    rows = assemble(Distribution(modules, rules, unparsed), tree.root)
    return Surface(tuple(rows.symbols), tuple(rows.documents), tuple(rows.importable), len(modules), tuple(problems))


def _files_in_scope(tree: SourceTree, rules: SurfaceRules) -> Iterator[tuple[str, str]]:
    """Yield (module, path) of what is in scope; a stub only where there is no source beside it."""
    for path in sorted(tree.files):
        stem, _, suffix = path.rpartition(".")
        if suffix == "pyi" and f"{stem}.py" in tree.files:
            continue
        name = stem.replace("/", ".").removesuffix(".__init__")
        if name.split(".")[0] in tree.import_names and _importable(name) and rules.in_scope(name):
            yield name, path


def _importable(name: str) -> bool:
    """Return whether a module can be imported by that name; `__main__` is a program, not a module."""
    return all(segment.isidentifier() for segment in name.split(".")) and not name.endswith("__main__")
