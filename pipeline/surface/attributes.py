"""Attributes that methods other than `__init__` set on the object, or on the class: `self.x = …`, `cls.x = …`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from pipeline.surface.bodies import Bodies
from pipeline.surface.records import Definition
from pipeline.surface.syntax import Function, dotted, statements, written

SET_OUTSIDE_INIT = "set-outside-init"
"""Label of an attribute that is there only once some method has been called."""

_IMPLICIT_CLASSMETHODS = frozenset({"__init_subclass__", "__class_getitem__"})


def add_attributes(node: ast.ClassDef, found: Definition, bodies: Bodies) -> None:
    """Add the public attributes that the methods of a class set and nothing in the class declares."""
    for method in statements(node.body):
        if isinstance(method, Function) and method.name != "__init__":
            label, owners = _owners(method, bodies)
            if any(_may_add(method, owner, found, bodies) for owner in owners):
                _add(method, owners, label, found, bodies)


def _owners(method: Function, bodies: Bodies) -> tuple[str, set[str]]:
    """Return whose attributes a method sets (the class's, or an object's), and the names it has for that."""
    decorators = {dotted(decorator) for decorator in method.decorator_list}
    arguments = [*method.args.posonlyargs, *method.args.args]
    if not arguments or "staticmethod" in decorators:
        return "", set()
    if method.name == "__new__":
        return "instance-attribute", _created(method, bodies)
    of_class = "classmethod" in decorators or method.name in _IMPLICIT_CLASSMETHODS
    return "class-attribute" if of_class else "instance-attribute", {arguments[0].arg}


def _created(method: Function, bodies: Bodies) -> set[str]:
    """Return the names that a `__new__` gives the object it makes: `self = super().__new__(cls)`."""
    if not bodies.mentions(method, ("__new__",)):
        return set()
    names = set()
    for statement in bodies.statements(method):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="__new__"))):
                names.add(name)
    return names


@functools.lru_cache(maxsize=256)
def _assignment(owner: str) -> re.Pattern[str]:
    """Return a pattern of lines that may set attributes; its group is the name, empty where there may be several."""
    return re.compile(
        rf"\n[ \t]+(?:{owner}\.([A-Za-z]\w*)[ \t]*(?::|=(?!=))|[(\[]?(?:[\w.]+[ \t]*[,=][ \t]*)+{owner}\.[A-Za-z]"
        rf"|[(\[]?{owner}\.[A-Za-z]\w*[ \t]*,)"
    )


def _may_add(method: Function, owner: str, found: Definition, bodies: Bodies) -> bool:
    return any(name not in found.members for name in bodies.search(method, _assignment(owner)))


def _add(method: Function, owners: set[str], label: str, found: Definition, bodies: Bodies) -> None:
    for target, annotation in _targets(bodies.statements(method)):
        match target:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in owners and not name.startswith("_"):
                made = Definition(name, "attribute", labels=sorted([label, SET_OUTSIDE_INIT]), returns=annotation)
                found.members.setdefault(name, made)


def _targets(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, str | None]]:
    for statement in statements(body):
        match statement:
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from ((part, None) for part in _unpacked(target))
            case ast.AnnAssign(target=target, annotation=annotation):
                yield target, written(annotation)


def _unpacked(target: ast.expr) -> Iterator[ast.expr]:
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _unpacked(element)
        case ast.Starred(value=inner):
            yield inner
        case _:
            yield target
