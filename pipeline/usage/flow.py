"""The walk over a syntax tree in the order in which Python would run it: statements, branches and scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from pipeline.usage.api import Api
from pipeline.usage.expressions import Expressions
from pipeline.usage.scopes import (
    DEFINITIONS,
    Scope,
    ScopeKind,
    bound_names,
    declared,
    imported,
    target_names,
    text_of,
    walk,
)
from pipeline.usage.values import UNKNOWN, Receiver, Reference, Value, element_of, merge

_BLOCKS = frozenset({"block", "with_statement", "with_clause", "ERROR", "else_clause", "finally_clause"})


class Flow(Expressions):
    """Runs the statements of one source; the bodies of functions wait until the code around them is done."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.method_parameters: dict[int, dict[str, Value]] = {}
        self.volatile: frozenset[str] = frozenset()
        self.handlers: dict[str, Callable[[Node], None]] = {
            "import_statement": self._import,
            "import_from_statement": self._import_from,
            "function_definition": self._function,
            "class_definition": self._class,
            "decorated_definition": self._decorated,
            "for_statement": self._for,
            "while_statement": self._while,
            "if_statement": self._if,
            "try_statement": self._try,
            "with_item": lambda node: self._discard(node.child_by_field_name("value")),
            "match_statement": self._match,
            "delete_statement": self._delete,
            "global_statement": lambda node: None,
            "nonlocal_statement": lambda node: None,
        }

    def run(self, root: Node) -> None:
        """Walk a whole source."""
        self.volatile = _rebound_elsewhere(root)
        self.scope = Scope(ScopeKind.MODULE, volatile=self.volatile)
        self.block(root.named_children)
        while self.waiting:
            self.waiting.popleft()()

    def block(self, nodes: Iterable[Node]) -> None:
        """Run statements in order."""
        for node in nodes:
            self.statement(node)

    def statement(self, node: Node) -> None:
        """Run one statement; what is not a statement of its own kind is looked through for those inside it."""
        if handler := self.handlers.get(node.type):
            handler(node)
        elif node.type in _BLOCKS:
            self.block(node.named_children)
        else:
            self.value(node)

    def _import(self, node: Node) -> None:
        for name, path in imported(node):
            self._bind_import(name, path)

    def _import_from(self, node: Node) -> None:
        if any(child.type == "wildcard_import" for child in node.named_children):
            self._import_all(node)
        for name, path in imported(node):
            self._bind_import(name, path)

    def _bind_import(self, name: str, path: str) -> None:
        known = path.partition(".")[0] in self.api.roots
        self.scope.bind(name, Reference(path) if known else UNKNOWN)

    def _import_all(self, node: Node) -> None:
        """Bind what a star import brings; one of another library may hide any name, so none is trusted after it."""
        module = node.child_by_field_name("module_name")
        path = self.api.locate("".join(text_of(module).split())) if module else None
        if path is None:
            for name in self.scope.now:
                self.scope.bind(name, UNKNOWN)
        for name in self.api.exported(path) if path else ():
            self.scope.bind(name, Reference(f"{path}.{name}"))

    def _decorated(self, node: Node) -> None:
        for decorator in node.named_children:
            if decorator.type == "decorator":
                self.decorator(decorator)
        if definition := node.child_by_field_name("definition"):
            self.statement(definition)

    def _function(self, node: Node) -> None:
        parameters = self.parameters(node.child_by_field_name("parameters"))
        if returns := node.child_by_field_name("return_type"):
            self.value(returns)
        self.scope.bind(_name_of(node), UNKNOWN)
        where = self.scope
        if where.kind is ScopeKind.CLASS:
            where.methods.append((node, _takes_receiver(node)))
            self.method_parameters[node.id] = parameters
        elif self.recording:
            self.waiting.append(lambda: self._body(node, where, parameters))

    def _body(self, node: Node, where: Scope, parameters: dict[str, Value]) -> None:
        """Run the body of a function in a scope of its own."""
        body = node.child_by_field_name("body")
        if body is None:
            return
        shared, outer = declared(body, "global_statement"), declared(body, "nonlocal_statement")
        local = (bound_names(body) | set(parameters)) - shared - outer
        self.scope = Scope(ScopeKind.FUNCTION, where, local, shared, outer, self.volatile)
        for name, value in parameters.items():
            self.scope.bind(name, value)
        self.block(body.named_children)

    def _class(self, node: Node) -> None:
        self.bases(node.child_by_field_name("superclasses"))
        outer = self.scope
        inner = Scope(ScopeKind.CLASS, outer, volatile=self.volatile, owner=node.start_byte)
        self.scope = inner
        if body := node.child_by_field_name("body"):
            self.block(body.named_children)
        self.scope = outer
        outer.bind(_name_of(node), UNKNOWN)
        if self.recording:
            self.waiting.append(lambda: self._methods(inner))

    def _methods(self, where: Scope) -> None:
        """Run a class's methods twice: first to learn what self's attributes hold, then to note the uses."""
        for recording in (False, True):
            self.recording = recording
            for node, takes_receiver in where.methods:
                parameters = dict(self.method_parameters[node.id])
                if takes_receiver and parameters:
                    parameters[next(iter(parameters))] = Receiver(where.owner)
                self._body(node, where, parameters)

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        item = element_of(self.value(right))
        self._loop(node, lambda: self.assign(left, item))

    def _while(self, node: Node) -> None:
        self._loop(node, lambda: self.value(node.child_by_field_name("condition")))

    def _loop(self, node: Node, head: Callable[[], object]) -> None:
        """Run a loop's body once; a name that the body rebinds may hold anything when a round begins."""
        before = dict(self.scope.now)
        for name in bound_names(node) & self.scope.now.keys():
            self.scope.now[name] = UNKNOWN
        head()
        if body := node.child_by_field_name("body"):
            self.statement(body)
        self.scope.now = merge(before, self.scope.now)
        if alternative := node.child_by_field_name("alternative"):
            self.statement(alternative)

    def _if(self, node: Node) -> None:
        self.value(node.child_by_field_name("condition"))
        ends = [self._branch(node.child_by_field_name("consequence"))]
        exhaustive = False
        for clause in node.children_by_field_name("alternative"):
            if clause.type == "elif_clause":
                self.value(clause.child_by_field_name("condition"))
                ends.append(self._branch(clause.child_by_field_name("consequence")))
            else:
                ends.append(self._branch(clause))
                exhaustive = True
        self._join(ends if exhaustive else [*ends, self.scope.now])

    def _branch(self, node: Node | None, run: Callable[[Node], None] | None = None) -> dict[str, Value]:
        """Run one of several branches and return the names at its end; the names here stay as they are."""
        before = self.scope.now
        self.scope.now = dict(before)
        if node is not None:
            (run or self.statement)(node)
        end, self.scope.now = self.scope.now, before
        return end

    def _join(self, ends: list[dict[str, Value]]) -> None:
        joined = ends[0]
        for end in ends[1:]:
            joined = merge(joined, end)
        self.scope.now = dict(joined)

    def _try(self, node: Node) -> None:
        """Run the body; a handler starts anywhere between its beginning and its end."""
        before = dict(self.scope.now)
        if body := node.child_by_field_name("body"):
            self.statement(body)
        after = self.scope.now
        self.scope.now = merge(before, after)
        clauses = [child for child in node.named_children if child.type.endswith("_clause")]
        ends = [self._branch(c, self._handler) for c in clauses if c.type.startswith("except")]
        self.scope.now = after
        for clause in (c for c in clauses if c.type == "else_clause"):
            self.statement(clause)
        self._join([self.scope.now, *ends])
        for clause in (c for c in clauses if c.type == "finally_clause"):
            self.statement(clause)

    def _handler(self, clause: Node) -> None:
        for child in clause.named_children:
            if child.type == "block":
                self.statement(child)
            else:
                self.value(child)

    def _discard(self, node: Node | None) -> None:
        self.value(node)

    def _match(self, node: Node) -> None:
        for subject in node.children_by_field_name("subject"):
            self.value(subject)
        body = node.child_by_field_name("body")
        cases = body.named_children if body else []
        ends = [self._branch(case, self._case) for case in cases]
        self._join([self.scope.now, *ends])

    def _case(self, clause: Node) -> None:
        for child in clause.named_children:
            if child.type == "case_pattern":
                self.pattern(child)
            elif child.type == "block":
                self.statement(child)
            else:
                self.value(child)

    def _delete(self, node: Node) -> None:
        for child in node.named_children:
            for name in target_names(child):
                self.scope.bind(name, UNKNOWN)
            if child.type not in {"identifier", "expression_list"}:
                self.value(child)


def _name_of(node: Node) -> str:
    name = node.child_by_field_name("name")
    return text_of(name) if name else ""


def _takes_receiver(node: Node) -> bool:
    """Tell whether a function of a class gets the object as its first parameter."""
    around = node.parent
    decorators = around.named_children[:-1] if around and around.type == "decorated_definition" else []
    return not any(text_of(d).lstrip("@").strip() in {"staticmethod", "classmethod"} for d in decorators)


def _rebound_elsewhere(root: Node) -> frozenset[str]:
    """Return the names that some function rebinds in a scope around it, through global or nonlocal."""
    names: set[str] = set()
    for node in walk(root, into_scopes=True):
        body = node.child_by_field_name("body") if node.type in DEFINITIONS else None
        if body is not None:
            shared = declared(body, "global_statement") | declared(body, "nonlocal_statement")
            names |= shared & bound_names(body) if shared else frozenset()
    return frozenset(names)
