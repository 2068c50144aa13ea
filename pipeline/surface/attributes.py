"""Attributes that methods other than `__init__` set on the object, or on the class: `self.x = …`, `cls.x = …`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator

from pipeline.surface.bodies import Bodies, Places, find_all
from pipeline.surface.records import Definition
from pipeline.surface.syntax import Function, dotted, statements, written

SET_OUTSIDE_INIT = "set-outside-init"
"""Label of an attribute that is there only once some method has been called."""

_IMPLICIT_CLASSMETHODS = frozenset({"__init_subclass__", "__class_getitem__"})

_BEFORE = (", ", "= ", ": ")
_NEW = ("__new__",)
_CLOSED = (") = ", "] = ")
# targets over several lines end in one that may have more of them: `parents, self.n_leaves_) = …`
_LAST_OF_MANY = re.compile(r"\n[ \t]+(?:[A-Za-z_][\w., \t]*)?[)\]] =")


def add_attributes(node: ast.ClassDef, found: Definition, bodies: Bodies) -> None:
    """Add the public attributes that the methods of a class set and nothing in the class declares."""
    for method in statements(node.body):
        if isinstance(method, Function) and method.name != "__init__":
            label, owners = _owners(method, bodies)
            for owner in sorted(owners):
                _add(method, owner, label, found, bodies)


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
    if not bodies.mentions(method, _NEW):
        return set()
    names = set()
    for statement in bodies.statements(method):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="__new__"))):
                names.add(name)
    return names


@functools.lru_cache(maxsize=256)
def _assignment(owner: str) -> re.Pattern[str]:
    """Return a pattern of lines that may set attributes; its group is the name where one is set plainly."""
    one = rf"{owner}\.([A-Za-z]\w*)[ \t]*=(?!=)"
    first_of_many = rf"[(\[]?{owner}\.[A-Za-z]\w*[ \t]*,.*(?:=(?!=)|\\\n)"
    annotated = rf"{owner}\.[A-Za-z]\w*[ \t]*:[ \t]*\w"
    return re.compile(rf"\n[ \t]+(?:{one}|{first_of_many}|{annotated})")


@functools.lru_cache(maxsize=256)
def _later_targets(owner: str) -> Places:
    """Return a function that finds where attributes may be set that do not begin their line, as in `x, self.y = …`."""
    target = rf"{owner}\.[A-Za-z]\w*[^\n(=]*=(?!=)"
    words = [(f"{before}{owner}.", re.compile(before + target)) for before in _BEFORE]

    def find(text: str) -> list[int]:
        return sorted(place for word, later in words for place in find_all(text, word) if later.match(text, place))

    return find


def _last_targets(text: str) -> list[int]:
    closed = (place for word in _CLOSED for place in find_all(text, word))
    return sorted(place for place in closed if _LAST_OF_MANY.match(text, text.rfind("\n", 0, place)))


@functools.lru_cache(maxsize=256)
def _another(owner: str) -> re.Pattern[str]:
    """Return a pattern of an inner function or class, in which the owner's name may mean another object."""
    return re.compile(rf"\n[ \t]+(?:class |(?:async )?def \w+\({owner}\b)|\"\"\"|'''")


def _add(method: Function, owner: str, label: str, found: Definition, bodies: Bodies) -> None:
    names = [name for name in bodies.search(method, _assignment(owner)) if name not in found.members]
    if bodies.has_any(method, _later_targets(owner)) or bodies.has_any(method, _last_targets):
        names.append("")
    if not names:
        return
    set_here: Iterable[tuple[str, str | None]] = ((name, None) for name in names)
    if "" in names or bodies.search(method, _another(owner)):
        set_here = _set(bodies.statements(method), owner)
    for name, annotation in set_here:
        made = Definition(name, "attribute", labels=sorted([label, SET_OUTSIDE_INIT]), returns=annotation)
        found.members.setdefault(name, made)


def _set(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, str | None]]:
    """Yield the public attributes of an owner that a body sets, each with its annotation."""
    for target, annotation in _targets(body):
        match target:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == owner and attribute[0] != "_":
                yield attribute, annotation


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
