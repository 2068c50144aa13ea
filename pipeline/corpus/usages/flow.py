"""The walk over a syntax tree in the order in which Python would run it: statements, definitions and scopes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.bindings import annotated_value, parameters, typed_by_comment
from pipeline.corpus.usages.branches import BRANCHES
from pipeline.corpus.usages.definitions import result_of_value, run_body, value_of_definition
from pipeline.corpus.usages.scopes import Scope, ScopeKind, Volatile, dotted_path, imported, target_names
from pipeline.corpus.usages.state import ClassInfo, FunctionInfo, Perform, State
from pipeline.corpus.usages.syntax import DEFINITIONS, Node, walk
from pipeline.corpus.usages.uses import UseForm
from pipeline.corpus.usages.values import NOTHING, UNKNOWN, Calling, Foreign, LocalClass, Reference, Value, join

_FIXTURE = frozenset({"fixture", "yield_fixture"})


def run(state: State, volatile: Volatile) -> None:
    """Walk a whole source; the bodies of functions wait until the code around them is done."""
    state.scope = Scope(ScopeKind.MODULE, volatile=volatile, binders=state.source.root.binders)
    for statement in state.source.root.children:
        _at_any_depth(state, partial(state.perform, statement))
    while state.waiting:
        _at_any_depth(state, state.waiting.popleft())


def _at_any_depth(state: State, walk_on: Callable[[], None]) -> None:
    """Walk on; what nests so deep in a way that is not counted (targets, patterns) ends this part of the walk."""
    try:
        walk_on()
    except RecursionError:
        state.too_deep = True
        state.depth = 0


def _block(state: State, node: Node) -> None:
    for child in node.children:
        state.perform(child)


def _import(state: State, node: Node) -> None:
    for name, path in imported(node):
        _bind_import(state, name, path)


def _import_from(state: State, node: Node) -> None:
    if any(child.type == "wildcard_import" for child in node.children):
        _import_all(state, node)
    for name, path in imported(node):
        _bind_import(state, name, path)


def _bind_import(state: State, name: str, path: str) -> None:
    is_own = path.partition(".")[0] in state.api.roots
    state.scope.bind(name, Reference(path) if is_own else Foreign(path))


def _import_all(state: State, node: Node) -> None:
    """Bind what a star import brings; one of another library may hide what another star import brought."""
    module = node.get("module_name")
    written = dotted_path(module) if module else "."
    path = state.api.locate(written)
    if path is None:
        for name in state.starred & state.scope.now.keys():
            state.scope.bind(name, UNKNOWN)
        return
    for name in state.api.exported(path):
        state.starred.add(name)
        state.scope.bind(name, Reference(f"{path}.{name}"))


def _decorated(state: State, node: Node) -> None:
    decorators = [child for child in node.children if child.type == "decorator" and child.children]
    values = [state.value(decorator.children[0], UseForm(UsageForm.DECORATOR)) for decorator in decorators]
    definition = node.get("definition")
    if definition is None:
        return
    if definition.type == "function_definition":
        _function(state, definition, [_decorator_name(state, d, v) for d, v in zip(decorators, values, strict=True)])
        decorated = _decorator_result(state, decorators, values)
        if decorated is not None and (name := definition.get("name")):
            state.scope.bind(name.text, decorated)
    else:
        state.perform(definition)


def _decorator_name(state: State, decorator: Node, value: Value) -> str:
    """Return the dotted name of a decorator, without what it is called with."""
    if isinstance(value, Foreign):
        return value.path
    return re.split(r"[(\s]", state.source.text(decorator).lstrip("@ "))[0]


def _decorator_result(state: State, decorators: list[Node], values: list[Value]) -> Value | None:
    """Return what the outermost decorator makes of a function where the library says so, else None."""
    if not values or not isinstance(values[0], Reference | Calling):
        return None
    result = result_of_value(state, values[0])
    if isinstance(result, Calling) and decorators[0].children[0].type != "call":
        result = result.result
    return result if result is not UNKNOWN else None


def _function(state: State, node: Node, decorators: Iterable[str] = ()) -> None:
    result = parameters(state, node.get("parameters"))
    returns = annotated_value(state, node.get("return_type"))
    commented = typed_by_comment(state, node, result)
    returns = commented if returns is UNKNOWN else returns
    body, where = node.get("body"), state.scope
    owner = where.owner if where.kind is ScopeKind.CLASS else 0
    names = state.names_of(body or node)
    info = state.functions.get(node.start)
    if info is None or info.where is not where:
        info = FunctionInfo(
            node, where, result, names, owner, tuple(decorators), UNKNOWN if returns is NOTHING else returns
        )
        state.functions[node.start] = info
    value = value_of_definition(info)
    name = node.get("name")
    if name is not None:
        where.bind(name.text, value)
        if info.decorators and _FIXTURE & {path.rpartition(".")[2] for path in info.decorators}:
            existing = state.fixtures.get(name.text, value)
            state.fixtures[name.text] = join(existing, value)
    if owner:
        state.classes[owner].methods.append(node.start)
    elif state.recording:
        state.waiting.append(lambda: run_body(state, info))


def _class(state: State, node: Node) -> None:
    superclasses = node.get("superclasses")
    bases: list[Value] = []
    for argument in superclasses.children if superclasses else []:
        value = state.value(argument, UseForm(UsageForm.BASE))
        if argument.type != "keyword_argument" and isinstance(value, Reference | LocalClass):
            bases.append(value)
    outer = state.scope
    body = node.get("body")
    binders = body.binders if body else []
    inner = Scope(ScopeKind.CLASS, outer, volatile=outer.volatile, owner=node.start, binders=binders)
    info = state.classes[node.start] = ClassInfo(inner, bases)
    state.scope = inner
    state.perform(body)
    state.scope = outer
    if name := node.get("name"):
        outer.bind(name.text, LocalClass(node.start))
    if state.recording:
        methods = list(info.methods)
        state.waiting.append(lambda: _methods(state, methods))


def _methods(state: State, methods: list[int]) -> None:
    for key in methods:
        run_body(state, state.functions[key])


def _with_item(state: State, node: Node) -> None:
    state.value(node.get("value"))


def _return(state: State, node: Node) -> None:
    state.returned.append(state.value(node.children[0]) if node.children else NOTHING)
    state.ended = True


def _leave(state: State, node: Node) -> None:
    for child in node.children:
        state.value(child)
    state.ended = True


def _delete(state: State, node: Node) -> None:
    for child in node.children:
        for name in target_names(child):
            state.scope.bind(name, UNKNOWN)
        if child.type not in {"identifier", "expression_list"}:
            state.value(child)


def _nothing(state: State, node: Node) -> None:
    """A statement that makes no use and binds nothing here."""


def rebound_elsewhere(state: State) -> Volatile | None:
    """Return the names that some function rebinds in a scope around it, through global or nonlocal, if any."""
    if b"global" not in state.source.data and b"nonlocal" not in state.source.data:
        return None
    by_global: set[str] = set()
    by_nonlocal: set[str] = set()
    for node in walk(state.source.root):
        body = node.get("body") if node.type in DEFINITIONS else None
        if body is not None:
            names = state.names_of(body)
            by_global |= names.declared_global & names.bound
            by_nonlocal |= names.declared_nonlocal & names.bound
    return Volatile(frozenset(by_global), frozenset(by_nonlocal)) if by_global or by_nonlocal else None


STATEMENTS: dict[str, Perform] = {
    **BRANCHES,
    "import_statement": _import,
    "import_from_statement": _import_from,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "with_item": _with_item,
    "return_statement": _return,
    "delete_statement": _delete,
    **dict.fromkeys(("raise_statement", "break_statement", "continue_statement"), _leave),
    **dict.fromkeys(("global_statement", "nonlocal_statement", "pass_statement", "future_import_statement"), _nothing),
    **dict.fromkeys(
        ("block", "with_statement", "with_clause", "ERROR", "else_clause", "finally_clause", "module"), _block
    ),
}
"""What performs each kind of statement; any other is evaluated as an expression."""
