"""The modules of a release put together: one row per public path, with the state of what it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pipeline.lake import Row, sha256_text
from pipeline.surface.attributes import SET_OUTSIDE_INIT
from pipeline.surface.facts import ReleaseFacts, content_fact, exposed_fact, line_of, place_fact
from pipeline.surface.labels import OPAQUE, class_labels, module_labels
from pipeline.surface.public import PublicName, importable_names, public_modules, public_names
from pipeline.surface.records import ALTERNATIVE, GONE, Definition, ModuleRecord, Parameter
from pipeline.surface.resolve import Distribution, Found
from pipeline.surface.rows import bare_row, kind_of, preferred_paths, stated
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.signatures import class_parameters, method_parameters, named_parameters
from pipeline.surface.sketches import line_hashes, sketch
from pipeline.surface.trace import Memory
from pipeline.terms import PublicBecause, SourceKind, SymbolKind


@dataclass(frozen=True, slots=True)
class Rows:
    """What a release offers: `symbols`, their `documents`, and `importable` paths that are not public in it."""

    symbols: list[Row]
    documents: list[Row]
    importable: list[Row]


Part = tuple[list[Row], list[Row]]
"""Rows of symbols and of documents that were made together."""


MemberState = tuple[PublicBecause, str, SourceKind, str | None, list[Parameter]]
"""Why a member is public, where it stands, what it was read from, what it is another name of, and its parameters."""


class Assembler:
    """Makes the rows of releases one after another: what has the same sources as in the last one is not made again.

    Rows are shared between releases and must not be changed.
    """

    def __init__(self, rules: SurfaceRules) -> None:
        self.rules = rules
        self._forget(frozenset())

    def _forget(self, tops: frozenset[str]) -> None:
        self._tops = tops
        self.names = Memory[list[PublicName]]()
        self.parts = Memory[Part]()
        self.importable = Memory[list[Row]]()
        self.members: dict[str, tuple[Definition, object, Part]] = {}
        self._texts: dict[str, tuple[str, list[int]]] = {}

    def text(self, docstring: str) -> tuple[str, list[int]]:
        """Return hash and sketch of a docstring; many classes inherit the same one."""
        known = self._texts.get(docstring)
        if known is None:
            known = sha256_text(docstring), sketch(line_hashes(docstring.encode("utf-8", "backslashreplace")))
            self._texts[docstring] = known
        return known

    def rows(self, modules: Mapping[str, ModuleRecord], root: str) -> Rows:
        """Make the rows of a release; `root` is what stands before each file inside the artifact."""
        distribution = Distribution(modules, self.rules)
        if distribution.tops != self._tops:
            # every absolute import asks whether its first name is one of ours
            self._forget(distribution.tops)
        return _Assembly(distribution, root, self).rows()


class _Assembly:
    """Collects the rows of one release."""

    def __init__(self, distribution: Distribution, root: str, memory: Assembler) -> None:
        self.distribution = distribution
        self.trace = distribution.trace
        self.facts = ReleaseFacts(distribution)
        self.root = root
        self.memory = memory
        self.part: Part = [], []
        self.modules: dict[str, ModuleRecord] = {}
        self.preferred: dict[str, str] = {}
        self.expanding: set[str] = set()
        self.exposed: list[tuple[str, ModuleRecord]] = []

    def rows(self) -> Rows:
        names = self._public()
        self.modules = dict(self.exposed)
        self.preferred = preferred_paths(names)
        self.facts.known |= {place_fact(canonical): path for canonical, path in self.preferred.items()}
        self.facts.known |= {exposed_fact(path): module.name for path, module in self.exposed}
        symbols: dict[str, Row] = {}
        documents: dict[str, Row] = {}
        for part in self._parts(names, symbols):
            symbols |= {row["path"]: row for row in part[0]}
            documents |= {row["path"]: row for row in part[1]}
        importable = [row for path, module in self.exposed for row in self._importable(path, module)]
        importable = [row for row in importable if row["path"] not in symbols]
        return Rows(list(symbols.values()), list(documents.values()), importable)

    def _public(self) -> list[PublicName]:
        """Return all public names, and note the modules that are exposed: public ones, and private ones by alias."""
        modules = self.distribution.modules
        self.exposed = [(name, modules[name]) for name in public_modules(list(modules))]
        known = {name for name, _ in self.exposed}
        names: list[PublicName] = []
        for path, module in self.exposed:
            for public in self._names_of(path, module):
                names.append(public)
                if public.found.what == "module" and public.found.module and public.found.path not in known:
                    known.add(public.found.path)
                    self.exposed.append((public.path, public.found.module))
        return names

    def _names_of(self, path: str, module: ModuleRecord) -> list[PublicName]:
        def make() -> list[PublicName]:
            self.trace.ask(module.name)
            return public_names(module, path, self.distribution)

        return self.memory.names.get((path, module.name), self.facts, self.trace, make)

    def _parts(self, names: list[PublicName], symbols: Mapping[str, Row]) -> Iterator[Part]:
        for public in names:
            found = public.found
            mark = tuple((public.mark or {}).values())
            key = (
                public.path,
                public.because,
                mark,
                found.what,
                found.path,
                found.definition and found.definition.name,
            )
            yield self.memory.parts.get(key, self.facts, self.trace, partial(self._made, self._name, public))
        for path, module in self.exposed:
            # `from .run import run` in a package: the function hides the module of that name
            # but a name that its package's `__getattr__` answers too is the module itself
            if path not in symbols or symbols[path]["kind"] == SymbolKind.LAZY:
                yield self._made(self._module, path, module)

    def _made(self, make: Callable[..., None], *about: Any) -> Part:
        outer, self.part = self.part, ([], [])
        make(*about)
        made, self.part = self.part, outer
        return made

    def _name(self, public: PublicName) -> None:
        found = self._now(public.found)
        if public.lazy:
            self._add(self._bare(public, SymbolKind.LAZY, found.path) | {"deprecation": public.mark})
        elif found.what == "outside":
            self._add(self._bare(public, SymbolKind.EXTERNAL, found.path))
        elif found.what == "module":
            self.trace.ask(exposed_fact(public.path))
            if public.path not in self.modules:
                self._add(self._bare(public, SymbolKind.ALIAS, found.path))
        elif found.definition is None or found.module is None:
            self._add(self._bare(public, SymbolKind.ATTRIBUTE, found.path) | {"labels": [OPAQUE]})
        elif self._preferred_path(found.path) != public.path:
            self._add(self._bare(public, SymbolKind.ALIAS, found.path))
        else:
            self._state(public.path, public.because, found)

    def _now(self, found: Found) -> Found:
        """Return where a name leads with the state of this release: the names may be known since an earlier one."""
        if found.module is None or found.definition is None:
            return found
        place = content_fact(found)
        self.trace.ask(place)
        return Found(found.what, found.path, self.facts.modules[found.module.name], self.facts.get(place)[1])

    def _preferred_path(self, canonical: str) -> str | None:
        """Return the path under which a definition has its state, if it is public at all."""
        self.trace.ask(place_fact(canonical))
        return self.preferred.get(canonical)

    def _module(self, path: str, module: ModuleRecord) -> None:
        top = path.rpartition(".")[0] not in self.modules
        labels = module_labels(module, self.distribution, top=top)
        because = PublicBecause.NAME if "." in path else PublicBecause.ROOT
        row = bare_row(path, module.name, SymbolKind.MODULE, because, self.root + module.file, module.source)
        row |= {"labels": labels, "deprecation": module.deprecation}
        self._document(row, module.docstring, module.docstring_line)
        self._add(row)

    def _state(self, path: str, because: PublicBecause, found: Found) -> None:
        assert found.definition is not None
        assert found.module is not None
        definition = found.definition
        row = bare_row(
            path, found.path, kind_of(definition), because, self.root + found.module.file, found.module.source
        )
        row |= stated(definition)
        if definition.kind == "class":
            self._owners(found)
            row |= class_parameters(found, self.distribution)
            row["labels"] = sorted({*row["labels"], *class_labels(found, self.distribution)})
        elif definition.kind == "function":
            row["parameters"] = named_parameters(definition.called, found, self.distribution)
        self._document(row, definition.docstring, line_of(found))
        self._add(row)
        if definition.kind == "class":
            self.expanding.add(found.path)
            self._members(path, found)
            self.expanding.remove(found.path)

    def _members(self, path: str, class_: Found) -> None:
        """Add the rows of a class's public members, its own and those it inherits inside the distribution."""
        owners = self._owners(class_)
        taken: set[str] = set()
        for place, owner in enumerate(owners):
            assert owner.definition is not None
            for name, member in owner.definition.members.items():
                if name in taken or name.startswith("_") or ALTERNATIVE in name:
                    continue
                if SET_OUTSIDE_INIT in member.labels and _defines(owners[place + 1 :], name):
                    # what a method sets on an instance does not replace what the class inherits
                    continue
                taken.add(name)
                if GONE in member.labels:
                    continue
                because = PublicBecause.NAME if owner is owners[0] else PublicBecause.INHERITED
                self._member(
                    f"{path}.{name}", because, Found("definition", f"{owner.path}.{name}", owner.module, member)
                )

    def _owners(self, class_: Found) -> list[Found]:
        """Return a class and its bases inside the distribution; all that they say counts for it."""
        owners = self.distribution.ancestry(class_)
        for owner in owners:
            self.trace.ask(content_fact(owner))
        return owners

    def _member(self, path: str, because: PublicBecause, found: Found) -> None:
        definition, module = found.definition, found.module
        assert definition is not None
        assert module is not None
        if definition.kind == "import":
            return
        if definition.kind == "class":
            self._nested(path, because, found)
            return
        called = named_parameters(method_parameters(definition), found, self.distribution)
        about = because, found.path, module.source, self._same_member(found), called
        known = self.memory.members.get(path)
        if known is None or known[0] != definition or known[1] != about:
            known = self.memory.members[path] = definition, about, self._made(self._member_rows, path, found, about)
        self.part[0].extend(known[2][0])
        self.part[1].extend(known[2][1])

    def _member_rows(self, path: str, found: Found, about: MemberState) -> None:
        because, canonical, source, same, called = about
        assert found.definition is not None
        assert found.module is not None
        file = self.root + found.module.file
        row = bare_row(path, canonical, kind_of(found.definition, member=True), because, file, source)
        row |= stated(found.definition)
        row["parameters"] = called
        if same:
            row |= {"kind": SymbolKind.ALIAS, "canonical_path": same, "value": None, "labels": []}
        self._document(row, found.definition.docstring, line_of(found))
        self._add(row)

    def _nested(self, path: str, because: PublicBecause, found: Found) -> None:
        """Add a class inside a class: an alias where it is inherited from a public class, which has its state."""
        assert found.module is not None
        public = self._preferred_path(found.path.rpartition(".")[0]) is not None
        # a class nested in one that it derives from would inherit itself without end
        if found.path in self.expanding or (because is PublicBecause.INHERITED and public):
            file = self.root + found.module.file
            self._add(bare_row(path, found.path, SymbolKind.ALIAS, because, file, found.module.source))
        else:
            self._state(path, because, found)

    def _same_member(self, found: Found) -> str | None:
        """Return the path of the method that `name = other` in a class body gives a second name."""
        assert found.definition is not None
        value = found.definition.value
        in_body = found.definition.kind == "attribute" and "class-attribute" in found.definition.labels
        if not in_body or not value or not value.isidentifier() or value.startswith("_"):
            return None
        owner = self.distribution.follow(found.path.rpartition(".")[0])
        bound = list(owner.definition.members) if owner.definition else []
        if value not in bound[: bound.index(found.definition.name)]:
            # what the class binds later, or inherits, is not what the name means here
            return None
        other = self.distribution.follow(f"{owner.path}.{value}")
        return other.path if other.definition and other.definition.kind in {"function", "property"} else None

    def _importable(self, path: str, module: ModuleRecord) -> list[Row]:
        def make() -> list[Row]:
            self.trace.ask(module.name)
            return [self._pointer(public) for public in importable_names(module, path, self.distribution)]

        return self.memory.importable.get((path, module.name), self.facts, self.trace, make)

    def _pointer(self, public: PublicName) -> Row:
        """Return the row that stands for something that can be imported without being public there."""
        found = public.found
        kind = SymbolKind.ATTRIBUTE
        if found.what == "outside":
            kind = SymbolKind.EXTERNAL
        elif found.what == "module" or self._preferred_path(found.path) is not None:
            # what has no public path of its own cannot be pointed at
            kind = SymbolKind.ALIAS
        return self._bare(public, kind, found.path) | {"labels": [OPAQUE] if kind is SymbolKind.ATTRIBUTE else []}

    def _bare(self, public: PublicName, kind: SymbolKind, canonical: str) -> Row:
        parent = public.path.rpartition(".")[0]
        self.trace.ask(exposed_fact(parent))
        module = self.facts.modules[self.modules[parent].name]
        return bare_row(public.path, canonical, kind, public.because, self.root + module.file, module.source)

    def _document(self, row: Row, docstring: str | None, line: int) -> None:
        if docstring and row["kind"] != SymbolKind.ALIAS:
            row["docstring_sha256"], row["docstring_sketch"] = self.memory.text(docstring)
            document = {"path": row["path"], "canonical_path": row["canonical_path"], "docstring": docstring}
            self.part[1].append(document | {"file": row["file"], "line": line})

    def _add(self, row: Row) -> None:
        self.part[0].append(row)


def _defines(owners: Iterable[Found], name: str) -> bool:
    return any(owner.definition is not None and name in owner.definition.members for owner in owners)
