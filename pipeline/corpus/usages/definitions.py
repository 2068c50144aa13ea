"""Functions and classes that the source itself defines: what a call gives, what an attribute of an object is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipeline.core.vocabularies.samples import Access
from pipeline.corpus.usages.scopes import Scope, ScopeKind
from pipeline.corpus.usages.state import ClassInfo, FunctionInfo, State
from pipeline.corpus.usages.values import (
    NOTHING,
    UNKNOWN,
    Calling,
    Elements,
    Foreign,
    Instance,
    LocalClass,
    LocalFunction,
    LocalObject,
    Reference,
    Value,
    element_of,
    join,
)

_PROPERTIES = ("property", "cached_property", "reify")
_TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "wraps", "lru_cache", "cache", "override", "final", "overload"}
    | {"contextmanager", "asynccontextmanager", "fixture", "yield_fixture", "setter", *_PROPERTIES}
)
# A result that takes more nested calls to know than any reader would follow.
_DEEPEST_CALL = 60


def result_of_local(state: State, key: int) -> Value:
    """Return what a call of a function of the source gives: as annotated, or what its body returns or yields."""
    info = state.functions.get(key)
    if info is None:
        # An earlier walk recorded a call of it, and this one has not come to it.
        return UNKNOWN
    if info.annotated is not UNKNOWN:
        return info.annotated
    if info.result is None:
        if info.busy or state.depth > _DEEPEST_CALL:
            return UNKNOWN
        info.result = _learn(state, info)
    return info.result


def _learn(state: State, info: FunctionInfo) -> Value:
    """Run a body without noting uses, and return what it gives."""
    if not info.names.gives and not info.names.sets_attributes and not info.names.declared_global:
        return NOTHING
    saved = state.scope, state.recording, state.returned, state.ended
    state.recording, state.returned, info.busy = False, [], True
    run_body(state, info)
    returned = state.returned
    state.scope, state.recording, state.returned, state.ended = saved
    info.busy = False
    result: Value = NOTHING
    for value in returned:
        result = join(result, value)
    return Elements(result) if info.names.yields and result not in (UNKNOWN, NOTHING) else result


def run_body(state: State, info: FunctionInfo) -> None:
    """Run the body of a function in a scope of its own."""
    body = info.node.get("body")
    if body is None:
        return
    names = info.names
    shared, outer = frozenset(names.declared_global), frozenset(names.declared_nonlocal)
    local = frozenset(names.bound | info.parameters.keys()) - shared - outer
    where = info.where
    state.scope = Scope(
        ScopeKind.FUNCTION, where, local, shared, outer, where.volatile, info.owner or where.owner, body.binders
    )
    for name, value in _arguments(state, info):
        state.scope.bind(name, value)
    state.ended = False
    if info.node.type == "lambda":
        state.returned.append(state.value(body))
    else:
        for statement in body.children:
            state.perform(statement)


def _arguments(state: State, info: FunctionInfo) -> Iterator[tuple[str, Value]]:
    """Yield the parameters with what is known of them; pytest gives a parameter what the fixture of its name gives."""
    receiver = _receiver(info)
    passed = state.passed.get(info.node.start, {})
    for position, (name, value) in enumerate(info.parameters.items()):
        if position == 0 and receiver is not None and value is UNKNOWN:
            yield name, receiver
        elif value is UNKNOWN and name in state.fixtures:
            yield name, fixture(state, name)
        else:
            yield name, passed.get(name, UNKNOWN) if value is UNKNOWN else value


def record_call(state: State, called: Value, positional: Sequence[Value], named: Mapping[str, Value]) -> None:
    """Remember what a call gives those parameters of a function of the source of which nothing else is known."""
    if isinstance(called, LocalClass):
        called = attribute_of(state, LocalObject(called.owner), "__init__")
    info = state.functions.get(called.key) if isinstance(called, LocalFunction) else None
    if info is None or not info.parameters:
        return
    names = _positional(info)
    if info.owner and not info.is_a("staticmethod"):
        names = names[1:]
    arguments = state.call_arguments.setdefault(info.node.start, {})
    for name, value in [*zip(names, positional, strict=False), *named.items()]:
        if info.parameters.get(name) is UNKNOWN:
            arguments[name] = join(arguments[name], value) if name in arguments else value


def _positional(info: FunctionInfo) -> list[str]:
    """Return the parameters that can be given by position, in order."""
    names: list[str] = []
    parameters = info.node.get("parameters")
    for node in parameters.children if parameters else []:
        target = node.get("name") or (node.children[0] if node.type == "typed_parameter" else node)
        if target.type != "identifier":
            break
        names.append(target.text)
    return names


def fixture(state: State, name: str) -> Value:
    """Return what the pytest fixture of a name gives."""
    value = state.fixtures[name]
    result = result_of_local(state, value.key) if isinstance(value, LocalFunction) else UNKNOWN
    return result.of if isinstance(result, Elements) else result


def _receiver(info: FunctionInfo) -> Value | None:
    if not info.owner or info.is_a("staticmethod"):
        return None
    name = info.node.get("name")
    of_class = info.is_a("classmethod", "validator", "root_validator") or (
        name is not None and name.text in {"__new__", "__init_subclass__", "__class_getitem__"}
    )
    return LocalClass(info.owner) if of_class else LocalObject(info.owner)


def value_of_definition(info: FunctionInfo) -> Value:
    """Return what the name of a function is after its decorators, as far as these are known to hand it on."""
    if all(path.rpartition(".")[2] in _TRANSPARENT for path in info.decorators):
        return LocalFunction(info.node.start)
    return UNKNOWN


def attribute_of(state: State, value: LocalObject | LocalClass, name: str) -> Value:
    """Return an attribute of a class of the source or its object: its own, or one that its bases have.

    An INDIRECT reference is a member that a class of the library hands on.
    """
    visited: set[int] = set()
    waiting: list[Value] = [value]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, Reference):
            if path := state.api.member(current.path, name):
                return Reference(path, Access.INDIRECT)
        elif isinstance(current, LocalObject | LocalClass) and current.owner not in visited:
            visited.add(current.owner)
            info = state.classes.get(current.owner)
            if info is None:
                continue
            above = isinstance(current, LocalObject) and current.above
            own = None if above else _own(state, info, name)
            if own is not None:
                return _got(state, own, value)
            waiting = [*(LocalClass(b.owner) if isinstance(b, LocalClass) else b for b in info.bases), *waiting]
    return UNKNOWN


def _own(state: State, info: ClassInfo, name: str) -> Value | None:
    """Return what a class itself has under a name, or None."""
    learn_attributes(state, info)
    result = [values[name] for values in (info.scope.ever, info.attributes) if name in values]
    return None if not result else result[0] if len(result) == 1 else join(*result)


def _got(state: State, own: Value, receiver: Value) -> Value:
    """Return what reading an attribute gives: of a property what its function returns."""
    if isinstance(own, LocalFunction) and isinstance(receiver, LocalObject):
        info = state.functions.get(own.key)
        if info and info.is_a(*_PROPERTIES):
            return result_of_local(state, own.key)
    return Reference(own.path, own.access, assigned=True) if isinstance(own, Reference) else own


def learn_attributes(state: State, info: ClassInfo) -> None:
    """Run the methods that assign attributes, once, to know what these hold."""
    if info.learned:
        return
    info.learned = True
    for key in info.methods:
        method = state.functions[key]
        if method.names.sets_attributes and not method.busy and method.result is None:
            if method.annotated is UNKNOWN:
                method.result = result_of_local(state, key)
            else:
                _learn(state, method)


def result_of_value(state: State, value: Value) -> Value:
    """Return what calling a value gives."""
    if isinstance(value, Reference):
        return state.api.result_of_call(value.path)
    if isinstance(value, LocalFunction):
        return result_of_local(state, value.key)
    if isinstance(value, LocalClass):
        return LocalObject(value.owner)
    if isinstance(value, Instance):
        return state.api.protocol_result(value.path, "__call__")
    return value.result if isinstance(value, Calling) else UNKNOWN


def entered(state: State, value: Value) -> Value:
    """Return what `with value as x` gives x."""
    if isinstance(value, Elements):
        return value.of
    if isinstance(value, Instance):
        return state.api.protocol_result(value.path, "__enter__")
    if isinstance(value, LocalObject):
        enter = attribute_of(state, value, "__enter__")
        if isinstance(enter, LocalFunction):
            return result_of_local(state, enter.key)
        return value if not isinstance(enter, Foreign) else UNKNOWN
    return UNKNOWN


def iterated(state: State, value: Value) -> Value:
    """Return what a loop over a value gives."""
    if isinstance(value, Instance):
        return state.api.protocol_result(value.path, "__iter__")
    if isinstance(value, LocalObject):
        method = attribute_of(state, value, "__iter__")
        value = result_of_local(state, method.key) if isinstance(method, LocalFunction) else UNKNOWN
    return element_of(value)
