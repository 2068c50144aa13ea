"""What one file binds, turned into plain definitions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from pipeline.api.surface.extract.assigned_signatures import ASSIGNED, apply_assigned, signature_of_class
from pipeline.api.surface.extract.attributes import add_attributes
from pipeline.api.surface.extract.bindings import ACCESSOR_LABELS
from pipeline.api.surface.extract.deprecations import (
    assigned_mark,
    complete_message,
    mark_of,
    marks_by_name,
    warning_mark,
    wrapper_mark,
)
from pipeline.api.surface.extract.fields import add_named_fields, named_fields, read_fields, read_slots
from pipeline.api.surface.extract.functions import (
    Visited,
    read_function,
    warnings_of,
    with_documented_marks,
    with_hidden,
)
from pipeline.api.surface.extract.metaclasses import add_metaclass_attributes
from pipeline.api.surface.extract.uses import WARNS_TO, refuses, uses_of
from pipeline.api.surface.extract.written_signatures import overload_text
from pipeline.api.surface.parse.bodies import Bodies, Body
from pipeline.api.surface.parse.cleaning import read_docstring
from pipeline.api.surface.parse.conditional import CONDITIONAL
from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.expressions import expression_text
from pipeline.api.surface.parse.keyword_scan import RAISES_ATTRIBUTE_ERROR
from pipeline.api.surface.parse.module_model import (
    GONE,
    NOT_TOTAL,
    PATCHED_BY,
    UNSEEN_MEMBERS,
    UNSEEN_SIGNATURE,
    Definition,
)
from pipeline.api.surface.parse.scopes import Bound, Scope
from pipeline.api.surface.parse.syntax import FUNCTIONS, dotted, options, written
from pipeline.core.vocabularies.surface import DeprecationChannel

_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_RUN_WHERE_PLACED = ("__call__", "__get__")
"""Methods that run where an instance stands before a function or a value, as a decorator or descriptor does."""


def read_members(owner: Scope, file: Visited, imports: dict[str, str], inside: str = "") -> dict[str, Definition]:
    """Return the definitions of what a module or class binds, by name; `inside` is the class with a dot behind it."""
    members = {
        name: _definition(bound, file, imports, inside) for name, bound in owner.bound.items() if "/" not in name
    }
    file.unread.update(owner.aside)
    for name, bound in owner.bound.items():
        node = bound.node
        if type(node) is not ast.FunctionDef or not node.decorator_list:
            continue
        other = _replacement_of(node, file.bodies)
        new = members.get(other or "")
        if new is None and other in owner.aside:
            new = _definition(owner.aside[other], file, imports, inside)
        if new is not None:
            # `@replaced_by(new) def old(): ...` is called like the function that takes its place
            members[name] = replace(members[name], called=new.called, returns=new.returns)
        elif other is not None:
            members[name] = replace(members[name], labels=sorted({*members[name].labels, UNSEEN_SIGNATURE}))
    _read_handed_on(members, owner, file, imports, inside)
    for name, overloads in owner.overloads.items():
        # in a stub an overloaded function has no implementation to stand for it
        if name not in members:
            members[name] = _overloaded(overloads, file, imports, inside)
    if ASSIGNED in file.bodies.rest:
        apply_assigned(members, owner)
    return members


def _read_handed_on(
    members: dict[str, Definition], owner: Scope, file: Visited, imports: dict[str, str], inside: str
) -> None:
    """Add the private methods that others hand their `**kwargs` on to: they say which keywords are taken."""
    waiting = list(members.values()) if owner.aside else []
    while waiting:
        for call in waiting.pop().hands_on:
            if call.of == "self" and call.to in owner.aside and call.to not in members:
                members[call.to] = _definition(owner.aside[call.to], file, imports, inside)
                waiting.append(members[call.to])


def _replacement_of(node: ast.FunctionDef, bodies: Bodies) -> str | None:
    """Return the name that a decorator is given, of a function whose own body is `...` and that takes nothing."""
    named = (d.args[0] for d in node.decorator_list if isinstance(d, ast.Call) and d.args)
    name = next((name.id for name in named if isinstance(name, ast.Name)), None)
    return name if name and not _takes(node.args) and bodies.of(node).is_empty else None


def _takes(arguments: ast.arguments) -> bool:
    """Return whether a function declares a parameter by name that a caller gives."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return any(argument.arg not in {"self", "cls"} for argument in named)


def _overloaded(overloads: list[Bound], file: Visited, imports: dict[str, str], inside: str) -> Definition:
    """Return the definition of a function that has overloads only: deprecated if all of them are."""
    read = [_definition(overload, file, imports, inside) for overload in reversed(overloads)]
    deprecation = read[-1].deprecation if all(overload.deprecation for overload in read) else None
    return replace(read[-1], deprecation=deprecation, overloads=[overload_text(overload) for overload in overloads])


def _definition(bound: Bound, file: Visited, imports: dict[str, str], inside: str) -> Definition:
    node = bound.node
    conditional = id(node) in file.conditional
    if bound.target is not None:
        return Definition(
            bound.name,
            "import",
            target=bound.target,
            runtime=bound.runtime,
            plain_import=isinstance(node, ast.Import),
            passed_on=bound.as_itself or _passes_on(node, bound.target, file),
            labels=[CONDITIONAL] if conditional else [],
        )
    labels = sorted({*bound.labels, CONDITIONAL} if conditional else bound.labels)
    if isinstance(node, FUNCTIONS):
        body, before = file.bodies.place(node)
        file.note(inside + bound.name, body.described, before)
        return read_function(bound, node, labels, body, file)
    source, before = file.bodies.around(bound.described_in)
    described = read_docstring(bound.docstring, source)
    file.note(inside + bound.name, described, before)
    definition = Definition(bound.name, "attribute", runtime=bound.runtime, labels=labels, docstring=described[0])
    if isinstance(node, ast.ClassDef):
        _fill_class(definition, bound, node, file, imports, inside)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        _fill_attribute(definition, bound, node, file, imports)
    return definition


def _passes_on(node: ast.AST, target: str, file: Visited) -> bool:
    own = file.passes_on
    return own is not None and isinstance(node, ast.ImportFrom) and target.startswith(own)


def _mark_class(definition: Definition, node: ast.ClassDef, file: Visited) -> None:
    """Fill in the mark of a class, which what warns in its constructor marks too, and that which it gives others."""
    functions = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    words = file.rules.deprecations.call_words
    init = next((functions[name] for name in _CONSTRUCTORS if name in functions), None)
    warns = file.bodies.of(init).once(warnings_of, words) if init else ()
    definition.deprecation = mark_of(node.decorator_list, warns, definition.docstring, file.rules)
    if warns and definition.deprecation is None:
        definition.warns_by = marks_by_name(warns, file.rules)
    for name in _RUN_WHERE_PLACED:
        body = file.bodies.of(functions[name]) if name in functions else None
        if body is not None and definition.deprecates is None and body.mentions(words):
            if mark := warning_mark(body.statements, file.rules, {}):
                mark = mark | {"channel": DeprecationChannel.DECORATOR, "message": complete_message(mark)}
            definition.deprecates = mark or wrapper_mark(body.statements, file.rules)


def _fill_attribute(
    definition: Definition, bound: Bound, node: ast.Assign | ast.AnnAssign, file: Visited, imports: dict[str, str]
) -> None:
    definition.returns = bound.annotation
    if bound.value is not None:
        definition.value = _value_text(bound.value)[: file.rules.value_length]
    if isinstance(node, ast.Assign):
        definition.deprecation = assigned_mark(node.value, definition.docstring, file.rules)
        if fields := named_fields(node.value, imports, file.rules):
            definition.kind, definition.bases, definition.value = "class", ["tuple"], None
            add_named_fields(definition, fields)


def _value_text(value: ast.expr) -> str:
    try:
        return expression_text(value)
    except TOO_DEEP:
        # a sum of hundreds of terms, in a table that some program wrote: the rest of the module must not go with it
        return "..."


def _fill_class(
    definition: Definition, bound: Bound, node: ast.ClassDef, file: Visited, imports: dict[str, str], inside: str
) -> None:
    assert bound.scope is not None
    definition.kind = "class"
    _mark_class(definition, node, file)
    definition.decorators = [written(decorator) for decorator in node.decorator_list]
    definition.bases = [expression_text(base) for base in node.bases]
    definition.metaclass = next((dotted(k.value) for k in node.keywords if k.arg == "metaclass"), None)
    definition.members = read_members(bound.scope, file, imports, f"{inside}{bound.name}.")
    if ASSIGNED in file.bodies.rest:
        definition.signature = signature_of_class(node.body, bound.scope)
    read_slots(node, definition)
    read_fields(node, definition, imports, file.rules)
    add_attributes(node, definition, file.bodies)
    add_metaclass_attributes(node, definition, file.bodies)
    defined = bound.scope.bound | bound.scope.aside
    uses = uses_of(node, definition, defined, lambda name: _body_of(defined[name], file))
    definition.labels = sorted({*definition.labels, *uses})
    _read_property_calls(node, definition, bound.scope, file)
    _read_accessors(node, definition, file)
    if definition.name in file.bodies.extended or any(map(file.rules.member_decorators.search, definition.decorators)):
        definition.labels = sorted({*definition.labels, UNSEEN_MEMBERS})
    if not inside and definition.name in file.patched:
        definition.labels = sorted({*definition.labels, *(PATCHED_BY + by for by in file.patched[definition.name])})
    if any(k.arg == "total" and written(k.value) == "False" for k in node.keywords):
        definition.labels = sorted({*definition.labels, NOT_TOTAL})
    if RAISES_ATTRIBUTE_ERROR in file.bodies.keywords:
        _mark_gone(node, definition, file)
    init = bound.scope.bound.get("__init__")
    docstring, members = definition.docstring, definition.members
    if docstring and init and isinstance(init.node, FUNCTIONS) and not members["__init__"].docstring:
        # the parameters of a constructor are as a rule described in the docstring of its class
        called = with_hidden(members["__init__"].called, docstring, file.bodies.of(init.node))
        members["__init__"] = replace(members["__init__"], called=called)
    for name in ("__init__", "__new__"):
        if docstring and name in members:
            called = with_documented_marks(members[name].called, docstring, file)
            members[name] = replace(members[name], called=called)


def _read_property_calls(node: ast.ClassDef, definition: Definition, scope: Scope, file: Visited) -> None:
    """Make properties of the attributes that `property(get, set, delete)` is assigned to (data model, 3.3.2.2)."""
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="property")) as call):
                bound, member = scope.bound.get(name), definition.members.get(name)
                if bound is not None and bound.node is statement and member is not None:
                    definition.members[name] = _property_of_call(member, call, node, file)


def _property_of_call(member: Definition, call: ast.Call, class_: ast.ClassDef, file: Visited) -> Definition:
    methods = {method.name: method for method in class_.body if isinstance(method, ast.FunctionDef)}
    arguments = dict(zip(("fget", "fset", "fdel"), call.args, strict=False)) | options(call)
    labels = sorted({*member.labels, "property"} - {"class-attribute"})
    for accessor, keyword in (("setter", "fset"), ("deleter", "fdel")):
        value = arguments.get(keyword, ast.Constant(None))
        if written(value) == "None":
            continue
        labels = sorted({*labels, ACCESSOR_LABELS[accessor]})
        method = methods.get(dotted(value) or "")
        labels = labels if method is None else _with_accessor(labels, accessor, method, file)
    getter = methods.get(dotted(arguments["fget"]) or "") if "fget" in arguments else None
    mark = member.deprecation
    if getter is not None and mark is None:
        warns = file.bodies.of(getter).once(warnings_of, file.rules.deprecations.call_words)
        mark = mark_of(getter.decorator_list, warns, None, file.rules)
    return replace(member, kind="property", value=None, labels=labels, deprecation=mark)


def _body_of(bound: Bound, file: Visited) -> Body | None:
    return file.bodies.of(bound.node) if isinstance(bound.node, FUNCTIONS) else None


def _read_accessors(node: ast.ClassDef, definition: Definition, file: Visited) -> None:
    """Label the properties of which an accessor warns; one that only raises does not make them writable."""
    if not any("writable" in member.labels or "deletable" in member.labels for member in definition.members.values()):
        return
    for method in (statement for statement in node.body if isinstance(statement, ast.FunctionDef)):
        for decorator in method.decorator_list:
            match decorator:
                case ast.Attribute(value=ast.Name(id=name), attr="setter" | "deleter" as accessor):
                    member = definition.members.get(name)
                    if member is not None:
                        labels = _with_accessor(member.labels, accessor, method, file)
                        definition.members[name] = replace(member, labels=labels)


def _with_accessor(labels: list[str], accessor: str, method: ast.FunctionDef, file: Visited) -> list[str]:
    body = file.bodies.of(method)
    if refuses(body):
        return [label for label in labels if label != ACCESSOR_LABELS[accessor]]
    warns = body.once(warnings_of, file.rules.deprecations.call_words)
    mark = mark_of(method.decorator_list, warns, None, file.rules)
    return labels if mark is None else sorted({*labels, WARNS_TO[accessor] + (mark["message"] or "")})


def _mark_gone(node: ast.ClassDef, definition: Definition, file: Visited) -> None:
    """Label the properties of a class of which every accessor only raises AttributeError, or what is named like it."""
    properties = {name for name, member in definition.members.items() if member.kind == "property"}
    accessors: dict[str, list[ast.FunctionDef]] = {}
    for method in node.body:
        # methods that are not read have no member
        if isinstance(method, ast.FunctionDef) and method.name in properties:
            accessors.setdefault(method.name, []).append(method)
    for name, methods in accessors.items():
        if all(_is_gone(file.bodies.statements(method)) for method in methods):
            labels = sorted({*definition.members[name].labels, GONE})
            definition.members[name] = replace(definition.members[name], labels=labels)


def _is_gone(body: Sequence[ast.stmt]) -> bool:
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name))]:
            return name.startswith("Attribute") and name.endswith("Error")
    return False
