"""The public API surface of one release, and how it is read from its sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.api.surface.extract.stubs import merge_stub
from pipeline.api.surface.parse.module_model import Definition, ModuleRecord
from pipeline.api.surface.parse.skeleton import skeleton
from pipeline.api.surface.parse.sources import SourceFile, module_name, sources_in_scope
from pipeline.api.surface.parse_cache import Records
from pipeline.api.surface.resolve.assemble import Assembler
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.surface import SourceKind
from pipeline.index.tree import SourceTree
from pipeline.lake.collector import without_collector
from pipeline.lake.rows import DocumentState, SymbolState
from pipeline.lake.stage import Reject

Inspect = Callable[[Mapping[str, str]], Mapping[str, ModuleRecord]]
"""Gives records of compiled modules, of which it is told name and path, as far as running them can show anything."""

_TEST = re.compile(r"test[_A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Surface:
    """What one release offers.

    `symbols` and `documents` are rows without library and versions, by path. `importable_names` are rows
    of paths that can be imported but are not public here: another release may have made them public, and then they
    have not gone. `modules` counts the files in scope, `problems` names those that do not parse, and `notes` the
    statements that were left out of others. `compiled` are the modules that neither a source nor a stub shows, and
    `observed` counts those that something shows.
    """

    symbols: Mapping[str, SymbolState]
    documents: Mapping[str, DocumentState]
    importable_names: Mapping[str, SymbolState]
    modules: int
    problems: tuple[Reject, ...]
    notes: tuple[Reject, ...] = ()
    compiled: tuple[str, ...] = ()
    observed: int = 0

    @property
    def unread(self) -> str | None:
        """What there is instead, where nothing of the release could be read; None where something was."""
        if self.observed and self.symbols:
            return None
        parts = [f"{len(self.problems)} files that cannot be parsed"] if self.problems else []
        parts += [self.unread_compiled] if self.compiled else []
        return f"it has only {' and '.join(parts)}" if parts else "it has no public module"

    @property
    def unread_compiled(self) -> str:
        """The compiled modules in words."""
        return f"{len(self.compiled)} compiled modules without a stub: {', '.join(self.compiled)}"


class SurfaceReader:
    """Reads the public APIs of releases from their sources, one after another, without running any of them.

    What two neighbouring releases have in common is parsed once and put together once; rows are shared between the
    surfaces and must not be changed.
    """

    def __init__(self, records: Records) -> None:
        self.records = records
        self.rules = records.rules.surface
        self._assembler = Assembler(self.rules)
        self._loaded: dict[str, ModuleRecord] = {}
        self._merges: dict[str, ModuleRecord] = {}

    def prepare(self, trees: Iterable[SourceTree], report: Callable[[int, int], None]) -> None:
        """Parse what was never parsed of many releases, on all cores; `report` gets (done, total) files."""
        self.records.prepare((file for tree in trees for file in sources_in_scope(tree, self.rules)), report)

    def forget(self) -> None:
        """Put the next release together anew: what is shared says where something stood when it was first read."""
        self._assembler = Assembler(self.rules)

    def read(self, tree: SourceTree, inspect: Inspect = lambda compiled: {}) -> Surface:
        """Read one release.

        A file that does not parse is a problem of the surface; its module is then there, but opaque, and so is a
        compiled module without a stub that `inspect` says nothing of.
        """
        files = list(sources_in_scope(tree, self.rules))
        with without_collector():
            files = self._load(files)
            modules = self._modules(files)
            count = len(modules)
            problems = [_problem(module, module.problem) for module in modules.values() if module.problem]
            notes = [Reject(m.file, RejectReason.TOO_DEEP, where) for m in modules.values() for where in m.left_out]
            compiled = self._compiled(tree, modules)
            modules |= {name: _opaque(name, path) for name, path in compiled.items()}
            for name, record in inspect(compiled).items() if compiled else ():
                record.skeleton = skeleton(record)
                modules[name] = record
            rows = self._assembler.rows(modules, tree.root)
        opaque = tuple(sorted(name for name in compiled if modules[name].problem))
        observed = len(modules) - len(problems) - len(opaque)
        tables = rows.symbols, rows.documents, rows.importable_names
        return Surface(*tables, count, tuple(problems), tuple(notes), opaque, observed)

    def _load(self, files: Sequence[SourceFile]) -> list[SourceFile]:
        """Have the records of these files at hand, and no others than those of the last release.

        Returned are the files as they are read: whole where another one gives something the value of a private method.
        """
        records = self._records_of(files)
        names = {name for record in records.values() for name in record.asks}
        if names:
            files = [replace(file, whole=not names.isdisjoint(records[file.key].unread)) for file in files]
            records |= self._records_of([file for file in files if file.whole])
        self._loaded = records
        return list(files)

    def _records_of(self, files: Sequence[SourceFile]) -> dict[str, ModuleRecord]:
        loaded = {file.key: self._loaded[file.key] for file in files if file.key in self._loaded}
        return loaded | self.records.load([file for file in files if file.key not in loaded])

    def _modules(self, files: Sequence[SourceFile]) -> dict[str, ModuleRecord]:
        """Return the record of each module; a stub is merged into the source beside it."""
        modules: dict[str, ModuleRecord] = {}
        sources: dict[str, SourceFile] = {}
        # of a source and a stub the source comes first: ".py" sorts before ".pyi"
        for file in files:
            source = sources.setdefault(file.module, file)
            record = self._loaded[file.key]
            if source is not file and record.source is SourceKind.PYI:
                record = self._merged(f"{source.key}+{file.key}", modules[file.module], record)
            modules[file.module] = record
        for record in list(modules.values()):
            for name, targets in record.virtual_modules.items():
                modules.setdefault(f"{record.name}.{name}", _runtime_module(record, name, targets))
        return {
            name: module
            for name, module in modules.items()
            if not (self.rules.may_be_tests(name) and _has_tests(module))
        }

    def _merged(self, key: str, source: ModuleRecord, stub: ModuleRecord) -> ModuleRecord:
        if key not in self._merges:
            merged = merge_stub(source, stub)
            merged.skeleton = skeleton(merged)
            self._merges[key] = merged
        return self._merges[key]

    def _compiled(self, tree: SourceTree, modules: Mapping[str, ModuleRecord]) -> dict[str, str]:
        """Return the paths of the compiled modules in scope of which there is no source and no stub, by name."""
        named = ((module_name(path), path) for path in tree.compiled)
        return {name: path for name, path in named if name not in modules and self.rules.in_scope(name)}


def _problem(module: ModuleRecord, why: str) -> Reject:
    return Reject(module.file, RejectReason.INTERNAL_ERROR if module.failed else RejectReason.UNPARSED_SOURCE, why)


def _has_tests(module: ModuleRecord) -> bool:
    """Return whether a class has a method, or at least half of the functions are such, that a test runner would run."""
    classes = [only for only in module.definitions.values() if only.kind == "class"]
    if any(_TEST.match(name) for class_ in classes for name, only in class_.members.items() if only.kind == "function"):
        return True
    functions = [name for name, only in module.definitions.items() if only.kind == "function"]
    tests = [name for name in functions if name == "test" or _TEST.match(name)]
    return bool(tests) and 2 * len(tests) >= len(functions)


def _runtime_module(owner: ModuleRecord, name: str, targets: Mapping[str, str]) -> ModuleRecord:
    """Return a submodule that its package makes as it runs, out of names of other modules."""
    bound = {
        each: Definition(each, "import", target=target, passed_on=True) for each, target in sorted(targets.items())
    }
    module = ModuleRecord(f"{owner.name}.{name}", owner.file, False, owner.source, definitions=bound)
    module.skeleton = skeleton(module)
    return module


def _opaque(name: str, path: str) -> ModuleRecord:
    return ModuleRecord(name, path, False, SourceKind.COMPILED, problem="a compiled module", skeleton=path)
