"""Attribute chains: from the value of the first link along public paths to the use that the chain makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from pipeline.terms import Access, SymbolKind, UsageForm
from pipeline.usage.api import Api
from pipeline.usage.scopes import text_of
from pipeline.usage.values import UNKNOWN, Instance, Reference, Unknown, Value


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a public API; positions are bytes of the source in UTF-8, the line counts from 1."""

    path: str
    name: str
    start_byte: int
    end_byte: int
    name_start_byte: int
    name_end_byte: int
    line: int
    access: Access
    form: UsageForm
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A chain that starts at the library and leads to no public path of the version; `path` is where it broke off."""

    chain: str
    path: str
    line: int
    start_byte: int


@dataclass(frozen=True, slots=True)
class Place:
    """How the chain as a whole stands in the code."""

    form: UsageForm = UsageForm.ATTRIBUTE
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the chain that resolved: its public path, the token of its name, and the node that ends there."""

    path: str
    token: Node
    end: Node
    access: Access


@dataclass(slots=True)
class Walk:
    """A walk along one chain: what it made of it so far."""

    api: Api
    start: Node
    place: Place
    uses: list[Use] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    link: Link | None = None

    def run(self, value: Value, base: Node, attributes: Sequence[Node]) -> Value:
        """Follow the attributes of a base, note the uses, and return what the whole chain is."""
        if isinstance(value, Reference):
            value = self._locate(value, base)
        for attribute in attributes:
            if isinstance(value, Unknown):
                break
            name = attribute.child_by_field_name("attribute") or attribute
            value = self._step(value, name, attribute)
        else:
            self._use(self.place)
            return self._held(value)
        self._use(Place())
        return UNKNOWN

    def _locate(self, value: Reference, base: Node) -> Value:
        path = self.api.locate(value.path)
        if path is None:
            self._lost(value.path, base)
            return UNKNOWN
        if base.type == "identifier" and not self.api.is_module(path):
            self.link = Link(path, base, base, value.access)
        return Reference(path, value.access)

    def _step(self, value: Value, name: Node, attribute: Node) -> Value:
        """Return what an attribute of a value is, and remember the link if it is a public path."""
        if isinstance(value, Reference) and isinstance(held := self.api.held_by(value.path), Instance):
            self._use(Place())
            value = held
        if not isinstance(value, Reference | Instance):
            self._use(Place())
            return UNKNOWN
        found = self.api.member(value.path, text_of(name))
        if found is None:
            self._missing(value, name)
            return UNKNOWN
        access = Access.INDIRECT if isinstance(value, Instance) else value.access
        self.link = None if self.api.is_module(found) else Link(found, name, attribute, access)
        return Reference(found, access)

    def _missing(self, value: Reference | Instance, name: Node) -> None:
        """Note a name that its module or class lacks; what hangs on a function or a constant is not the library's."""
        self._use(Place())
        of_class = isinstance(value, Instance) or self.api.kind(value.path) == SymbolKind.CLASS
        closed = of_class and not self.api.is_open(value.path) and not _is_special(text_of(name))
        if closed or self.api.is_module(value.path):
            self._lost(f"{value.path}.{text_of(name)}", name)

    def _held(self, value: Value) -> Value:
        held = self.api.held_by(value.path) if isinstance(value, Reference) else UNKNOWN
        return value if isinstance(held, Unknown) else held

    def _use(self, place: Place) -> None:
        """Note the link reached so far as a use, once."""
        if link := self.link:
            self.uses.append(
                Use(
                    link.path,
                    text_of(link.token),
                    self.start.start_byte,
                    link.end.end_byte,
                    link.token.start_byte,
                    link.token.end_byte,
                    link.token.start_point.row + 1,
                    link.access,
                    place.form,
                    place.keywords,
                )
            )
        self.link = None

    def _lost(self, path: str, token: Node) -> None:
        text = "".join(text_of(self.start).split())
        chain = text if len(text) <= 80 else f"{text[:79]}…"
        self.unresolved.append(Unresolved(chain, path, token.start_point.row + 1, token.start_byte))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
