"""Attributes that methods other than `__init__` set on the object, or on the class: `self.x = …`, `cls.x = …`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.api.surface.parse.bodies import Bodies, Body
from pipeline.api.surface.parse.keyword_scan import SETATTR, find_all
from pipeline.api.surface.parse.module_model import Definition
from pipeline.api.surface.parse.syntax import FUNCTIONS, Function, dotted, statements, text_of, written

SET_OUTSIDE_INIT = "set-outside-init"
"""Label of an attribute that is there only once some method has been called."""

_IMPLICIT_CLASSMETHODS = frozenset({"__init_subclass__", "__class_getitem__"})

_BEFORE = (", ", "= ", ": ")
_OPENING = ("(", "[")
_NEW = ("__new__",)
_CLOSED = (") = ", "] = ")
# targets over several lines end in one that may have more of them: `parents, self.n_leaves_) = …`
_LAST_OF_MANY = re.compile(r"\n[ \t]+(?:[A-Za-z_][\w., \t]*)?[)\]] =")


@dataclass(frozen=True, slots=True)
class _Set:
    """What a method sets on an owner: names by the look of its lines, and what its statements set, if they were asked.

    `sure` if the statements count whatever is known of the names.
    """

    label: str
    names: list[str]
    assigned: list[tuple[str, str | None]] | None
    sure: bool


def add_attributes(node: ast.ClassDef, definition: Definition, bodies: Bodies) -> None:
    """Add the public attributes that the methods of a class set and nothing in the class declares."""
    for method in statements(node.body):
        if isinstance(method, FUNCTIONS) and method.name != "__init__":
            for writes in bodies.of(method).once(_sets, _kind(method)):
                _add(writes, definition)


def _add(writes: _Set, definition: Definition) -> None:
    new = [name for name in writes.names if name not in definition.members]
    set_here: list[tuple[str, str | None]] = [(name, None) for name in new]
    if writes.assigned is not None and (new or writes.sure):
        set_here = writes.assigned
    for name, annotation in set_here:
        attribute = Definition(name, "attribute", labels=sorted([writes.label, SET_OUTSIDE_INIT]), returns=annotation)
        definition.members.setdefault(name, attribute)


def _kind(method: Function) -> str:
    """Return the label of what a method sets: on an object, on the class, or nothing of either."""
    decorators = {dotted(decorator) for decorator in method.decorator_list} if method.decorator_list else frozenset()
    if "staticmethod" in decorators:
        return ""
    of_class = "classmethod" in decorators or method.name in _IMPLICIT_CLASSMETHODS
    return "class-attribute" if of_class and method.name != "__new__" else "instance-attribute"


def _sets(body: Body, label: str) -> list[_Set]:
    arguments = [*body.node.args.posonlyargs, *body.node.args.args]
    if not label or not arguments:
        return []
    owners = _created(body) if body.node.name == "__new__" else {arguments[0].arg}
    sets = [writes for owner in sorted(owners) if (writes := _set_on(owner, label, body)) is not None]
    if body.mentions((SETATTR,)) and (names := list(_named_in_loops(body.statements, owners))):
        sets.append(_Set(label, names, None, sure=False))
    return sets


def _named_in_loops(body: list[ast.stmt], owners: set[str]) -> Iterator[str]:
    """Yield the public attributes that `for name in ("a", "b"): setattr(self, name, …)` sets, as numpy.finfo does."""
    for loop in statements(body):
        match loop:
            case ast.For(target=ast.Name(id=target), iter=ast.List(elts=elements) | ast.Tuple(elts=elements)):
                for statement in statements(loop.body):
                    match statement:
                        case ast.Expr(
                            value=ast.Call(
                                func=ast.Name(id="setattr"), args=[ast.Name(id=owner), ast.Name(id=named), _]
                            )
                        ) if owner in owners and named == target:
                            names = (text_of(element) or "_" for element in elements)
                            yield from (name for name in names if name.isidentifier() and not name.startswith("_"))


def _created(body: Body) -> set[str]:
    """Return the names that a `__new__` gives the object it makes: `self = super().__new__(cls)`."""
    if not body.mentions(_NEW):
        return set()
    names = set()
    for statement in body.statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="__new__"))):
                names.add(name)
    return names


def _set_on(owner: str, label: str, body: Body) -> _Set | None:
    text = body.text
    if f"{owner}." not in text:
        return None
    names, sure = _looked_for(owner, text, *body.span)
    sure = sure or _sets_last(text, *body.span)
    if not names and not sure:
        return None
    assigned = list(_assigned(body.statements, owner)) if sure or body.search(_another(owner)) else None
    return _Set(label, names, assigned, sure)


def _looked_for(owner: str, text: str, start: int, end: int) -> tuple[list[str], bool]:
    """Return the names that lines plainly set, and whether more may be set in another way, as in `x, self.y = …`."""
    names: list[str] = []
    sure = False
    for match in _assignment(owner).finditer(text, start, end):
        place = match.start()
        before = text[text.rfind("\n", 0, place) + 1 : place]
        first = before.strip(" \t")
        if before and not first:
            names += [match["name"]] if match["plain"] else []
            sure = sure or bool(match["many"] or match["annotated"])
        elif first in _OPENING and before.endswith(first):
            sure = sure or bool(match["many"])
        sure = sure or (text.startswith(_BEFORE, place - 2) and bool(_later_target(owner).match(text, place)))
    return names, sure


@functools.lru_cache(maxsize=256)
def _assignment(owner: str) -> re.Pattern[str]:
    """Return a pattern of an owner of which an attribute may be set, by what follows: many are found, few are meant."""
    plain = r"(?P<plain>[ \t]*=(?!=))"
    first_of_many = r"(?P<many>[ \t]*,.*(?:=(?!=)|\\\n))"
    annotated = r"(?P<annotated>[ \t]*:[ \t]*\w)"
    return re.compile(rf"{owner}\.(?=(?P<name>[A-Za-z]\w*)(?:{plain}|{first_of_many}|{annotated}|[^\n(=]*=(?!=)))")


@functools.lru_cache(maxsize=256)
def _later_target(owner: str) -> re.Pattern[str]:
    """Return a pattern of a target that does not begin its line."""
    return re.compile(rf"{owner}\.[A-Za-z]\w*[^\n(=]*=(?!=)")


def _sets_last(text: str, start: int, end: int) -> bool:
    closed = (place for word in _CLOSED for place in find_all(text, word, start, end))
    return any(_LAST_OF_MANY.match(text, text.rfind("\n", 0, place)) for place in closed)


@functools.lru_cache(maxsize=256)
def _another(owner: str) -> re.Pattern[str]:
    """Return a pattern of an inner function or class, in which the owner's name may mean another object."""
    return re.compile(rf"\n[ \t]+(?:class |(?:async )?def \w+\({owner}\b)|\"\"\"|'''")


def _assigned(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, str | None]]:
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
