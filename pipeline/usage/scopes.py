"""Scopes and the names that they bind, by Python's rules (language reference, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from tree_sitter import Node

from pipeline.usage.values import UNKNOWN, Value, join

DEFINITIONS = frozenset({"function_definition", "class_definition"})
COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)


class ScopeKind(Enum):
    """What opened a scope."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    COMPREHENSION = auto()


@dataclass(slots=True)
class Scope:
    """The names of one scope: `now` at the point reached, `ever` over its whole life.

    Code that runs at once sees `now`; the bodies of functions run later and see `ever`. `volatile` names are rebound
    by a function through global or nonlocal, at a time that nobody knows, so that nothing is claimed about them.
    """

    kind: ScopeKind
    parent: Scope | None = None
    local: frozenset[str] = frozenset()
    declared_global: frozenset[str] = frozenset()
    declared_nonlocal: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset()
    owner: int = 0
    methods: list[tuple[Node, bool]] = field(default_factory=list)
    now: dict[str, Value] = field(default_factory=dict)
    ever: dict[str, Value] = field(default_factory=dict)

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value from here on."""
        if name in self.volatile and name not in self.declared_global | self.declared_nonlocal:
            value = UNKNOWN
        self.now[name] = value
        self.ever[name] = join(self.ever[name], value) if name in self.ever else value

    def lookup(self, name: str) -> Value:
        """Return the value of a name for code that runs at this point of this scope."""
        if name in self.now:
            return self.now[name]
        if self.parent is None or name in self.local:
            return UNKNOWN
        if self.kind is ScopeKind.FUNCTION:
            return self.parent.lookup_later(name, from_global=name in self.declared_global)
        if self.kind is ScopeKind.COMPREHENSION and self.parent.kind is ScopeKind.CLASS and self.parent.parent:
            return self.parent.parent.lookup(name)
        return self.parent.lookup(name)

    def lookup_later(self, name: str, *, from_global: bool = False) -> Value:
        """Return the value of a name for the body of a function that stands in this scope."""
        if self.parent is None:
            return self.ever.get(name, UNKNOWN)
        if self.kind is ScopeKind.CLASS or from_global:
            return self.parent.lookup_later(name, from_global=from_global)
        if name in self.declared_global:
            return self.parent.lookup_later(name, from_global=True)
        if name in self.ever or name in self.local:
            return self.ever.get(name, UNKNOWN)
        return self.parent.lookup_later(name)


def walk(node: Node, *, into_scopes: bool) -> Iterator[Node]:
    """Yield a node and what is below it, without the inside of definitions and lambdas unless so asked."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        closed = current.type in DEFINITIONS or current.type == "lambda"
        if into_scopes or current is node or not closed:
            stack.extend(reversed(current.named_children))


def depth_of(node: Node) -> int:
    """Return how deep a tree is, without recursion."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for parent in level for child in parent.children]
    return deepest


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "surrogatepass")


def declared(body: Node, statement: str) -> frozenset[str]:
    """Return the names in the global_statement or nonlocal_statement nodes of a scope's body."""
    nodes = (node for node in walk(body, into_scopes=False) if node.type == statement)
    return frozenset(text_of(name) for node in nodes for name in node.named_children)


def bound_names(body: Node) -> frozenset[str]:
    """Return the names that the statements below a node bind in its own scope."""
    names: set[str] = set()
    for node in walk(body, into_scopes=False):
        names.update(_bound_by(node))
    return frozenset(names)


def _bound_by(node: Node) -> Iterator[str]:
    match node.type:
        case "assignment" | "augmented_assignment" | "for_statement":
            yield from target_names(node.child_by_field_name("left"))
        case "named_expression":
            yield from target_names(node.child_by_field_name("name"))
        case "function_definition" | "class_definition":
            yield from target_names(node.child_by_field_name("name"))
        case "as_pattern_target" | "delete_statement" | "case_pattern":
            for child in node.named_children:
                yield from target_names(child)
        case "import_statement" | "import_from_statement":
            yield from (bound for bound, _ in imported(node))


def target_names(target: Node | None) -> Iterator[str]:
    """Yield the plain names of an assignment target or pattern."""
    if target is None or target.type in {"attribute", "subscript", "call", "string"}:
        return
    if target.type == "identifier":
        yield text_of(target)
    elif target.type == "dotted_name":
        if len(target.named_children) == 1:
            yield text_of(target)
    elif target.type in {"class_pattern", "keyword_pattern"}:
        for child in target.named_children[1:]:
            yield from target_names(child)
    else:
        for child in target.named_children:
            yield from target_names(child)


def imported(node: Node) -> Iterator[tuple[str, str]]:
    """Yield (name bound, dotted path meant) of an import; a relative import means a path that starts with a dot."""
    module = node.child_by_field_name("module_name")
    for name in node.children_by_field_name("name"):
        path = name.child_by_field_name("name") or name
        alias = name.child_by_field_name("alias")
        dotted = "".join(text_of(path).split())
        if module is not None:
            yield text_of(alias or path), f"{''.join(text_of(module).split())}.{dotted}"
        elif alias is not None:
            yield text_of(alias), dotted
        else:
            yield dotted.partition(".")[0], dotted.partition(".")[0]
