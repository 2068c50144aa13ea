"""What binds a name or an attribute: assignment targets, parameters, patterns, annotations and type comments."""

from __future__ import annotations

from dataclasses import replace

from pipeline.corpus.usages.annotations import read_annotation, read_signature
from pipeline.corpus.usages.chains import dotted_name
from pipeline.corpus.usages.scopes import Scope, ScopeKind, target_names
from pipeline.corpus.usages.state import State
from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.uses import PLAIN
from pipeline.corpus.usages.values import UNKNOWN, Instance, LocalClass, LocalObject, Reference, Value, join, unpacked

_SEQUENCES = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"})
_NESTED = _SEQUENCES | {"list_splat_pattern", "list_splat", "parenthesized_expression", "as_pattern_target"}


def assign(state: State, target: Node | None, value: Value) -> None:
    """Bind a target."""
    if target is None:
        return
    if target.type == "identifier":
        if isinstance(value, Reference) and not value.assigned:
            value = replace(value, assigned=True)
        _holder(state).bind(target.text, value)
    elif target.type == "attribute":
        _assign_attribute(state, target, value)
    elif target.type in _NESTED:
        _assign_each(state, target, value)
    else:
        state.value(target)


def _assign_each(state: State, target: Node, value: Value) -> None:
    parts = target.children
    if target.type in {"parenthesized_expression", "as_pattern_target"} and len(parts) == 1:
        assign(state, parts[0], value)
        return
    plain = target.type in _SEQUENCES and not any("splat" in part.type for part in parts)
    values = unpacked(value, len(parts)) if plain else [UNKNOWN] * len(parts)
    for part, own in zip(parts, values, strict=True):
        assign(state, part, own)


def _assign_attribute(state: State, target: Node, value: Value) -> None:
    holder, name = target.children[0], target.children[-1]
    receiver = state.scope.lookup(holder.text) if holder.type == "identifier" else UNKNOWN
    owner = state.classes.get(receiver.owner) if isinstance(receiver, LocalObject | LocalClass) else None
    if owner is not None:
        attributes = owner.attributes
        attributes[name.text] = join(attributes[name.text], value) if name.text in attributes else value
        # What a base of the library has under the name is used, as any other attribute of it that is assigned.
        if not owner.bases:
            return
    state.value(target)


def _holder(state: State) -> Scope:
    """Return the scope that an assignment binds in; comprehensions pass a walrus on to the one around them."""
    scope = state.scope
    while scope.kind is ScopeKind.COMPREHENSION and scope.parent:
        scope = scope.parent
    return scope


def parameters(state: State, node: Node | None) -> dict[str, Value]:
    """Evaluate defaults and annotations, and return what is known of each parameter, in order."""
    result: dict[str, Value] = {}
    for parameter in node.children if node else []:
        annotation = parameter.get("type")
        state.value(parameter.get("value"))
        annotated = annotated_value(state, annotation)
        target = parameter.get("name") or parameter
        if target.type == "typed_parameter":
            target = target.children[0]
        for name in target_names(target):
            result[name] = annotated if target.type == "identifier" else UNKNOWN
    return result


def typed_by_comment(state: State, node: Node, types: dict[str, Value]) -> Value:
    """Fill in what a type comment below the head of a function says of its parameters; return that of its result."""
    body, head = node.get("body"), node.get("parameters")
    comment = state.source.type_comment_between(head.end, body.start) if body and head else None
    if comment is None:
        return UNKNOWN
    values, result = read_signature(comment, lambda name: instance_named(state, name))
    names = list(types)
    types.update(zip(names[len(names) - len(values) :], values, strict=False))
    return result


def annotated_value(state: State, annotation: Node | None) -> Value:
    """Return what an annotation in the source says of a value."""
    if annotation is None:
        return UNKNOWN
    state.value(annotation)
    return annotation_value(state, state.source.text(annotation))


def annotation_value(state: State, text: str) -> Value:
    """Return what the text of an annotation or type comment says of a value, where it is read."""
    return read_annotation(text, lambda name: instance_named(state, name))


def instance_named(state: State, name: str) -> Value:
    """Return an object of the class that a dotted name means in the scope of the moment."""
    first, _, rest = name.partition(".")
    if name == "Self":
        return LocalObject(state.scope.owner) if state.scope.owner else UNKNOWN
    value = state.scope.lookup(first)
    if value is UNKNOWN:
        value = state.scope.lookup_later(first)
    if isinstance(value, LocalClass) and not rest:
        return LocalObject(value.owner)
    if not isinstance(value, Reference):
        return UNKNOWN
    written = f"{value.path}.{rest}" if rest else value.path
    path = state.api.locate(written) or state.api.defined_at(written)
    return Instance(state.api.preferred(path)) if path and state.api.is_class(path) else UNKNOWN


def pattern(state: State, node: Node) -> None:
    """Bind the captures of a match pattern, and evaluate the classes and constants that it names."""
    if node.type == "dotted_name":
        if len(node.children) == 1:
            state.scope.bind(node.children[0].text, UNKNOWN)
        else:
            dotted_name(state, node, PLAIN)
        return
    children = node.children
    captured: Value = UNKNOWN
    if node.type == "class_pattern" and children:
        dotted_name(state, children[0], PLAIN)
        children = children[1:]
    elif node.type == "keyword_pattern":
        children = children[1:]
    elif node.type == "as_pattern" and children:
        captured = _matched(state, children[0])
    for child in children:
        if child.type == "identifier":
            state.scope.bind(child.text, captured)
        else:
            pattern(state, child)


def _matched(state: State, node: Node) -> Value:
    """Return what a value is that a pattern matches: an object of its class pattern."""
    while node.type == "case_pattern" and len(node.children) == 1:
        node = node.children[0]
    if node.type != "class_pattern" or not node.children:
        return UNKNOWN
    return instance_named(state, ".".join(child.text for child in node.children[0].children))


def matched_by(state: State, case: Node) -> Value:
    """Return what the subject of a match is inside a case."""
    patterns = [child for child in case.children if child.type == "case_pattern"]
    return _matched(state, patterns[0]) if len(patterns) == 1 else UNKNOWN
