"""The modules of a release put together: one row per public path, with the state of what it leads to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.parse.roots import Roots
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.resolve.dependency_keys import changed_facts, description_fact, exposed_fact, place_fact
from pipeline.api.surface.resolve.labels import OPAQUE
from pipeline.api.surface.resolve.public import PublicName, importable_names, public_names
from pipeline.api.surface.resolve.public_index import PublicIndex
from pipeline.api.surface.resolve.resolution_cache import ResolutionCache
from pipeline.api.surface.resolve.resolver import Distribution, deprecators
from pipeline.api.surface.resolve.rows import bare_row, preferred_paths
from pipeline.api.surface.resolve.symbol_rows import Part, RowCache, States
from pipeline.api.surface.resolve.trace import Memory
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import DocumentState, SymbolState

Named = tuple[PublicName, Hashable]
"""A public name, with all of it that its rows depend on beside facts."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a release offers by path: `symbols`, their `documents`, and `importable_names` that are not public."""

    symbols: dict[str, SymbolState]
    documents: dict[str, DocumentState]
    importable_names: dict[str, SymbolState]


class Assembler:
    """Makes the rows of releases one after another: what has the same sources as in the last one is not made again.

    Rows are shared between releases and must not be changed.
    """

    def __init__(self, rules: SurfaceRules) -> None:
        self.rules = rules
        self._forget()

    def _forget(self) -> None:
        self.cache = ResolutionCache()
        self.names = Memory[list[Named]]()
        self.parts = Memory[Part]()
        self.importable_names = Memory[dict[str, SymbolState]]()
        self.row_cache = RowCache()
        self._modules: Mapping[str, ModuleRecord] = {}
        self._places: dict[str, str] = {}

    def rows(self, modules: Mapping[str, ModuleRecord], root: str) -> Rows:
        """Make the rows of a release; `root` is what stands before each file inside the artifact."""
        if Roots.of(modules) != Roots.of(self._modules) or deprecators(modules) != deprecators(self._modules):
            # every absolute import asks whether it leads into the release, every decorator whether it deprecates
            self._forget()
        for memory in (self.cache, self.names, self.parts, self.importable_names):
            memory.turn()
        trace = self.cache.trace
        trace.changed = set(changed_facts(self._modules, modules))
        assembly = _Assembly(PublicIndex(Distribution(modules, self.rules, self.cache), root), self)
        names = assembly.names()
        places = {place_fact(canonical): path for canonical, path in assembly.index.preferred.items()}
        places |= {exposed_fact(path): module.name for path, module in assembly.index.modules.items()}
        places |= {place_fact(module): module for module in assembly.index.exposed}
        trace.changed |= {name for name, _ in places.items() ^ self._places.items()}
        self._modules, self._places = modules, places
        rows = assembly.rows(names)
        self.row_cache.keep_only(rows.symbols, rows.importable_names)
        return rows


class _Assembly:
    """Collects the rows of one release."""

    def __init__(self, index: PublicIndex, memory: Assembler) -> None:
        self.index = index
        self.distribution = index.distribution
        self.trace = index.trace
        self.memory = memory
        self.states = States(index, memory.row_cache)
        self.exposed: list[tuple[str, ModuleRecord]] = []

    def names(self) -> list[Named]:
        """Return all public names, and note the modules that are exposed: public ones, and private ones by alias."""
        modules = self.distribution.modules
        private = self.distribution.rules.documented_as_private
        by_name = (name for name in sorted(modules) if not any(part.startswith("_") for part in name.split(".")))
        self.exposed = [(name, modules[name]) for name in by_name if not private(name)]
        exposed = {name for name, _ in self.exposed}
        names: list[Named] = []
        for path, module in self.exposed:
            for named in self._names_of(path, module):
                resolution = named[0].resolution
                # a package that imports its private module is no other name for it
                if resolution.kind == "module" and resolution.path == named[0].path and private(resolution.path):
                    continue
                names.append(named)
                if resolution.kind == "module" and resolution.module and resolution.path not in exposed:
                    exposed.add(resolution.path)
                    self.exposed.append((named[0].path, modules[resolution.module.name]))
        self.index.modules = dict(self.exposed)
        self.index.exposed = frozenset(module.name for _, module in self.exposed)
        self.index.preferred = preferred_paths(public for public, _ in names)
        return names

    def _names_of(self, path: str, module: ModuleRecord) -> list[Named]:
        def make() -> list[Named]:
            return [(public, _key(public)) for public in public_names(module, path, self.distribution)]

        return self.memory.names.get((path, module.name), self.trace, make)

    def rows(self, names: list[Named]) -> Rows:
        """Return the rows of the names, and of the modules."""
        symbols: dict[str, SymbolState] = {}
        documents: dict[str, DocumentState] = {}
        for part in self._parts(names, symbols):
            symbols |= part[0]
            documents |= part[1]
        importable_names: dict[str, SymbolState] = {}
        for path, module in self.exposed:
            importable_names |= self._importable(path, module)
        for path in importable_names.keys() & symbols.keys():
            del importable_names[path]
        return Rows(symbols, documents, importable_names)

    def _parts(self, names: list[Named], symbols: Mapping[str, SymbolState]) -> Iterator[Part]:
        parts = self.memory.parts
        for public, key in names:
            yield parts.get(key, self.trace, partial(self.states.of_name, public))
        for path, module in self.exposed:
            # `from .run import run` in a package: the function hides the module of that name
            # but a name that its package's `__getattr__` answers too is the module itself
            if path not in symbols or symbols[path]["kind"] == SymbolKind.LAZY:
                yield self._module(path, module)

    def _module(self, path: str, module: ModuleRecord) -> Part:
        if path.rpartition(".")[0] not in self.index.modules:
            # it names all modules that do not parse
            return self.states.of_module(path, module, top=True)

        def make() -> Part:
            self.trace.ask(description_fact(module.name))
            return self.states.of_module(path, module, top=False)

        return self.memory.parts.get((path, module.name), self.trace, make)

    def _importable(self, path: str, module: ModuleRecord) -> dict[str, SymbolState]:
        def make() -> dict[str, SymbolState]:
            names = importable_names(module, path, self.distribution)
            return {public.path: self._pointer(public, module) for public in names}

        return self.memory.importable_names.get((path, module.name), self.trace, make)

    def _pointer(self, public: PublicName, module: ModuleRecord) -> SymbolState:
        """Return the row that stands for something that can be imported without being public there."""
        resolution = public.resolution
        kind = SymbolKind.ATTRIBUTE
        if resolution.kind == "outside":
            kind = SymbolKind.EXTERNAL
        elif resolution.kind == "module" or self.index.preferred_path(resolution.path) is not None:
            # what has no public path of its own cannot be pointed at
            kind = SymbolKind.ALIAS
        # what is below a module that has no public path has no rows
        hidden = kind is SymbolKind.ATTRIBUTE or (
            resolution.kind == "module" and not self.index.exposes(resolution.path)
        )
        about = resolution.path, kind, public.because, self.index.root + module.file, module.source
        cached = self.memory.row_cache.pointers.get(public.path)
        if cached is not None and cached[0] == about and bool(cached[1]["labels"]) is hidden:
            return cached[1]
        row = bare_row(public.path, *about)
        row["labels"] = [OPAQUE] if hidden else []
        self.memory.row_cache.pointers[public.path] = about, row
        return row


def _key(public: PublicName) -> Hashable:
    resolution = public.resolution
    mark = tuple((public.mark or {}).values())
    name = resolution.definition and resolution.definition.name
    return public.path, public.because, public.lazy, mark, resolution.kind, resolution.path, name
