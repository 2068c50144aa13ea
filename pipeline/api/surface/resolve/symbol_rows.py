"""The rows of one public name: its own, and those of the members of a class, inherited ones too."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from pipeline.api.surface.extract.attributes import SET_OUTSIDE_INIT
from pipeline.api.surface.extract.sketches import line_hashes, sketch
from pipeline.api.surface.parse.module_model import ALTERNATIVE, GONE, Definition, Mark, ModuleRecord, Parameter
from pipeline.api.surface.resolve.dependency_keys import content_fact
from pipeline.api.surface.resolve.labels import OPAQUE, class_labels, module_labels
from pipeline.api.surface.resolve.public import PublicName
from pipeline.api.surface.resolve.public_index import Offer
from pipeline.api.surface.resolve.resolution import Found
from pipeline.api.surface.resolve.rows import bare_row, defined_row, kind_of
from pipeline.api.surface.resolve.signatures import (
    class_parameters,
    method_parameters,
    named_parameters,
    takes_unpacked,
)
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind, SymbolKind
from pipeline.lake.ids import sha256_text
from pipeline.lake.rows import DocumentState, SymbolState

Part = tuple[dict[str, SymbolState], dict[str, DocumentState]]
"""Rows of symbols and of documents that were made together, by path."""

About = tuple[PublicBecause, str, SourceKind]
"""Why a member is public, the class that it stands in, and what that was read from."""

Elsewhere = tuple[str | None, list[Parameter] | None, Mark | None]
"""What other definitions say of a member: what it is another name of, its parameters behind `Unpack[…]`, and the mark
that a decorator gives it."""


class _Member(msgspec.Struct, frozen=True):
    """The rows of a member, and what they were made from; `alone` if nothing else can say anything of it."""

    definition: Definition
    about: About
    elsewhere: Elsewhere
    alone: bool
    row: SymbolState
    document: DocumentState | None


class Kept:
    """What releases can share: hash and sketch of docstrings, rows of members and of what is importable, by path."""

    def __init__(self) -> None:
        self.members: dict[str, _Member] = {}
        self.pointers: dict[str, tuple[tuple[str, SymbolKind, PublicBecause, str, SourceKind], SymbolState]] = {}
        self._texts: dict[str, tuple[str, list[int]]] = {}

    def text(self, docstring: str) -> tuple[str, list[int]]:
        """Return hash and sketch of a docstring; many classes inherit the same one."""
        known = self._texts.get(docstring)
        if known is None:
            known = sha256_text(docstring), sketch(line_hashes(docstring.encode("utf-8", "backslashreplace")))
            self._texts[docstring] = known
        return known

    def keep_only(self, symbols: Container[str], importable: Container[str]) -> None:
        """Forget what a release does not have: should it come back, it stands elsewhere."""
        for path in [path for path in self.members if path not in symbols]:
            del self.members[path]
        for path in [path for path in self.pointers if path not in importable]:
            del self.pointers[path]


class States:
    """Makes the rows of public names and modules of one release."""

    def __init__(self, offer: Offer, kept: Kept) -> None:
        self.offer = offer
        self.kept = kept
        self.distribution = offer.distribution
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
        row = bare_row(path, module.name, SymbolKind.MODULE, because, self.offer.root + module.file, module.source)
        row |= {"labels": labels, "deprecation": module.deprecation}
        self._add(row, self._documented(row, module.docstring, module.docstring_line))
        return self._part

    def _name(self, public: PublicName) -> None:
        found = public.found
        if public.lazy:
            self._add(self.offer.bare(public, SymbolKind.LAZY))
        elif found.what == "outside":
            self._add(self.offer.bare(public, SymbolKind.EXTERNAL))
        elif found.what == "module":
            if self.offer.module_at(public.path) is None:
                self._add(self.offer.bare(public, SymbolKind.ALIAS))
        elif found.definition is None or found.module is None:
            self._add(self.offer.bare(public, SymbolKind.ATTRIBUTE) | {"labels": [OPAQUE]})
        elif self.offer.preferred_path(found.path) != public.path:
            self._add(self.offer.bare(public, SymbolKind.ALIAS))
        else:
            # the name may be known since an earlier release
            self.offer.trace.ask(content_fact(found))
            self._state(public.path, public.because, found.renewed(self.distribution.modules))
        if public.mark is not None and (row := self._part[0].get(public.path)) is not None:
            row["deprecation"] = public.mark

    def _state(self, path: str, because: PublicBecause, found: Found) -> None:
        assert found.definition is not None
        assert found.module is not None
        definition = found.definition
        file = self.offer.root + found.module.file
        row = defined_row(path, found.path, kind_of(definition), because, file, found.module.source, definition)
        row["deprecation"] = row["deprecation"] or self._decorator_mark(found)
        owners = self._owners(found) if definition.kind == "class" else []
        if owners:
            row["parameters"], labels = class_parameters(owners, self.distribution)
            own = row["labels"] if labels is None else labels
            row["labels"] = sorted({*own, *class_labels(owners, self.distribution)})
        elif definition.kind == "function":
            row["parameters"] = named_parameters(definition.called, found, self.distribution)
        self._add(row, self._documented(row, definition.docstring, found.line if definition.docstring else 1))
        if owners:
            self._expanding.add(found.path)
            self._members(path, owners)
            self._expanding.remove(found.path)

    def _members(self, path: str, owners: Sequence[Found]) -> None:
        """Add the rows of a class's public members, its own and those it inherits inside the distribution.

        The owners are the class and its bases.
        """
        taken: set[str] = set()
        for place, owner in enumerate(owners):
            assert owner.definition is not None
            assert owner.module is not None
            because = PublicBecause.INHERITED if place else PublicBecause.NAME
            about = because, owner.path, owner.module.source
            for name, member in owner.definition.members.items():
                if name in taken or name[0] == "_" or ALTERNATIVE in name:
                    continue
                if SET_OUTSIDE_INIT in member.labels and _defines(owners[place + 1 :], name):
                    # what a method sets on an instance does not replace what the class inherits
                    continue
                taken.add(name)
                known = self.kept.members.get(f"{path}.{name}")
                if known is not None and known.definition is member and known.alone and known.about == about:
                    self._add(known.row, known.document)
                elif GONE in member.labels:
                    continue
                elif member.kind == "class":
                    found = Found("definition", f"{owner.path}.{name}", owner.module, member)
                    self._nested(f"{path}.{name}", because, found)
                elif member.kind != "import":
                    self._member(f"{path}.{name}", about, owner, member)

    def _owners(self, class_: Found) -> list[Found]:
        """Return a class and its bases inside the distribution; all that they say counts for it."""
        owners = self.distribution.ancestry(class_)
        for owner in owners:
            self.offer.trace.ask(content_fact(owner))
        return owners

    def _member(self, path: str, about: About, owner: Found, member: Definition) -> None:
        found = Found("definition", f"{owner.path}.{member.name}", owner.module, member)
        renames, unpacks = _may_rename(member), takes_unpacked(member.called)
        mark = self._decorator_mark(found)
        elsewhere = (
            self._same_member(owner, member) if renames else None,
            self._called(found) if unpacks else None,
            mark,
        )
        known = self.kept.members.get(path)
        if known is None or known.definition != member or known.about != about or known.elsewhere != elsewhere:
            made = self._member_rows(path, found, about[0], elsewhere)
            decorated = bool(member.decorators and self.distribution.deprecators)
            known = _Member(member, about, elsewhere, not (renames or unpacks or decorated), *made)
        elif known.definition is not member:
            # the newest of equal definitions, so that the next release is compared by identity
            known = replace(known, definition=member)
        self.kept.members[path] = known
        self._add(known.row, known.document)

    def _decorator_mark(self, found: Found) -> Mark | None:
        """Return the mark that a decorator of the distribution gives a definition by what it does."""
        assert found.definition is not None
        assert found.module is not None
        for decorator in found.definition.decorators if self.distribution.deprecators else ():
            name = decorator.partition("(")[0]
            if name.rpartition(".")[2] in self.distribution.deprecators:
                made = self.distribution.within(found.module, name)
                if made.definition is not None:
                    self.offer.trace.ask(content_fact(made))
                    if made.definition.deprecates is not None:
                        return made.definition.deprecates
        return None

    def _called(self, found: Found) -> list[Parameter]:
        assert found.definition is not None
        return named_parameters(method_parameters(found.definition), found, self.distribution)

    def _member_rows(
        self, path: str, found: Found, because: PublicBecause, elsewhere: Elsewhere
    ) -> tuple[SymbolState, DocumentState | None]:
        same, called, mark = elsewhere
        assert found.definition is not None
        assert found.module is not None
        file = self.offer.root + found.module.file
        kind = kind_of(found.definition, member=True)
        row = defined_row(path, found.path, kind, because, file, found.module.source, found.definition)
        row["deprecation"] = row["deprecation"] or mark
        row["parameters"] = self._called(found) if called is None else called
        if same:
            row |= {"kind": SymbolKind.ALIAS, "canonical_path": same, "value": None, "labels": []}
        docstring = found.definition.docstring
        return row, self._documented(row, docstring, found.line if docstring else 1)

    def _nested(self, path: str, because: PublicBecause, found: Found) -> None:
        """Add a class inside a class: an alias where it is inherited from a public class, which has its state."""
        assert found.module is not None
        public = self.offer.preferred_path(found.path.rpartition(".")[0]) is not None
        # a class nested in one that it derives from would inherit itself without end
        if found.path in self._expanding or (because is PublicBecause.INHERITED and public):
            file = self.offer.root + found.module.file
            self._add(bare_row(path, found.path, SymbolKind.ALIAS, because, file, found.module.source))
        else:
            self._state(path, because, found)

    def _same_member(self, owner: Found, member: Definition) -> str | None:
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
        row["docstring_sha256"], row["docstring_sketch"] = self.kept.text(docstring)
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


def _defines(owners: Iterable[Found], name: str) -> bool:
    return any(owner.definition is not None and name in owner.definition.members for owner in owners)
