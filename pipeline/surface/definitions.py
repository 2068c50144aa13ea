"""What one file binds, turned into plain definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.surface.attributes import add_attributes
from pipeline.surface.bindings import Bound, Scope, annotation_text
from pipeline.surface.bodies import Bodies
from pipeline.surface.cleaning import clean_docstring
from pipeline.surface.conditional import CONDITIONAL
from pipeline.surface.deprecations import assigned_mark, mark_of
from pipeline.surface.directive_rules import DirectiveRules
from pipeline.surface.expressions import expression_text
from pipeline.surface.fields import add_named_fields, named_fields, read_fields, read_slots
from pipeline.surface.helpers import HelperRules, apply_helpers
from pipeline.surface.kwargs import hidden_parameters
from pipeline.surface.parameter_marks import mark_by_code, mark_told
from pipeline.surface.records import GONE, UNSEEN_MEMBERS, UNSEEN_SIGNATURE, Definition, Mark
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.sketches import hashes, line_hashes, sketch
from pipeline.surface.syntax import Function, text_of, written
from pipeline.surface.written_signatures import shown_overload, written_parameters

_GONE_WORD = "raise Attribute"
_QUOTES = re.compile(r"""^\s*[rRbBuUfF]{0,2}("{3}|'{3}|"|')|\\$""")


@dataclass(slots=True)
class Visited:
    """What is known of a file beside its names: its text, and the ids of statements that stand under a condition."""

    rules: SurfaceRules
    helpers: HelperRules | None
    bodies: Bodies
    lines: list[bytes]
    directives: DirectiveRules | None = None
    conditional: set[int] = field(default_factory=set)


def read_members(owner: Scope, file: Visited, imports: dict[str, str]) -> dict[str, Definition]:
    """Return the definitions of what a module or class binds, by name."""
    found = {name: _definition(bound, file, imports) for name, bound in owner.bound.items() if "/" not in name}
    for name, definition in found.items():
        other = _stands_for(owner.bound[name].node, file.bodies)
        if other in found:
            # `@replaced_by(new) def old(): ...` is called like the function that takes its place
            definition.called, definition.returns = found[other].called, found[other].returns
        elif other is not None:
            definition.labels = sorted({*definition.labels, UNSEEN_SIGNATURE})
    for name, overloads in owner.overloads.items():
        # in a stub an overloaded function has no implementation to stand for it
        if name not in found:
            found[name] = _overloaded(overloads, file, imports)
    return found


def _stands_for(node: ast.stmt, bodies: Bodies) -> str | None:
    """Return the name that a decorator is given, of a function whose own body is `...` and that takes nothing."""
    if not isinstance(node, ast.FunctionDef) or not node.decorator_list or _takes(node.args):
        return None
    named = (d.args[0] for d in node.decorator_list if isinstance(d, ast.Call) and d.args)
    name = next((name.id for name in named if isinstance(name, ast.Name)), None)
    return name if name and bodies.is_empty(node) else None


def _takes(arguments: ast.arguments) -> bool:
    """Return whether a function declares a parameter by name that a caller gives."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return any(argument.arg not in {"self", "cls"} for argument in named)


def _overloaded(overloads: list[Bound], file: Visited, imports: dict[str, str]) -> Definition:
    """Return the definition of a function that has overloads only: deprecated if all of them are."""
    read = [_definition(overload, file, imports) for overload in overloads]
    read[0].deprecation = read[0].deprecation if all(overload.deprecation for overload in read) else None
    read[0].overloads = [shown_overload(overload) for overload in overloads]
    return read[0]


def _definition(bound: Bound, file: Visited, imports: dict[str, str]) -> Definition:
    node = bound.node
    conditional = id(node) in file.conditional
    if bound.target is not None:
        return Definition(
            bound.name,
            "import",
            target=bound.target,
            runtime=bound.runtime,
            plain_import=isinstance(node, ast.Import),
            labels=[CONDITIONAL] if conditional else [],
        )
    docstring, line = read_docstring(bound.docstring, file.bodies.lines)
    labels = {*bound.labels, CONDITIONAL} if conditional else bound.labels
    found = Definition(
        bound.name,
        "attribute",
        runtime=bound.runtime,
        labels=sorted(labels),
        docstring=docstring,
        docstring_line=line,
    )
    match node:
        case ast.ClassDef():
            _describe(found, node, file)
            _fill_class(found, bound, node, file, imports)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _describe(found, node, file)
            _fill_function(found, bound, node, file)
        case ast.Assign() | ast.AnnAssign():
            _fill_attribute(found, bound, node, file, imports)
    return found


def _describe(found: Definition, node: Function | ast.ClassDef, file: Visited) -> None:
    found.deprecation = _mark(node, found.docstring, file)
    found.decorators = [written(decorator) for decorator in node.decorator_list]


def _mark(node: Function | ast.ClassDef, docstring: str | None, file: Visited) -> Mark | None:
    """Return the mark of a definition; what warns in the constructor of a class marks the class."""
    body: Sequence[ast.stmt] = ()
    made: Function | None = node if isinstance(node, Function) else None
    if isinstance(node, ast.ClassDef):
        methods = (s for s in node.body if isinstance(s, ast.FunctionDef) and s.name in {"__init__", "__new__"})
        made = next(methods, None)
    if made is not None and file.bodies.calls(made, file.rules.deprecations.call_words):
        body = file.bodies.statements(made)
    if not node.decorator_list and not body and not (docstring and "eprecated" in docstring):
        return None
    return mark_of(node.decorator_list, body, docstring, file.rules)


def _fill_attribute(
    found: Definition, bound: Bound, node: ast.Assign | ast.AnnAssign, file: Visited, imports: dict[str, str]
) -> None:
    found.returns = bound.annotation
    if bound.value is not None:
        found.value = expression_text(bound.value)[: file.rules.value_length]
    if isinstance(node, ast.Assign):
        found.deprecation = assigned_mark(node.value, found.docstring, file.rules)
        if fields := named_fields(node.value, imports, file.rules):
            found.kind, found.bases, found.value = "class", ["tuple"], None
            add_named_fields(found, fields)


def _fill_class(found: Definition, bound: Bound, node: ast.ClassDef, file: Visited, imports: dict[str, str]) -> None:
    assert bound.scope is not None
    found.kind = "class"
    found.bases = [expression_text(base) for base in node.bases]
    found.members = read_members(bound.scope, file, imports)
    read_slots(node, found)
    read_fields(node, found, imports, file.rules)
    add_attributes(node, found, file.bodies)
    if found.name in file.bodies.extended() or any(map(file.rules.member_decorators.search, found.decorators)):
        found.labels = sorted({*found.labels, UNSEEN_MEMBERS})
    if file.bodies.has(_GONE_WORD):
        _mark_gone(node, found, file)
    init = bound.scope.bound.get("__init__")
    if found.docstring and init and isinstance(init.node, Function) and not found.members["__init__"].docstring:
        # the parameters of a constructor are as a rule described in the docstring of its class
        _add_hidden(found.members["__init__"], found.docstring, init.node, file)
    for name in ("__init__", "__new__"):
        if name in found.members:
            _mark_told(found.members[name], found.docstring, file)


def _mark_gone(node: ast.ClassDef, found: Definition, file: Visited) -> None:
    """Label the properties of a class of which every accessor only raises AttributeError, or what is named like it."""
    accessors: dict[str, list[ast.FunctionDef]] = {}
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and found.members[method.name].kind == "property":
            accessors.setdefault(method.name, []).append(method)
    for name, methods in accessors.items():
        if all(_is_gone(file.bodies.statements(method)) for method in methods):
            found.members[name].labels = sorted({*found.members[name].labels, GONE})


def _is_gone(body: Sequence[ast.stmt]) -> bool:
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name))]:
            return name.startswith("Attribute") and name.endswith("Error")
    return False


def _fill_function(found: Definition, bound: Bound, node: Function, file: Visited) -> None:
    assert bound.scope is not None
    found.returns = annotation_text(node.returns, bound.scope)
    if "property" in found.labels or _is_property(found, file.rules):
        found.kind = "property"
        return
    found.kind = "function"
    if "async" in found.labels and any(map(file.rules.plain_decorators.search, found.decorators)):
        found.labels = [label for label in found.labels if label != "async"]
    found.called = written_parameters(node, bound.scope)
    found.overloads = [shown_overload(overload) for overload in bound.overloads]
    if file.helpers is not None and node.decorator_list:
        found.called = apply_helpers(node.decorator_list, found.called, file.helpers)
    _add_hidden(found, found.docstring, node, file)
    found.called = mark_by_code(found.called, node, file.bodies, file.rules)
    _mark_told(found, found.docstring, file)
    first, last = file.bodies.first_line(node), node.end_lineno or node.lineno
    start, end = file.bodies.span(node)
    if first < last:
        found.sketch = sketch(hashes(file.lines[first:last]))
    elif start < end:
        found.sketch = sketch(line_hashes(file.bodies.text[start:end].encode()))


def _add_hidden(found: Definition, docstring: str | None, node: Function, file: Visited) -> None:
    if node.args.kwarg is not None:
        known = {parameter["name"] for parameter in found.called}
        # before the `**kwargs`, which is the last
        found.called[-1:-1] = hidden_parameters(node, file.bodies, docstring, known)


def _mark_told(found: Definition, docstring: str | None, file: Visited) -> None:
    if file.directives is not None and docstring and file.bodies.has("eprecated"):
        found.called = mark_told(found.called, docstring, file.rules, file.directives)


def _is_property(found: Definition, rules: SurfaceRules) -> bool:
    """Return whether a decorator makes a property that griffe does not know, or adds a setter to such a one."""
    accessors = {f"{found.name}.{accessor}" for accessor in ("getter", "setter", "deleter")}
    return any(d in accessors or rules.property_decorators.search(d) for d in found.decorators)


def read_docstring(docstring: ast.Constant | None, lines: Sequence[str]) -> tuple[str | None, int]:
    """Return the docstring without its indentation, and the line where its text begins."""
    text = None if docstring is None else text_of(docstring)
    if docstring is None or text is None or not text.strip():
        return None, 1
    line = docstring.lineno
    # that is the line of the opening quotes; the text may begin further down
    while line < len(lines) and not _QUOTES.sub("", lines[line - 1]).strip():
        line += 1
    return clean_docstring(text), line
