"""What an expression is, as far as the library is concerned, and the uses that evaluating it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tree_sitter import Node

from pipeline.terms import UsageForm
from pipeline.usage.api import Api
from pipeline.usage.bindings import Bindings
from pipeline.usage.chains import Place, Walk
from pipeline.usage.scopes import COMPREHENSIONS, Scope, ScopeKind, bound_names, target_names, text_of
from pipeline.usage.values import NOTHING, UNKNOWN, Instance, Receiver, Reference, Value, element_of, join


class Expressions(Bindings):
    """Evaluates expressions in the scope of the moment, and notes the uses it meets while `recording`."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._placed: dict[str, Callable[[Node, Place | None], Value]] = {
            "call": self._call,
            "subscript": self._subscript,
            **dict.fromkeys(("type", "parenthesized_expression", "await", "expression_statement"), self._inside),
        }
        self._plain: dict[str, Callable[[Node], Value]] = {
            "none": lambda node: NOTHING,
            "keyword_argument": lambda node: self.value(node.child_by_field_name("value")),
            "as_pattern": self._as,
            "lambda": self._lambda,
            **dict.fromkeys(("assignment", "augmented_assignment", "named_expression"), self._assignment),
            **dict.fromkeys(("conditional_expression", "boolean_operator"), self._either),
            **dict.fromkeys(COMPREHENSIONS, self._comprehension),
        }

    def value(self, node: Node | None, place: Place | None = None) -> Value:
        """Evaluate an expression; `place` tells how it stands in the code around it."""
        if node is None:
            return UNKNOWN
        if node.type in {"identifier", "attribute"}:
            return self._chain(node, place or Place())
        if placed := self._placed.get(node.type):
            return placed(node, place)
        if evaluate := self._plain.get(node.type):
            return evaluate(node)
        return self._all(node.named_children)

    def _all(self, nodes: Iterable[Node]) -> Value:
        for node in nodes:
            self.value(node)
        return UNKNOWN

    def _inside(self, node: Node, place: Place | None) -> Value:
        children = [child for child in node.named_children if child.type != "comment"]
        return self.value(children[0], place) if len(children) == 1 else self._all(children)

    def _either(self, node: Node) -> Value:
        """Evaluate `a if c else b`, `a or b`, `a and b`: the value where both sides agree."""
        values = [self.value(child) for child in node.named_children if child.type != "comment"]
        if node.type == "conditional_expression" and len(values) == 3:
            values.pop(1)
        return join(values[0], values[1]) if len(values) == 2 else UNKNOWN

    def _subscript(self, node: Node, place: Place | None) -> Value:
        of = node.child_by_field_name("value")
        base = place if place and place.form is UsageForm.BASE else None
        value = self.value(of, base)
        self._all(child for child in node.named_children if of is None or child.id != of.id)
        single = "slice" not in {child.type for child in node.named_children}
        return element_of(value) if single else UNKNOWN

    def _chain(self, node: Node, place: Place) -> Value:
        """Evaluate a name or a chain of attributes."""
        links: list[Node] = []
        base = node
        while base.type == "attribute" and (inner := base.child_by_field_name("object")):
            links.append(base)
            base = inner
        links.reverse()
        value = self.scope.lookup(text_of(base)) if base.type == "identifier" else self.value(base)
        if isinstance(value, Receiver) and links:
            base = links.pop(0)
            name = base.child_by_field_name("attribute")
            value = self.attributes.get((value.owner, text_of(name)), UNKNOWN) if name else UNKNOWN
        return self._follow(node, place, value, base, links)

    def value_of_dotted(self, node: Node) -> Value:
        """Evaluate a dotted_name, which is how patterns write a chain."""
        base, *links = node.named_children
        return self._follow(node, Place(), self.scope.lookup(text_of(base)), base, links)

    def _follow(self, node: Node, place: Place, value: Value, base: Node, links: Sequence[Node]) -> Value:
        walk = Walk(self.api, node, place)
        result = walk.run(value, base, links)
        if self.recording:
            self.uses += walk.uses
            self.unresolved += walk.unresolved
        return result

    def _call(self, node: Node, place: Place | None) -> Value:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        passed = [a for a in (arguments.named_children if arguments else []) if a.type == "keyword_argument"]
        names = [a.child_by_field_name("name") for a in passed]
        form = place.form if place and place.form is UsageForm.DECORATOR else UsageForm.CALL
        called = self.value(function, Place(form, tuple(text_of(name) for name in names if name)))
        self.value(arguments)
        return self.api.result_of_call(called.path) if isinstance(called, Reference) else UNKNOWN

    def decorator(self, node: Node) -> None:
        """Evaluate what stands after the @ of a decorator."""
        self._inside(node, Place(UsageForm.DECORATOR))

    def bases(self, arguments: Node | None) -> None:
        """Evaluate the bases and keywords in the head of a class."""
        for argument in arguments.named_children if arguments else []:
            self.value(argument, Place(UsageForm.BASE))

    def _assignment(self, node: Node) -> Value:
        target = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        annotation = node.child_by_field_name("type")
        value = self.value(right)
        stated = self.stated_by(annotation)
        if right is None and stated == UNKNOWN:
            return UNKNOWN
        if node.type == "augmented_assignment":
            self.value(target)
            value = UNKNOWN
        self.assign(target, value if stated == UNKNOWN else stated, right)
        return value

    def _as(self, node: Node) -> Value:
        """Evaluate `value as target`: a context manager of a class gives itself, an except clause an object."""
        value = self.value(node.named_children[0]) if node.named_children else UNKNOWN
        if node.parent is not None and node.parent.type.startswith("except"):
            value = self.api.result_of_call(value.path) if isinstance(value, Reference) else UNKNOWN
        elif not isinstance(value, Instance):
            value = element_of(value)
        if alias := node.child_by_field_name("alias"):
            for child in alias.named_children:
                self.assign(child, value)
        return value

    def _lambda(self, node: Node) -> Value:
        """Evaluate the defaults now and the body later, as Python does."""
        parameters = self.parameters(node.child_by_field_name("parameters"))
        where = self.scope
        if self.recording:
            self.waiting.append(lambda: self._lambda_body(node.child_by_field_name("body"), where, parameters))
        return UNKNOWN

    def _lambda_body(self, body: Node | None, where: Scope, parameters: dict[str, Value]) -> None:
        local = frozenset(parameters) | (bound_names(body) if body else frozenset())
        self.scope = Scope(ScopeKind.FUNCTION, where, local, volatile=where.volatile)
        for name, value in parameters.items():
            self.scope.bind(name, value)
        self.value(body)

    def _comprehension(self, node: Node) -> Value:
        """Evaluate a comprehension; its first iterable belongs to the scope around it."""
        outer = self.scope
        clauses = [child for child in node.named_children if child.type in {"for_in_clause", "if_clause"}]
        inner = Scope(ScopeKind.COMPREHENSION, outer, volatile=outer.volatile)
        for position, clause in enumerate(clauses):
            self.scope = inner if position else outer
            self._clause(clause, inner)
        self.scope = inner
        self.value(node.child_by_field_name("body"))
        self.scope = outer
        return UNKNOWN

    def _clause(self, clause: Node, inner: Scope) -> None:
        if clause.type == "if_clause":
            self._all(clause.named_children)
            return
        item = element_of(self.value(clause.child_by_field_name("right")))
        left = clause.child_by_field_name("left")
        for name in target_names(left):
            inner.bind(name, item if left is not None and left.type == "identifier" else UNKNOWN)
