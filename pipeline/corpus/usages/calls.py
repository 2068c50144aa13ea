"""Calls: the use that each makes, and what it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.bindings import annotation_value, instance_named
from pipeline.corpus.usages.containers import builtin_name, result_of_builtin
from pipeline.corpus.usages.definitions import iterated, record_call, result_of_value
from pipeline.corpus.usages.state import State
from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.uses import UseForm
from pipeline.corpus.usages.values import (
    UNKNOWN,
    Elements,
    Foreign,
    Instance,
    Items,
    LocalClass,
    LocalFunction,
    LocalObject,
    Reference,
    Value,
)

_CALL = UseForm(UsageForm.CALL)
_IMPORTERS = frozenset({"importlib.import_module", "pytest.importorskip", "builtins.__import__"})
_COPIES = frozenset({"copy.copy", "copy.deepcopy", "typing.cast", "typing_extensions.cast"})
_PASSED_ON = frozenset({"contextlib.closing", "contextlib.nullcontext"})
_COMMENT = re.compile(rb"#.*")


def call(state: State, node: Node, place: UseForm) -> Value:
    """Evaluate a call."""
    function, arguments = node.get("function"), node.get("arguments")
    children = arguments.children if arguments else []
    if arguments is not None and arguments.type == "generator_expression":
        children = [arguments]
    names = tuple(child.children[0].text for child in children if child.type == "keyword_argument" and child.children)
    form = UsageForm.DECORATOR if place.form is UsageForm.DECORATOR else UsageForm.CALL
    called = state.value(function, UseForm(form, names) if names or form is not UsageForm.CALL else _CALL)
    values = [state.value(child) for child in children]
    if called is UNKNOWN:
        return UNKNOWN
    if isinstance(called, Foreign | LocalFunction | LocalClass):
        return _of_source(state, called, children, values)
    return result_of_value(state, called)


def _of_source(state: State, called: Value, children: Sequence[Node], values: Sequence[Value]) -> Value:
    """Return what a call of something that is not the library's gives, which may be given what is."""
    positional = [value for child, value in zip(children, values, strict=True) if child.type != "keyword_argument"]
    if isinstance(called, Foreign):
        return _foreign(state, called, children, positional)
    if not any("splat" in child.type for child in children):
        arguments = zip(children, values, strict=True)
        named = {child.children[0].text: v for child, v in arguments if child.type == "keyword_argument"}
        record_call(state, called, positional, named)
    return result_of_value(state, called)


def _foreign(state: State, called: Foreign, children: Sequence[Node], values: Sequence[Value]) -> Value:
    """Return what a call of something of Python's or another library's gives."""
    if name := builtin_name(called):
        if name == "super":
            return _super(state, values)
        if name == "type" and len(values) == 1:
            return class_of(values[0])
        return result_of_builtin(name, [_iterable(state, value) for value in values])
    if called.path in _IMPORTERS and children:
        path = state.source.text(children[0]).strip("'\"")
        return Reference(path) if state.api.locate(path) else UNKNOWN
    if called.path in _COPIES and values:
        if called.path.endswith("cast"):
            return _cast(state, children[0])
        return values[0]
    if called.path in _PASSED_ON and values:
        return Elements(values[0]) if values[0] is not UNKNOWN else UNKNOWN
    return UNKNOWN


def _iterable(state: State, value: Value) -> Value:
    if isinstance(value, Instance | LocalObject):
        element = iterated(state, value)
        return UNKNOWN if element is UNKNOWN else Elements(element)
    return value if isinstance(value, Elements | Items) else UNKNOWN


def _cast(state: State, node: Node) -> Value:
    return annotation_value(state, state.source.text(node))


def _super(state: State, values: Sequence[Value]) -> Value:
    """Return the object as the bases of its class see it."""
    if values and isinstance(values[0], LocalClass):
        return LocalObject(values[0].owner, above=True)
    return LocalObject(state.scope.owner, above=True) if state.scope.owner and not values else UNKNOWN


def class_of(value: Value) -> Value:
    """Return the class of an object."""
    if isinstance(value, Instance):
        return Reference(value.path, assigned=True)
    return LocalClass(value.owner) if isinstance(value, LocalObject) else UNKNOWN


def narrowings(state: State, condition: Node | None, *, holds: bool = True) -> dict[str, Value]:
    """Return what names are where a condition holds (or not): `isinstance(x, C)`, also among others with `and`."""
    result: dict[str, Value] = {}
    waiting = [(condition, holds)]
    while waiting:
        node, expected = waiting.pop()
        if node is None or not node.children:
            continue
        if node.type == "parenthesized_expression" and len(node.children) == 1:
            waiting.append((node.children[0], expected))
        elif node.type == "not_operator":
            waiting.append((node.children[-1], not expected))
        elif node.type == "boolean_operator" and expected == is_and(state, node):
            waiting += [(child, expected) for child in node.children]
        elif node.type == "call" and expected:
            result |= _isinstance(state, node)
    return result


def is_and(state: State, node: Node) -> bool:
    """Tell whether a boolean operator is `and`, and not `or`."""
    first, right = node.children[0], node.children[-1]
    return b"and" in _COMMENT.sub(b"", state.source.data[first.end : right.start])


def _isinstance(state: State, node: Node) -> dict[str, Value]:
    function, arguments = node.get("function"), node.get("arguments")
    if function is None or arguments is None or len(arguments.children) != 2:
        return {}
    name, class_ = arguments.children
    if name.type != "identifier" or builtin_name(state.scope.lookup(function.text)) != "isinstance":
        return {}
    value = instance_named(state, state.source.text(class_)) if class_.type in {"identifier", "attribute"} else UNKNOWN
    return {name.text: value} if value is not UNKNOWN else {}
