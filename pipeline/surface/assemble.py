"""The modules of a release put together: one row per public path, with the state of what it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.lake import Row, sha256_text
from pipeline.surface.labels import OPAQUE, class_labels, module_labels
from pipeline.surface.public import PublicName, importable_names, public_modules, public_names
from pipeline.surface.records import ALTERNATIVE, Definition, Mark, ModuleRecord
from pipeline.surface.resolve import Distribution, Found
from pipeline.surface.signatures import class_parameters, method_parameters
from pipeline.terms import PublicBecause, SourceKind, SymbolKind


@dataclass(frozen=True, slots=True)
class Rows:
    """What a release offers: `symbols`, their `documents`, and `importable` paths that are not public in it."""

    symbols: list[Row]
    documents: list[Row]
    importable: list[Row]


def assemble(distribution: Distribution, root: str) -> Rows:
    """Make the rows of a release; `root` is what stands before each file inside the artifact."""
    return _Assembly(distribution, root).rows()


class _Assembly:
    """Collects the rows of one release."""

    def __init__(self, distribution: Distribution, root: str) -> None:
        self.distribution = distribution
        self.root = root
        self.symbols: dict[str, Row] = {}
        self.documents: dict[str, Row] = {}
        self.modules: dict[str, ModuleRecord] = {}
        self.preferred: dict[str, str] = {}
        self.expanding: set[str] = set()
        self.exposed: list[tuple[str, ModuleRecord]] = []

    def rows(self) -> Rows:
        names = self._public()
        self.modules = dict(self.exposed)
        self.preferred = _preferred(names)
        for public in names:
            self._name(public)
        self._modules()
        importable = [row for path, module in self.exposed for row in self._importable(path, module)]
        return Rows(_ordered(self.symbols.values()), _ordered(self.documents.values()), _ordered(importable))

    def _public(self) -> list[PublicName]:
        """Return all public names, and note the modules that are exposed: public ones, and private ones by alias."""
        modules = self.distribution.modules
        self.exposed = [(name, modules[name]) for name in public_modules(list(modules))]
        known = {name for name, _ in self.exposed}
        names: list[PublicName] = []
        for path, module in self.exposed:
            for public in public_names(module, path, self.distribution):
                names.append(public)
                if public.found.what == "module" and public.found.module and public.found.path not in known:
                    known.add(public.found.path)
                    self.exposed.append((public.path, public.found.module))
        return names

    def _name(self, public: PublicName) -> None:
        found = public.found
        if public.lazy:
            self._add(self._bare(public, SymbolKind.LAZY, found.path) | {"deprecation": public.mark})
        elif found.what == "outside":
            self._add(self._bare(public, SymbolKind.EXTERNAL, found.path))
        elif found.what == "module":
            if public.path not in self.modules:
                self._add(self._bare(public, SymbolKind.ALIAS, found.path))
        elif found.definition is None or found.module is None:
            self._add(self._bare(public, SymbolKind.ATTRIBUTE, found.path) | {"labels": [OPAQUE]})
        elif self.preferred[found.path] != public.path:
            self._add(self._bare(public, SymbolKind.ALIAS, found.path))
        else:
            self._state(public.path, public.because, found)

    def _modules(self) -> None:
        for path, module in self.exposed:
            if path in self.symbols:
                # `from .run import run` in a package: the function hides the module of that name
                continue
            top = path.rpartition(".")[0] not in self.modules
            labels = module_labels(module, self.distribution, top=top)
            because = PublicBecause.NAME if "." in path else PublicBecause.ROOT
            row = _row(path, module.name, SymbolKind.MODULE, because, self.root + module.file, module.source)
            row |= {"labels": labels, "deprecation": module.deprecation}
            self._document(row, module.docstring, module.docstring_line)
            self._add(row)

    def _state(self, path: str, because: PublicBecause, found: Found) -> None:
        assert found.definition is not None
        assert found.module is not None
        definition = found.definition
        row = _row(path, found.path, _kind(definition), because, self.root + found.module.file, found.module.source)
        row |= _facts(definition)
        if definition.kind == "class":
            row |= class_parameters(found, self.distribution)
            row["labels"] = sorted({*row["labels"], *class_labels(found, self.distribution)})
        elif definition.kind == "function":
            row["parameters"] = definition.called
        self._document(row, definition.docstring, definition.docstring_line)
        self._add(row)
        if definition.kind == "class":
            self.expanding.add(found.path)
            self._members(path, found)
            self.expanding.remove(found.path)

    def _members(self, path: str, class_: Found) -> None:
        """Add the rows of a class's public members, its own and those it inherits inside the distribution."""
        owners = self.distribution.ancestry(class_)
        taken: set[str] = set()
        for owner in owners:
            assert owner.definition is not None
            for name, member in owner.definition.members.items():
                if name in taken or name.startswith("_") or ALTERNATIVE in name:
                    continue
                taken.add(name)
                because = PublicBecause.NAME if owner is owners[0] else PublicBecause.INHERITED
                self._member(
                    f"{path}.{name}", because, Found("definition", f"{owner.path}.{name}", owner.module, member)
                )

    def _member(self, path: str, because: PublicBecause, found: Found) -> None:
        definition, module = found.definition, found.module
        assert definition is not None
        assert module is not None
        if definition.kind == "import":
            return
        if definition.kind == "class":
            self._nested(path, because, found)
            return
        row = _row(path, found.path, _kind(definition, member=True), because, self.root + module.file, module.source)
        row |= _facts(definition)
        row["parameters"] = method_parameters(definition)
        if same := self._same_member(found):
            row |= {"kind": SymbolKind.ALIAS, "canonical_path": same, "value": None, "labels": []}
        self._document(row, definition.docstring, definition.docstring_line)
        self._add(row)

    def _nested(self, path: str, because: PublicBecause, found: Found) -> None:
        """Add a class inside a class: an alias where it is inherited from a public class, which has its state."""
        assert found.module is not None
        public = found.path.rpartition(".")[0] in self.preferred
        # a class nested in one that it derives from would inherit itself without end
        if found.path in self.expanding or (because is PublicBecause.INHERITED and public):
            file = self.root + found.module.file
            self._add(_row(path, found.path, SymbolKind.ALIAS, because, file, found.module.source))
        else:
            self._state(path, because, found)

    def _same_member(self, found: Found) -> str | None:
        """Return the path of the method that `name = other` in a class body gives a second name."""
        assert found.definition is not None
        value = found.definition.value
        in_body = found.definition.kind == "attribute" and "class-attribute" in found.definition.labels
        if not in_body or not value or not value.isidentifier() or value.startswith("_"):
            return None
        other = self.distribution.follow(f"{found.path.rpartition('.')[0]}.{value}")
        return other.path if other.definition and other.definition.kind in {"function", "property"} else None

    def _importable(self, path: str, module: ModuleRecord) -> Iterator[Row]:
        for public in importable_names(module, path, self.distribution):
            if public.path not in self.symbols:
                row = self._bare(public, _pointer(public.found, self.preferred), public.found.path)
                yield row | {"labels": [OPAQUE] if row["kind"] == SymbolKind.ATTRIBUTE else []}

    def _bare(self, public: PublicName, kind: SymbolKind, canonical: str) -> Row:
        module = self.distribution.modules[self._module_of(public.path)]
        return _row(public.path, canonical, kind, public.because, self.root + module.file, module.source)

    def _module_of(self, path: str) -> str:
        return self.modules[path.rpartition(".")[0]].name

    def _document(self, row: Row, docstring: str | None, line: int) -> None:
        if docstring and row["kind"] != SymbolKind.ALIAS:
            row["docstring_sha256"] = sha256_text(docstring)
            self.documents[row["path"]] = {
                "path": row["path"],
                "canonical_path": row["canonical_path"],
                "docstring": docstring,
                "file": row["file"],
                "line": line,
            }

    def _add(self, row: Row) -> None:
        self.symbols[row["path"]] = row


def _preferred(names: Iterable[PublicName]) -> dict[str, str]:
    """Return the public path of each definition: of fewest segments, then where it stands, then by letters."""
    best: dict[str, str] = {}
    for public in names:
        if public.found.definition is not None and not public.lazy:
            known = best.get(public.found.path)
            if known is None or _rank(public.path, public.found.path) < _rank(known, public.found.path):
                best[public.found.path] = public.path
    return best


def _rank(path: str, canonical: str) -> tuple[int, bool, str]:
    return path.count("."), path != canonical, path


def _ordered(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: str(row["path"]))


def _pointer(found: Found, preferred: dict[str, str]) -> SymbolKind:
    """Return what kind of row stands for something that can be imported without being public there."""
    if found.what == "outside":
        return SymbolKind.EXTERNAL
    # what has no public path of its own cannot be pointed at
    return SymbolKind.ALIAS if found.what == "module" or found.path in preferred else SymbolKind.ATTRIBUTE


def _kind(definition: Definition, *, member: bool = False) -> SymbolKind:
    if definition.kind == "function":
        return SymbolKind.METHOD if member else SymbolKind.FUNCTION
    return next(kind for kind in SymbolKind if kind == definition.kind)


def _facts(definition: Definition) -> Row:
    return {
        "returns": definition.returns,
        "value": definition.value,
        "bases": definition.bases,
        "decorators": definition.decorators,
        "labels": definition.labels,
        "overloads": definition.overloads,
        "deprecation": definition.deprecation,
    }


def _row(path: str, canonical: str, kind: SymbolKind, because: PublicBecause, file: str, source: SourceKind) -> Row:
    nothing: Mark | None = None
    return {
        "path": path,
        "canonical_path": canonical,
        "kind": kind,
        "public_because": because,
        "parameters": [],
        "returns": None,
        "value": None,
        "bases": [],
        "decorators": [],
        "labels": [],
        "overloads": [],
        "docstring_sha256": None,
        "deprecation": nothing,
        "file": file,
        "source": source,
    }
