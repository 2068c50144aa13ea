"""Scopes and the names that they bind, by Python's rules (language reference, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.values import UNKNOWN, Foreign, Value, join

COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
BUILTINS: dict[str, Value] = {
    name: Foreign(f"builtins.{name}")
    for name in (
        *("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "next", "enumerate", "zip", "super"),
        *("isinstance", "type", "property", "classmethod", "staticmethod", "min", "max", "filter"),
    )
}
"""Builtins whose result says something, as far as no scope binds their name."""


class ScopeKind(Enum):
    """What opened a scope."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    COMPREHENSION = auto()


@dataclass(slots=True, eq=False)
class Volatile:
    """Names that some function rebinds in a scope around it, at a time that nobody knows, so that all values count.

    `observed` is what they were bound to in this walk, `settled` in an earlier one.
    """

    by_global: frozenset[str] = frozenset()
    by_nonlocal: frozenset[str] = frozenset()
    settled: dict[str, Value] = field(default_factory=dict)
    observed: dict[str, Value] = field(default_factory=dict)


NOT_VOLATILE = Volatile()


@dataclass(slots=True)
class Scope:
    """The names of one scope: `now` at the point reached, `ever` over its whole life.

    Code that runs at once sees `now`; the bodies of functions run later and see `ever`.
    """

    kind: ScopeKind
    parent: Scope | None = None
    local: frozenset[str] = frozenset()
    declared_global: frozenset[str] = frozenset()
    declared_nonlocal: frozenset[str] = frozenset()
    volatile: Volatile = NOT_VOLATILE
    owner: int = 0
    binders: list[Node] = field(default_factory=list)
    now: dict[str, Value] = field(default_factory=dict)
    replaced: list[dict[str, Value | None]] = field(default_factory=list)
    """What `now` had before, for each branch that is being run; None where it had nothing."""
    ever: dict[str, Value] = field(default_factory=dict)

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value from here on."""
        if self._is_volatile(name):
            observed = self.volatile.observed
            observed[name] = join(observed[name], value) if name in observed else value
            value = self.volatile.settled.get(name, UNKNOWN)
        self.set(name, value)
        self.ever[name] = join(self.ever[name], value) if name in self.ever else value

    def set(self, name: str, value: Value) -> None:
        """Say what a name is for the code that follows, without its being bound to it."""
        if self.replaced and name not in self.replaced[-1]:
            self.replaced[-1][name] = self.now.get(name)
        self.now[name] = value

    def begin(self) -> None:
        """Begin a branch."""
        self.replaced.append({})

    def end(self) -> dict[str, Value]:
        """End the branch begun last: return what it changed, and be as before it; costs what it changed."""
        changed = {}
        for name, before in self.replaced.pop().items():
            changed[name] = self.now[name]
            if before is None:
                del self.now[name]
            else:
                self.now[name] = before
        return changed

    def _is_volatile(self, name: str) -> bool:
        of_module = self.parent is None or name in self.declared_global
        return (of_module and name in self.volatile.by_global) or name in self.volatile.by_nonlocal

    def lookup(self, name: str) -> Value:
        """Return the value of a name for code that runs at this point of this scope."""
        if name in self.now:
            return self.now[name]
        if name in self.local:
            return UNKNOWN
        if self.parent is None:
            return self.volatile.settled.get(name, BUILTINS.get(name, UNKNOWN))
        if self.kind is ScopeKind.FUNCTION:
            return self.parent.lookup_later(name, from_global=name in self.declared_global)
        if self.kind is ScopeKind.COMPREHENSION and self.parent.kind is ScopeKind.CLASS and self.parent.parent:
            return self.parent.parent.lookup(name)
        return self.parent.lookup(name)

    def lookup_later(self, name: str, *, from_global: bool = False) -> Value:
        """Return the value of a name for the body of a function that stands in this scope."""
        if self.parent is None:
            return self.ever[name] if name in self.ever else self.lookup(name)
        if self.kind is ScopeKind.CLASS or from_global:
            return self.parent.lookup_later(name, from_global=from_global)
        if name in self.declared_global:
            return self.parent.lookup_later(name, from_global=True)
        if name in self.ever or name in self.local:
            return self.ever.get(name, UNKNOWN)
        return self.parent.lookup_later(name)


@dataclass(slots=True)
class Names:
    """What one walk over the body of a scope tells: the names it binds and declares, and what else it does."""

    bound: set[str] = field(default_factory=set)
    declared_global: set[str] = field(default_factory=set)
    declared_nonlocal: set[str] = field(default_factory=set)
    sets_attributes: bool = False
    gives: bool = False
    """Whether it returns or yields anything."""

    yields: bool = False


def names_of(binders: Iterable[Node]) -> Names:
    """Return what nodes that bind names of a scope bind and declare."""
    names = Names()
    for node in binders:
        kind = node.type
        if kind == "global_statement":
            names.declared_global.update(child.text for child in node.children)
        elif kind == "nonlocal_statement":
            names.declared_nonlocal.update(child.text for child in node.children)
        elif kind == "yield":
            names.gives = names.yields = True
        elif kind == "return_statement":
            names.gives |= bool(node.children)
        elif kind in {"assignment", "augmented_assignment"}:
            target = node.get("left")
            names.bound.update(target_names(target))
            names.sets_attributes |= target is not None and target.type != "identifier"
        else:
            names.bound.update(_bound_by(node))
            # The target of `with … as self.x` and `for self.x in …`.
            names.sets_attributes |= kind in {"as_pattern", "for_statement"}
    return names


def _bound_by(node: Node) -> Iterator[str]:
    match node.type:
        case "for_statement":
            yield from target_names(node.get("left"))
        case "named_expression" | "function_definition" | "class_definition":
            yield from target_names(node.get("name"))
        case "as_pattern":
            for child in node.children[1:]:
                yield from target_names(child)
        case "delete_statement" | "case_pattern":
            for child in node.children:
                yield from target_names(child)
        case "import_statement" | "import_from_statement":
            yield from (bound for bound, _ in imported(node))


def target_names(target: Node | None) -> Iterator[str]:
    """Yield the plain names of an assignment target or pattern."""
    waiting = [target] if target else []
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield node.text
        elif node.type == "dotted_name":
            if len(node.children) == 1:
                yield node.children[0].text
        elif node.type in {"class_pattern", "keyword_pattern"}:
            waiting += node.children[:0:-1]
        elif node.type not in {"attribute", "subscript", "call", "string"}:
            waiting += node.children[::-1]


def imported(node: Node) -> Iterator[tuple[str, str]]:
    """Yield (name bound, dotted path meant) of an import; a relative import means a path that starts with a dot."""
    module = node.get("module_name")
    for name in node.all("name"):
        path, alias = name.get("name") or name, name.get("alias")
        dotted = dotted_path(path)
        if node.type == "import_from_statement":
            yield alias.text if alias else dotted, f"{dotted_path(module) if module else '.'}.{dotted}"
        elif alias is not None:
            yield alias.text, dotted
        else:
            yield dotted.partition(".")[0], dotted.partition(".")[0]


def dotted_path(node: Node) -> str:
    """Return the path that a dotted name writes, with a dot before it where it is relative."""
    if node.type == "relative_import":
        return "." + ".".join(dotted_path(child) for child in node.children if child.type == "dotted_name")
    return ".".join(child.text for child in node.children) if node.children else node.text
