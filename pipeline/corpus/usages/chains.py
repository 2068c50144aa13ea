"""Attribute chains: from the value of the first link along public paths to the use that the chain makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Access
from pipeline.corpus.usages.containers import member_of_container
from pipeline.corpus.usages.definitions import attribute_of
from pipeline.corpus.usages.state import State
from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.uses import PLAIN, Unresolved, Use, UseForm
from pipeline.corpus.usages.values import UNKNOWN, Foreign, Instance, LocalClass, LocalObject, Reference, Value


@dataclass(slots=True)
class Link:
    """A link of the chain that resolved: its public path, the token of its name, and where it ends."""

    path: str
    token: Node
    end: int
    access: Access


def name(state: State, node: Node, place: UseForm) -> Value:
    """Evaluate a plain name."""
    value = state.scope.lookup(node.text)
    return follow(state, node, place, value, node, ()) if isinstance(value, Reference) else value


def attribute(state: State, node: Node, place: UseForm) -> Value:
    """Evaluate a chain of attributes."""
    links = []
    base = node
    while base.type == "attribute" and base.children:
        links.append(base)
        base = base.children[0]
    links.reverse()
    value = state.scope.lookup(base.text) if base.type == "identifier" else state.value(base)
    return follow(state, node, place, value, base, links)


def dotted_name(state: State, node: Node, place: UseForm) -> Value:
    """Evaluate a dotted_name, which is how patterns write a chain."""
    if not node.children:
        return UNKNOWN
    base, *links = node.children
    return follow(state, node, place, state.scope.lookup(base.text), base, links)


def follow(state: State, node: Node, place: UseForm, value: Value, base: Node, links: Sequence[Node]) -> Value:
    """Follow the links from a base, note the uses, and return what the whole chain is."""
    if value is UNKNOWN:
        return UNKNOWN
    walk = _Walk(state, node)
    if isinstance(value, Reference):
        value = walk.enter(value, base)
    for link in links:
        if value is UNKNOWN:
            break
        value = walk.step(value, link.children[-1] if link.type == "attribute" else link, link.end)
    walk.use(place if value is not UNKNOWN or not links else PLAIN)
    return walk.held(value)


class _Walk:
    """A walk along one chain; `link` is the last link, as long as it may still be the use that the chain makes."""

    def __init__(self, state: State, start: Node) -> None:
        self.state = state
        self.api = state.api
        self.start = start
        self.link: Link | None = None

    def enter(self, value: Reference, base: Node) -> Value:
        path = self.api.locate(value.path)
        if path is None:
            self._lost(value.path, base)
            return self._hidden(value.path)
        named = base.type == "identifier" and not self.api.is_module(path)
        if named and not (value.assigned and self.api.is_variable(path)):
            self.link = Link(path, base, base.end, value.access)
        return value if path == value.path else Reference(path, value.access, value.assigned)

    def held(self, value: Value) -> Value:
        """Return what an attribute of the library holds, where that is known."""
        if isinstance(value, Reference) and self.api.is_variable(value.path):
            held = self.api.held_by(value.path)
            return value if held is UNKNOWN else held
        return value

    def step(self, value: Value, token: Node, end: int) -> Value:
        """Return what an attribute of a value is, and remember the link if it is a public path."""
        held = self.held(value)
        if held is not value:
            self.use(PLAIN)
            value = held
        if isinstance(value, Reference | Instance):
            return self._of_library(value, token, end)
        self.use(PLAIN)
        if isinstance(value, LocalObject | LocalClass):
            return self._of_local(value, token, end)
        if isinstance(value, Foreign):
            return self._hidden(f"{value.path}.{token.text}")
        return member_of_container(value, token.text)

    def _of_library(self, value: Reference | Instance, token: Node, end: int) -> Value:
        result = self.api.member(value.path, token.text)
        if result is None:
            self.use(PLAIN)
            return self._missing(value, token)
        access = Access.INDIRECT if isinstance(value, Instance) else value.access
        self.link = None if self.api.is_module(result) else Link(result, token, end, access)
        return Reference(result, access)

    def _of_local(self, value: LocalObject | LocalClass, token: Node, end: int) -> Value:
        result = attribute_of(self.state, value, token.text)
        if isinstance(result, Reference) and result.access is Access.INDIRECT and not result.assigned:
            self.link = Link(result.path, token, end, Access.INDIRECT)
        return result

    def _missing(self, value: Reference | Instance, token: Node) -> Value:
        """Note a name that its module or class lacks; what hangs on a function or a constant is not the library's."""
        path = f"{value.path}.{token.text}"
        of_module = isinstance(value, Reference) and self.api.is_module(value.path)
        of_class = isinstance(value, Instance) or self.api.is_class(value.path)
        special = token.text.startswith("__") and token.text.endswith("__")
        if not special and (of_module or (of_class and not self.api.is_open(value.path))):
            self._lost(path, token)
        return self._hidden(path) if of_module else UNKNOWN

    def _hidden(self, path: str) -> Value:
        """Return what stands at a path that is not public: what is defined there may be public elsewhere."""
        if path.partition(".")[0] not in self.api.roots:
            return Foreign(path)
        public = self.api.defined_at(path)
        return Reference(public, assigned=True) if public else Foreign(path)

    def use(self, place: UseForm) -> None:
        """Note the link reached so far as a use, once."""
        link, self.link = self.link, None
        if link is None or not self.state.recording:
            return
        token = link.token
        line = self.state.source.line_of(token.start)
        self.state.uses.append(
            Use(
                link.path,
                token.text,
                self.start.start,
                link.end,
                token.start,
                token.end,
                line,
                link.access,
                place.form,
                place.keywords,
            )
        )

    def _lost(self, path: str, token: Node) -> None:
        if self.state.recording:
            text = "".join(self.state.source.text(self.start).split())
            chain = text if len(text) <= 80 else f"{text[:79]}…"
            self.state.unresolved.append(Unresolved(chain, path, self.state.source.line_of(token.start), token.start))
