"""What griffe found in one file, turned into plain definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import griffe

from pipeline.surface.attributes import add_attributes
from pipeline.surface.bodies import Bodies
from pipeline.surface.conditional import CONDITIONAL
from pipeline.surface.deprecations import assigned_mark, mark_of
from pipeline.surface.directive_rules import DirectiveRules
from pipeline.surface.fields import add_named_fields, named_fields, read_fields, read_slots
from pipeline.surface.helpers import HelperRules, apply_helpers
from pipeline.surface.kwargs import hidden_parameters
from pipeline.surface.parameter_marks import mark_by_code, mark_told
from pipeline.surface.records import UNSEEN_MEMBERS, UNSEEN_SIGNATURE, Definition, Mark, Parameter
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.sketches import line_hashes, sketch
from pipeline.surface.syntax import Function, written
from pipeline.terms import ParameterKind, ParameterSource

_QUOTES = re.compile(r"""^\s*[rRbBuUfF]{0,2}("{3}|'{3}|"|')|\\$""")

_KINDS = {
    griffe.ParameterKind.positional_only: ParameterKind.POSITIONAL_ONLY,
    griffe.ParameterKind.positional_or_keyword: ParameterKind.POSITIONAL_OR_KEYWORD,
    griffe.ParameterKind.var_positional: ParameterKind.VAR_POSITIONAL,
    griffe.ParameterKind.keyword_only: ParameterKind.KEYWORD_ONLY,
    griffe.ParameterKind.var_keyword: ParameterKind.VAR_KEYWORD,
}
_POSITIONAL = {ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD}


@dataclass(slots=True)
class Visited:
    """What is known of a file beside griffe's objects; `nodes` has the syntax node of each by its `id`."""

    rules: SurfaceRules
    helpers: HelperRules | None
    bodies: Bodies
    hashes: list[int]
    directives: DirectiveRules | None = None
    nodes: dict[int, ast.AST] = field(default_factory=dict)
    plain_imports: set[int] = field(default_factory=set)
    conditional: set[int] = field(default_factory=set)
    stands_for: dict[int, str] = field(default_factory=dict)


def read_members(owner: griffe.Module | griffe.Class, file: Visited, imports: dict[str, str]) -> dict[str, Definition]:
    """Return the definitions of what a module or class binds, by name."""
    found: dict[str, Definition] = {}
    for name, member in owner.members.items():
        if "/" not in name:
            found[name] = _definition(member, file, imports)
    for name, definition in found.items():
        other = file.stands_for.get(id(owner.members[name]))
        if other in found:
            # `@replaced_by(new) def old(): ...` is called like the function that takes its place
            definition.called, definition.returns = found[other].called, found[other].returns
        elif other is not None:
            definition.labels = sorted({*definition.labels, UNSEEN_SIGNATURE})
    for name, overloads in owner.overloads.items():
        # in a stub an overloaded function has no implementation to stand for it
        if overloads and name not in found:
            found[name] = _overloaded(overloads, file, imports)
    return found


def _overloaded(overloads: list[griffe.Function], file: Visited, imports: dict[str, str]) -> Definition:
    """Return the definition of a function that has overloads only: deprecated if all of them are."""
    read = [_definition(overload, file, imports) for overload in overloads]
    read[0].deprecation = read[0].deprecation if all(overload.deprecation for overload in read) else None
    read[0].overloads = [_shown(overload) for overload in overloads]
    return read[0]


def _definition(member: griffe.Object | griffe.Alias, file: Visited, imports: dict[str, str]) -> Definition:
    if isinstance(member, griffe.Alias):
        return Definition(
            member.name,
            "import",
            target=member.target_path,
            runtime=bool(member.runtime),
            plain_import=id(member) in file.plain_imports,
            labels=[CONDITIONAL] if id(member) in file.conditional else [],
        )
    docstring, line = read_docstring(member, file.bodies.lines)
    labels = {*member.labels, CONDITIONAL} if id(member) in file.conditional else member.labels
    found = Definition(
        member.name,
        "attribute",
        runtime=member.runtime,
        labels=sorted(labels),
        docstring=docstring,
        docstring_line=line,
    )
    node = file.nodes.get(id(member))
    if isinstance(node, Function | ast.ClassDef):
        found.deprecation = _mark(node, docstring, file)
        found.decorators = [written(decorator) for decorator in node.decorator_list]
    elif isinstance(node, ast.Assign):
        found.deprecation = assigned_mark(node.value, docstring, file.rules)
    _fill(found, member, node, file, imports)
    return found


def _mark(node: Function | ast.ClassDef, docstring: str | None, file: Visited) -> Mark | None:
    """Return the mark of a definition; what warns in the constructor of a class marks the class."""
    body: Sequence[ast.stmt] = ()
    made: Function | None = node if isinstance(node, Function) else None
    if isinstance(node, ast.ClassDef):
        methods = (s for s in node.body if isinstance(s, ast.FunctionDef) and s.name in {"__init__", "__new__"})
        made = next(methods, None)
    if made is not None and file.bodies.calls(made, file.rules.deprecations.call_words):
        body = file.bodies.statements(made)
    return mark_of(node.decorator_list, body, docstring, file.rules)


def _fill(
    found: Definition, member: griffe.Object, node: ast.AST | None, file: Visited, imports: dict[str, str]
) -> None:
    if isinstance(member, griffe.Class):
        _fill_class(found, member, node, file, imports)
    elif isinstance(member, griffe.Function) and _is_property(found, file.rules):
        found.kind = "property"
        found.returns = _written(member.returns)
    elif isinstance(member, griffe.Function):
        found.kind = "function"
        found.called = [_parameter(parameter) for parameter in member.parameters]
        found.returns = _written(member.returns)
        found.overloads = [_shown(overload) for overload in member.overloads or ()]
        if isinstance(node, Function):
            _fill_function(found, found.docstring, node, file)
    elif isinstance(member, griffe.Attribute):
        found.kind = "property" if "property" in member.labels else "attribute"
        found.returns = _written(member.annotation)
        value = _written(member.value)
        found.value = value[: file.rules.value_length] if value is not None else None
        if isinstance(node, ast.Assign) and (fields := named_fields(node.value, imports, file.rules)):
            found.kind, found.bases, found.value = "class", ["tuple"], None
            add_named_fields(found, fields)


def _fill_class(
    found: Definition, member: griffe.Class, node: ast.AST | None, file: Visited, imports: dict[str, str]
) -> None:
    found.kind = "class"
    found.bases = [str(base) for base in member.bases]
    found.members = read_members(member, file, imports)
    if found.name in file.bodies.extended() or any(map(file.rules.member_decorators.search, found.decorators)):
        found.labels = sorted({*found.labels, UNSEEN_MEMBERS})
    if isinstance(node, ast.ClassDef):
        read_slots(node, found)
        read_fields(node, found, imports, file.rules)
        add_attributes(node, found, file.bodies)
    init = member.members.get("__init__")
    made = file.nodes.get(id(init))
    if found.docstring and isinstance(made, Function) and not found.members["__init__"].docstring:
        # the parameters of a constructor are as a rule described in the docstring of its class
        _add_hidden(found.members["__init__"], found.docstring, made, file)
    for name in ("__init__", "__new__"):
        if name in found.members:
            _mark_told(found.members[name], found.docstring, file)


def _fill_function(found: Definition, docstring: str | None, node: Function, file: Visited) -> None:
    if file.helpers is not None and node.decorator_list:
        found.called = apply_helpers(node.decorator_list, found.called, file.helpers)
    _add_hidden(found, docstring, node, file)
    found.called = mark_by_code(found.called, node, file.bodies, file.rules)
    _mark_told(found, docstring, file)
    first, last = file.bodies.first_line(node), node.end_lineno or node.lineno
    start, end = file.bodies.span(node)
    if first < last:
        found.sketch = sketch(file.hashes[first:last])
    elif start < end:
        found.sketch = sketch(line_hashes(file.bodies.text[start:end].encode()))


def _add_hidden(found: Definition, docstring: str | None, node: Function, file: Visited) -> None:
    if node.args.kwarg is not None:
        known = {parameter["name"] for parameter in found.called}
        # before the `**kwargs`, which is the last
        found.called[-1:-1] = hidden_parameters(node, file.bodies, docstring, known)


def _mark_told(found: Definition, docstring: str | None, file: Visited) -> None:
    if file.directives is not None:
        found.called = mark_told(found.called, docstring, file.rules, file.directives)


def _is_property(found: Definition, rules: SurfaceRules) -> bool:
    """Return whether a decorator makes a property that griffe does not know, or adds a setter to such a one."""
    accessors = {f"{found.name}.{accessor}" for accessor in ("getter", "setter", "deleter")}
    return any(d in accessors or rules.property_decorators.search(d) for d in found.decorators)


def _parameter(parameter: griffe.Parameter) -> Parameter:
    kind = _KINDS[parameter.kind or griffe.ParameterKind.positional_or_keyword]
    variadic = kind is ParameterKind.VAR_POSITIONAL or kind is ParameterKind.VAR_KEYWORD
    return {
        "name": parameter.name.lstrip("*"),
        "kind": kind,
        # griffe gives `()` and `{}` as defaults of *args and **kwargs
        "default": None if variadic else _written(parameter.default),
        "annotation": _written(parameter.annotation),
        "known_from": ParameterSource.SIGNATURE,
        "deprecation": None,
    }


def _shown(overload: griffe.Function) -> str:
    """Return the signature of an overload as people write it: `(a: int, b: str = ...) -> X`, without self."""
    parameters = [_parameter(parameter) for parameter in overload.parameters]
    in_class = isinstance(overload.parent, griffe.Class) and "staticmethod" not in overload.labels
    if in_class and parameters and parameters[0]["kind"] in _POSITIONAL:
        parameters = parameters[1:]
    returns = _written(overload.returns)
    return f"({', '.join(_shown_parameters(parameters))})" + (f" -> {returns}" if returns else "")


def _shown_parameters(parameters: Sequence[Parameter]) -> list[str]:
    shown: list[str] = []
    for position, parameter in enumerate(parameters):
        kind, before = parameter["kind"], parameters[position - 1]["kind"] if position else None
        if before == ParameterKind.POSITIONAL_ONLY and kind != before:
            shown.append("/")
        if kind == ParameterKind.KEYWORD_ONLY and before not in {kind, ParameterKind.VAR_POSITIONAL}:
            shown.append("*")
        shown.append(_shown_parameter(parameter))
    if parameters and parameters[-1]["kind"] == ParameterKind.POSITIONAL_ONLY:
        shown.append("/")
    return shown


def _shown_parameter(parameter: Parameter) -> str:
    stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
    name = stars.get(parameter["kind"], "") + parameter["name"]
    annotation, default = parameter["annotation"], parameter["default"]
    if annotation is None:
        return name if default is None else f"{name}={default}"
    return f"{name}: {annotation}" + ("" if default is None else f" = {default}")


def _written(expression: str | griffe.Expr | None) -> str | None:
    if expression is None or isinstance(expression, str):
        return expression
    return expression.name if isinstance(expression, griffe.ExprName) else str(expression)


def read_docstring(owner: griffe.Object, lines: Sequence[str]) -> tuple[str | None, int]:
    """Return the docstring without its indentation, and the line where its text begins."""
    if owner.docstring is None or not owner.docstring.value.strip():
        return None, 1
    line = owner.docstring.lineno or 1
    # griffe gives the line of the opening quotes; the text may begin further down
    while line < len(lines) and not _QUOTES.sub("", lines[line - 1]).strip():
        line += 1
    # griffe has taken the indentation off, as inspect.cleandoc does; a second time would take off too much
    return owner.docstring.value, line
