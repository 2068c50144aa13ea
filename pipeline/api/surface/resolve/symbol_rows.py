"""The rows of one public name: its own, and those of the members of a class, inherited ones too."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from pipeline.api.surface.extract.attributes import SET_OUTSIDE_INIT
from pipeline.api.surface.extract.uses import FROZEN, REFUSED, SLOTTED, UNHASHABLE, USE
from pipeline.api.surface.parse.module_model import (
    ALTERNATIVE,
    ARGS_HANDED_ON,
    GONE,
    Definition,
    Mark,
    ModuleRecord,
    Parameter,
)
from pipeline.api.surface.resolve.dependency_keys import content_fact
from pipeline.api.surface.resolve.handed_on import called_constructor, called_function, called_method
from pipeline.api.surface.resolve.labels import OPAQUE, class_labels, module_labels, use_labels
from pipeline.api.surface.resolve.public import PublicName
from pipeline.api.surface.resolve.public_index import PublicIndex
from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.rows import bare_row, defined_row, kind_of
from pipeline.api.surface.resolve.signatures import (
    class_overloads,
    class_parameters,
    constructor_of,
    default_labels,
    names_constants,
    takes_unpacked,
)
from pipeline.api.surface.sketches import line_hashes, sketch
from pipeline.core.vocabularies.surface import DeprecationChannel, PublicBecause, SourceKind, SymbolKind
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import DocumentState, SymbolState

_OF_USE = frozenset({UNHASHABLE, FROZEN, SLOTTED})

Part = tuple[dict[str, SymbolState], dict[str, DocumentState]]
"""Rows of symbols and of documents that were made together, by path."""

About = tuple[PublicBecause, str, SourceKind]
"""Why a member is public, the class that it stands in, and what that was read from."""

Elsewhere = tuple[str | None, list[Parameter] | None, Mark | None, list[str]]
"""What other definitions say of a member: what it is another name of, its parameters behind `Unpack[…]` or handed on,
the mark that a decorator gives it, and labels: values of constants among its defaults, where `**kwargs` go."""


class _Member(msgspec.Struct, frozen=True):
    """The rows of a member, and what they were made from; `alone` if nothing else can say anything of it."""

    definition: Definition
    about: About
    elsewhere: Elsewhere
    alone: bool
    row: SymbolState
    document: DocumentState | None


class RowCache:
    """What releases can share: hash and sketch of docstrings, rows of members and of importable names, by path."""

    def __init__(self) -> None:
        self.members: dict[str, _Member] = {}
        self.pointers: dict[str, tuple[tuple[str, SymbolKind, PublicBecause, str, SourceKind], SymbolState]] = {}
        self._texts: dict[str, tuple[str, list[int]]] = {}

    def text(self, docstring: str) -> tuple[str, list[int]]:
        """Return hash and sketch of a docstring; many classes inherit the same one."""
        cached = self._texts.get(docstring)
        if cached is None:
            cached = sha256_text(docstring), sketch(line_hashes(docstring.encode("utf-8", "backslashreplace")))
            self._texts[docstring] = cached
        return cached

    def keep_only(self, symbols: Container[str], importable_names: Container[str]) -> None:
        """Forget what a release does not have: should it come back, it stands elsewhere."""
        for path in [path for path in self.members if path not in symbols]:
            del self.members[path]
        for path in [path for path in self.pointers if path not in importable_names]:
            del self.pointers[path]


class States:
    """Makes the rows of public names and modules of one release."""

    def __init__(self, index: PublicIndex, cache: RowCache) -> None:
        self.index = index
        self.cache = cache
        self.distribution = index.distribution
        self._part: Part = {}, {}
        self._expanding: set[str] = set()

    def of_name(self, public: PublicName) -> Part:
        """Return the rows of a public name."""
        self._part = {}, {}
        self._name(public)
        return self._part

    def of_module(self, path: str, module: ModuleRecord, *, top: bool) -> Part:
        """Return the rows of a module; `top` if no public module is above it."""
        self._part = {}, {}
        labels = module_labels(module, self.distribution, top=top)
        because = PublicBecause.NAME if "." in path else PublicBecause.ROOT
        row = bare_row(path, module.name, SymbolKind.MODULE, because, self.index.root + module.file, module.source)
        row |= {"labels": labels, "deprecation": module.deprecation}
        self._add(row, self._documented(row, module.docstring, module.docstring_line))
        return self._part

    def _name(self, public: PublicName) -> None:
        resolution = public.resolution
        if public.lazy:
            self._add(self.index.bare(public, SymbolKind.LAZY))
        elif resolution.kind == "outside":
            self._add(self.index.bare(public, SymbolKind.EXTERNAL))
        elif resolution.kind == "module":
            if self.index.module_at(public.path) is None:
                self._add(self.index.bare(public, SymbolKind.ALIAS))
        elif resolution.definition is None or resolution.module is None:
            self._add(self.index.bare(public, SymbolKind.ATTRIBUTE) | {"labels": [OPAQUE]})
        elif self.index.preferred_path(resolution.path) != public.path:
            self._add(self.index.bare(public, SymbolKind.ALIAS))
        else:
            # the name may be known since an earlier release
            self.index.trace.ask(content_fact(resolution))
            self._state(public.path, public.because, resolution.renewed(self.distribution.modules))
        if public.mark is not None and (row := self._part[0].get(public.path)) is not None:
            row["deprecation"] = public.mark

    def _state(self, path: str, because: PublicBecause, resolution: Resolution) -> None:
        assert resolution.definition is not None
        assert resolution.module is not None
        definition = resolution.definition
        file = self.index.root + resolution.module.file
        row = defined_row(
            path, resolution.path, kind_of(definition), because, file, resolution.module.source, definition
        )
        row["deprecation"] = row["deprecation"] or self._mark_by_others(resolution)
        owners = self._owners(resolution) if definition.kind == "class" else []
        if owners:
            parameters, labels = class_parameters(owners, self.distribution)
            called = called_constructor(parameters, owners, self.distribution)
            row["parameters"] = called.parameters
            row["overloads"] = class_overloads(owners)
            own = row["labels"] if labels is None else labels
            own = [label for label in own if label not in _OF_USE and not label.startswith((USE, REFUSED))]
            constructor = constructor_of(owners)
            defaults = default_labels(constructor, self.distribution) if constructor else []
            if constructor is not None and constructor.definition is not None:
                defaults += [label for label in constructor.definition.labels if label == ARGS_HANDED_ON]
            row["labels"] = sorted(
                {
                    *own,
                    *class_labels(owners, self.distribution),
                    *use_labels(owners, self._is_public),
                    *defaults,
                    *called.labels,
                }
            )
        elif definition.kind == "function":
            called = called_function(resolution, self.distribution)
            row["parameters"] = called.parameters
            row["labels"] = sorted({*row["labels"], *default_labels(resolution, self.distribution), *called.labels})
        self._add(row, self._documented(row, definition.docstring, resolution.line if definition.docstring else 1))
        if owners:
            self._expanding.add(resolution.path)
            self._members(path, owners)
            self._expanding.remove(resolution.path)

    def _members(self, path: str, owners: Sequence[Resolution]) -> None:
        """Add the rows of a class's public members, its own and those it inherits inside the distribution.

        The owners are the class and its bases.
        """
        names: set[str] = set()
        for place, owner in enumerate(owners):
            assert owner.definition is not None
            assert owner.module is not None
            because = PublicBecause.INHERITED if place else PublicBecause.NAME
            about = because, owner.path, owner.module.source
            for name, member in owner.definition.members.items():
                if name in names or name[0] == "_" or ALTERNATIVE in name:
                    continue
                if SET_OUTSIDE_INIT in member.labels and _defines(owners[place + 1 :], name):
                    # what a method sets on an instance does not replace what the class inherits
                    continue
                names.add(name)
                cached = self.cache.members.get(f"{path}.{name}")
                if cached is not None and cached.definition is member and cached.alone and cached.about == about:
                    self._add(cached.row, cached.document)
                elif GONE in member.labels:
                    continue
                elif member.kind == "class":
                    resolution = Resolution("definition", f"{owner.path}.{name}", owner.module, member)
                    self._nested(f"{path}.{name}", because, resolution)
                elif member.kind != "import":
                    self._member(f"{path}.{name}", about, owner, member)

    def _is_public(self, canonical: str) -> bool:
        return self.index.preferred_path(canonical) is not None

    def _owners(self, class_: Resolution) -> list[Resolution]:
        """Return a class and its bases inside the distribution; all that they say counts for it."""
        owners = self.distribution.ancestry(class_)
        for owner in owners:
            self.index.trace.ask(content_fact(owner))
        return owners

    def _member(self, path: str, about: About, owner: Resolution, member: Definition) -> None:
        resolution = Resolution("definition", f"{owner.path}.{member.name}", owner.module, member)
        renames, unpacks = _may_rename(member), bool(member.hands_on) or takes_unpacked(member.called)
        mark = self._mark_by_others(resolution)
        constants = names_constants(member.called)
        called = called_method(resolution, self.distribution) if unpacks else None
        labels = called.labels if called is not None else []
        elsewhere = (
            self._same_member(owner, member) if renames else None,
            called.parameters if called is not None else None,
            mark,
            [*(default_labels(resolution, self.distribution) if constants else []), *labels],
        )
        cached = self.cache.members.get(path)
        if cached is None or cached.definition != member or cached.about != about or cached.elsewhere != elsewhere:
            rows = self._member_rows(path, resolution, about[0], elsewhere)
            decorated = bool(member.warns_by or (self.distribution.deprecators and (member.decorators or member.value)))
            decorated = decorated or bool(self._copied(member))
            cached = _Member(member, about, elsewhere, not (renames or unpacks or decorated or constants), *rows)
        elif cached.definition is not member:
            # the newest of equal definitions, so that the next release is compared by identity
            cached = replace(cached, definition=member)
        self.cache.members[path] = cached
        self._add(cached.row, cached.document)

    def _mark_by_others(self, resolution: Resolution) -> Mark | None:
        """Return the mark that a definition has by what others of the distribution do.

        A decorator, or a call that made it, may deprecate it, or copy the mark of another function; a function that it
        calls may warn; the category of its warning may be one of deprecations.
        """
        definition, module = resolution.definition, resolution.module
        assert definition is not None
        assert module is not None
        values = [definition.value] if definition.kind == "attribute" and definition.value else []
        for maker in (*definition.decorators, *values) if self.distribution.deprecators else ():
            name = maker.partition("(")[0]
            if name.rpartition(".")[2] in self.distribution.deprecators:
                target = self.distribution.within(module, name)
                if target.definition is not None:
                    self.index.trace.ask(content_fact(target))
                    if target.definition.deprecates is not None:
                        return target.definition.deprecates
        if copied := self._copied_mark(definition, module):
            return copied
        for name, mark in definition.warns_by:
            target = self.distribution.within(module, name)
            if target.definition is not None:
                self.index.trace.ask(content_fact(target))
                if self._announces(target, mark):
                    return mark
        return None

    def _copied_mark(self, definition: Definition, module: ModuleRecord) -> Mark | None:
        for name in self._copied(definition):
            target = self.distribution.within(module, name)
            if target.definition is not None:
                self.index.trace.ask(content_fact(target))
                if target.definition.deprecation is not None:
                    return target.definition.deprecation
        return None

    def _copied(self, definition: Definition) -> list[str]:
        """Return the functions whose marks the decorators of a definition copy, as they are written."""
        copies = self.distribution.rules.deprecations.copying_decorators
        called = (decorator.partition("(") for decorator in definition.decorators)
        return [
            argument.partition(",")[0].rstrip(")")
            for name, bracket, argument in called
            if bracket and copies.search(name.rpartition(".")[2])
        ]

    def _announces(self, target: Resolution, mark: Mark) -> bool:
        """Return whether what a body names is a category of deprecations, or a function that always warns of one."""
        rules, definition = self.distribution.rules.deprecations, target.definition
        assert definition is not None
        if not target.is_class:
            warned = definition.deprecation
            if warned is not None:
                return warned["channel"] == DeprecationChannel.WARNING
            assert target.module is not None
            categories = ((self.distribution.within(target.module, name), mark) for name, mark in definition.warns_by)
            return any(category.is_class and self._announces(category, mark) for category, mark in categories)
        bases = (base.path for owner in self._owners(target) for base in self.distribution.bases(owner))
        names = {base.rpartition(".")[2] for base in bases}
        if any(map(rules.categories.search, names)):
            return True
        announced = rules.other_words.search(mark["message"] or "")
        return announced is not None and any(map(rules.other_categories.search, names))

    def _member_rows(
        self, path: str, resolution: Resolution, because: PublicBecause, elsewhere: Elsewhere
    ) -> tuple[SymbolState, DocumentState | None]:
        same, called, mark, defaults = elsewhere
        assert resolution.definition is not None
        assert resolution.module is not None
        file = self.index.root + resolution.module.file
        kind = kind_of(resolution.definition, member=True)
        row = defined_row(path, resolution.path, kind, because, file, resolution.module.source, resolution.definition)
        row["deprecation"] = row["deprecation"] or mark
        row["parameters"] = called_method(resolution, self.distribution).parameters if called is None else called
        row["labels"] = sorted({*row["labels"], *defaults})
        if same:
            row |= {"kind": SymbolKind.ALIAS, "canonical_path": same, "value": None, "labels": []}
        docstring = resolution.definition.docstring
        return row, self._documented(row, docstring, resolution.line if docstring else 1)

    def _nested(self, path: str, because: PublicBecause, resolution: Resolution) -> None:
        """Add a class inside a class: an alias where it is inherited from a public class, which has its state."""
        assert resolution.module is not None
        public = self.index.preferred_path(resolution.path.rpartition(".")[0]) is not None
        # a class nested in one that it derives from would inherit itself without end
        if resolution.path in self._expanding or (because is PublicBecause.INHERITED and public):
            file = self.index.root + resolution.module.file
            self._add(bare_row(path, resolution.path, SymbolKind.ALIAS, because, file, resolution.module.source))
        else:
            self._state(path, because, resolution)

    def _same_member(self, owner: Resolution, member: Definition) -> str | None:
        """Return the path of the method that `name = other` in a class body gives a second name."""
        value = member.value or ""
        owner = self.distribution.follow(owner.path)
        bound = list(owner.definition.members) if owner.definition else []
        if value not in bound[: bound.index(member.name)]:
            # what the class binds later, or inherits, is not what the name means here
            return None
        other = self.distribution.follow(f"{owner.path}.{value}")
        return other.path if other.definition and other.definition.kind in {"function", "property"} else None

    def _documented(self, row: SymbolState, docstring: str | None, line: int) -> DocumentState | None:
        """Add to a row what its docstring is like, and return the row of the docstring itself."""
        if not docstring or row["kind"] == SymbolKind.ALIAS:
            return None
        row["docstring_sha256"], row["docstring_sketch"] = self.cache.text(docstring)
        return {
            "path": row["path"],
            "canonical_path": row["canonical_path"],
            "docstring": docstring,
            "file": row["file"],
            "line": line,
        }

    def _add(self, row: SymbolState, document: DocumentState | None = None) -> None:
        path = row["path"]
        self._part[0][path] = row
        if document is not None:
            self._part[1][path] = document


def _may_rename(member: Definition) -> bool:
    """Return whether a member may be a second name: `name = other` in a class body."""
    value = member.value
    if member.kind != "attribute" or not value:
        return False
    return value.isidentifier() and value[0] != "_" and "class-attribute" in member.labels


def _defines(owners: Iterable[Resolution], name: str) -> bool:
    return any(owner.definition is not None and name in owner.definition.members for owner in owners)
