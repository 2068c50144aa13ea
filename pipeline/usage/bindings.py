"""What binds a name or an attribute: assignment targets, parameters, patterns and annotations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from tree_sitter import Node

from pipeline.terms import SymbolKind
from pipeline.usage.annotations import read_annotation
from pipeline.usage.api import Api
from pipeline.usage.chains import Place, Unresolved, Use
from pipeline.usage.scopes import Scope, ScopeKind, target_names, text_of
from pipeline.usage.values import UNKNOWN, Elements, Instance, Receiver, Reference, Value, join

_SEQUENCES = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"})
_NESTED = _SEQUENCES | {"list_splat_pattern", "list_splat", "parenthesized_expression", "as_pattern_target"}


class Bindings(ABC):
    """The state of a walk over one source: the scope of the moment, what was noted, and what waits to be run."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.scope = Scope(ScopeKind.MODULE)
        self.recording = True
        self.uses: list[Use] = []
        self.unresolved: list[Unresolved] = []
        self.waiting: deque[Callable[[], None]] = deque()
        self.attributes: dict[tuple[int, str], Value] = {}

    @abstractmethod
    def value(self, node: Node | None, place: Place | None = None) -> Value:
        """Evaluate an expression; `place` tells how it stands in the code around it."""

    def assign(self, target: Node | None, value: Value, right: Node | None = None) -> None:
        """Bind a target; two sequences of the same length are bound pairwise."""
        if target is None:
            return
        if target.type == "identifier":
            self._holder().bind(text_of(target), value)
        elif target.type == "attribute":
            self._assign_attribute(target, value)
        elif target.type in _NESTED:
            self._assign_each(target, right)
        else:
            self.value(target)

    def _assign_each(self, target: Node, right: Node | None) -> None:
        parts = target.named_children
        sources = right.named_children if right is not None and right.type in _SEQUENCES else []
        starred = any("splat" in node.type for node in [*parts, *sources])
        if target.type in _SEQUENCES and len(parts) == len(sources) and not starred:
            # A second evaluation notes the same uses again, which are one use each in the end.
            values = [self.value(source) for source in sources]
        else:
            values = [UNKNOWN] * len(parts)
        for part, value in zip(parts, values, strict=True):
            self.assign(part, value)

    def _assign_attribute(self, target: Node, value: Value) -> None:
        holder, name = target.child_by_field_name("object"), target.child_by_field_name("attribute")
        receiver = self.scope.lookup(text_of(holder)) if holder and holder.type == "identifier" else UNKNOWN
        if isinstance(receiver, Receiver) and name:
            key = (receiver.owner, text_of(name))
            self.attributes[key] = join(self.attributes[key], value) if key in self.attributes else value
        else:
            self.value(target)

    def _holder(self) -> Scope:
        """Return the scope that an assignment binds in; comprehensions pass a walrus on to the one around them."""
        scope = self.scope
        while scope.kind is ScopeKind.COMPREHENSION and scope.parent:
            scope = scope.parent
        return scope

    def parameters(self, node: Node | None) -> dict[str, Value]:
        """Evaluate defaults and annotations, and return what is known of each parameter, in order."""
        found: dict[str, Value] = {}
        for parameter in node.named_children if node else []:
            annotation = parameter.child_by_field_name("type")
            self.value(parameter.child_by_field_name("value"))
            stated = self.stated_by(annotation)
            target = parameter.child_by_field_name("name") or parameter
            if target.type == "typed_parameter":
                target = target.named_children[0]
            for name in target_names(target):
                found[name] = stated if target.type == "identifier" else UNKNOWN
        return found

    def stated_by(self, annotation: Node | None) -> Value:
        """Return what an annotation in the source says of a value."""
        if annotation is None:
            return UNKNOWN
        self.value(annotation)
        stated = read_annotation(text_of(annotation))
        first, _, rest = stated.name.partition(".") if stated else ("", "", "")
        value = self.scope.lookup(first)
        if stated is None or not isinstance(value, Reference):
            return UNKNOWN
        path = self.api.locate(f"{value.path}.{rest}" if rest else value.path)
        if path is None or self.api.kind(path) != SymbolKind.CLASS:
            return UNKNOWN
        if stated.is_class:
            return Reference(path)
        return Elements(self.api.preferred(path)) if stated.many else Instance(self.api.preferred(path))

    def pattern(self, node: Node) -> None:
        """Bind the captures of a match pattern, and evaluate the classes and constants that it names."""
        if node.type == "dotted_name":
            self._named_in_pattern(node)
            return
        children = node.named_children
        if node.type == "class_pattern" and children:
            self.value_of_dotted(children[0])
            children = children[1:]
        elif node.type == "keyword_pattern":
            children = children[1:]
        for child in children:
            if child.type == "identifier":
                self.scope.bind(text_of(child), UNKNOWN)
            else:
                self.pattern(child)

    def _named_in_pattern(self, node: Node) -> None:
        if len(node.named_children) == 1:
            self.scope.bind(text_of(node), UNKNOWN)
        else:
            self.value_of_dotted(node)

    @abstractmethod
    def value_of_dotted(self, node: Node) -> Value:
        """Evaluate a dotted_name, which is how patterns write a chain."""
