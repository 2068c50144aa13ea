"""Attributes that a metaclass gives the classes that it makes: they are attributes of its instances."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.module_model import Definition
from pipeline.api.surface.parse.syntax import statements

_MAKING = frozenset({"__new__", "__init__"})
_NAMESPACE = 3
"""Position of the namespace among the parameters: `__new__(mcs, name, bases, namespace)` (data model, 3.3.3)."""


def add_metaclass_attributes(node: ast.ClassDef, definition: Definition, bodies: Bodies) -> None:
    """Add the public names that the constructor of a metaclass sets on the class that it makes."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in _MAKING:
            arguments = [a.arg for a in (*method.args.posonlyargs, *method.args.args)]
            # the constructor of a metaclass takes a name, bases and a namespace
            if len(arguments) == _NAMESPACE + 1 and not method.args.defaults and _is_metaclass(node):
                for name in _set_names(bodies.statements(method), arguments[0], arguments[_NAMESPACE]):
                    attribute = Definition(name, "attribute", labels=["instance-attribute"])
                    definition.members.setdefault(name, attribute)


def _is_metaclass(node: ast.ClassDef) -> bool:
    named = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
    return any(name == "type" or name.endswith(("Meta", "Type", "Metaclass", "metaclass")) for name in named)


def _set_names(body: list[ast.stmt], first: str, namespace: str) -> Iterator[str]:
    for statement in statements(body):
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str(name)))]) if (
                of == namespace
            ):
                yield from _public(name)
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=of), attr=name)]) if of == first:
                yield from _public(name)
            case ast.Expr(
                value=ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=of), ast.Constant(value=str(name)), _])
            ) if of == first:
                yield from _public(name)


def _public(name: str) -> Iterator[str]:
    if name.isidentifier() and name[0] != "_":
        yield name
