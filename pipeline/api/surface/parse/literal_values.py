"""Evaluate expressions using the module's literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.api.surface.parse.bound_names import every_bound_name
from pipeline.api.surface.parse.syntax import absolute_name, dotted, statements, text_of
from pipeline.core.folding import LONGEST, Folding

ABSOLUTE = "/"
"""Prefix of a dotted name that leads to a module by its absolute path, whatever the module binds."""

OTHER_NAME = " "
"""Stands for every name that a function does not mention: no identifier, so no literal equals it."""

_CONTAINER_MAKERS = frozenset({"frozenset", "set", "dict", "list", "tuple", "MappingProxyType"})
_TEXT_METHODS = frozenset(
    {
        "split",
        "rsplit",
        "partition",
        "rpartition",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "removeprefix",
        "startswith",
        "format",
    }
)

_PLACE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")
"""The form of entry points, `module:name` (packaging.python.org, "Entry points specification")."""

_IMPORTS_BY_TEXT = re.compile(r"(?:^|_)(?:import|load|locate|resolve)(?:_|$)")
"""In names of functions that import by such a text: `resolve_name` (pkgutil), `import_string` (Werkzeug, pydantic),
`import_from_string` (Uvicorn), `load_object` (Scrapy)."""

_ADD_ONE = frozenset({"append", "add"})

Values = Mapping[str, ast.expr]
"""What the local names of a function stand for."""


class RaisedError(Exception):
    """Evaluating an expression raises: the key is not in a mapping of literals."""


@dataclass
class Literals:
    """Evaluates expressions of a function of a module, given what its local names stand for.

    Containers of literals that the module names are looked into; the function is called with one `argument`, a text.
    That is a name that `module_without`, a module, does not bind.
    """

    tree: ast.Module
    module: str
    is_package: bool
    argument: str
    module_without: str = ""

    def absolute(self, source: str) -> str:
        """Return the absolute path of a module that is written with leading dots in this one."""
        return absolute_name(source, self.module, is_package=self.is_package)

    @cached_property
    def containers(self) -> dict[str, ast.expr | None]:
        """The containers of literals of the module by name, once all is imported; None where one has unknown keys."""
        containers: dict[str, ast.expr | None] = {}
        for statement in statements(self.tree.body):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    containers[name] = self._container_of(value, containers)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value):
                    containers[name] = _joined_with(containers.get(name), ast.Dict(keys=[key], values=[value]))
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    containers[name] = _joined_with(containers.get(name), self._container_of(value, containers))
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[argument])
                ):
                    added = (
                        ast.List(elts=[argument]) if method in _ADD_ONE else self._container_of(argument, containers)
                    )
                    containers[name] = _joined_with(containers.get(name), added)
        return containers

    def _container_of(self, node: ast.expr, containers: Mapping[str, ast.expr | None]) -> ast.expr | None:
        """Return the container of literals that an expression makes out of literals, and of those known so far."""
        match node:
            case ast.Name(id=name):
                return containers.get(name)
            case ast.BinOp(left=left, op=ast.BitOr() | ast.Add(), right=right):
                return _joined_with(self._container_of(left, containers), self._container_of(right, containers))
            case ast.DictComp(key=key, value=value, generators=[ast.comprehension(ifs=[]) as loop]):
                rounds = self.rounds(loop.target, loop.iter, containers)
                keys, items = ([self._key(part, names) for names in rounds] for part in (key, value))
                return ast.Dict(keys=list(keys), values=items) if rounds else None
            case ast.Dict(keys=keys, values=items) if None in keys:
                joined: ast.expr | None = ast.Dict(keys=[], values=[])
                for at, item in zip(keys, items, strict=True):
                    added = ast.Dict(keys=[at], values=[item]) if at else self._container_of(item, containers)
                    joined = _joined_with(joined, added)
                return joined
            case (
                ast.ListComp(elt=key, generators=[ast.comprehension(ifs=[]) as loop])
                | ast.SetComp(elt=key, generators=[ast.comprehension(ifs=[]) as loop])
            ):
                rounds = self.rounds(loop.target, loop.iter, containers)
                return ast.List(elts=[self._key(key, values) for values in rounds]) if rounds else None
            case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker), args=[inner], keywords=[]) if (
                maker in _CONTAINER_MAKERS
            ):
                return self._container_of(inner, containers)
        return _container(node)

    def _key(self, node: ast.expr, values: Values) -> ast.expr:
        try:
            return self.value(node, values)
        except RaisedError:
            return unresolved()

    def rounds(self, target: ast.expr, over: ast.expr, containers: Mapping[str, ast.expr | None]) -> list[Values]:
        """Return what the names of a loop stand for in each round; none where it loops over no literals."""
        items = False
        match over:
            case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]):
                over, items = owner, True
        container = self._container_of(over, containers)
        if items and isinstance(container, ast.Dict):
            pairs = zip(container.keys, container.values, strict=True)
            elements: Sequence[ast.expr | None] = [ast.Tuple(elts=[key, value]) for key, value in pairs if key]
        else:
            elements = keys_of(container) if container is not None else ()
        rounds: list[Values] = []
        for element in elements:
            match target, element:
                case ast.Name(id=name), ast.expr():
                    rounds.append({name: element})
                case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                    both = zip(names, values, strict=True)
                    rounds.append({name.id: value for name, value in both if isinstance(name, ast.Name)})
        return rounds if len(rounds) == len(elements) else []

    @cached_property
    def class_members(self) -> dict[str, list[str]]:
        """The names that the body of each class of the module assigns: the members, if it is an enum."""
        return {
            statement.name: [
                name
                for inner in statement.body
                for target in (inner.targets if isinstance(inner, ast.Assign) else ())
                if isinstance(target, ast.Name) and not (name := target.id).startswith("_")
            ]
            for statement in statements(self.tree.body)
            if isinstance(statement, ast.ClassDef)
        }

    def bound(self, name: str) -> bool:
        """Return whether the module binds a name."""
        return name in self._bound

    @cached_property
    def _bound(self) -> frozenset[str]:
        return frozenset(every_bound_name(self.tree.body))

    def truth(self, test: ast.expr, values: Values) -> bool | None:
        """Return what a condition comes to, or None where literals do not tell. Errors: RaisedError."""
        match test:
            case ast.BoolOp(op=op, values=operands):
                decisive = isinstance(op, ast.Or)
                truths: list[bool | None] = []
                for value in operands:
                    truths.append(self.truth(value, values))
                    if truths[-1] is decisive:
                        return decisive
                return None if None in truths else not decisive
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.truth(operand, values)
                return None if truth is None else not truth
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(self.value(left, values), op, self.value(right, values))
        match self.value(test, values):
            case ast.Constant(value=constant):
                return bool(constant)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return bool(elements)
        return None

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        if isinstance(op, ast.In | ast.NotIn):
            if dotted(right) == f"{ABSOLUTE}{self.module_without}.__dict__":
                return isinstance(op, ast.NotIn)
            container = self.container(right)
            if container is None or not isinstance(left, ast.Constant):
                return None
            holds = _holds(container, left.value)
            return None if holds is None else holds is isinstance(op, ast.In)
        negative = isinstance(op, ast.NotEq | ast.IsNot)
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return (left.value == right.value) is not negative
        none = any(isinstance(side, ast.Constant) and side.value is None for side in (left, right))
        other = right if isinstance(left, ast.Constant) else left
        if none and isinstance(other, ast.Attribute | ast.Tuple | ast.List | ast.Dict | ast.Lambda):
            return negative
        if none and isinstance(other, ast.Name) and (other.id.startswith(ABSOLUTE) or self.bound(other.id)):
            return negative
        return None

    def container(self, node: ast.expr) -> ast.expr | None:
        """Return the container of literals that an expression is, or that it names, if it is one."""
        if isinstance(node, ast.Name):
            return self.containers.get(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
            return self.container(node.func.value)
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="__members__") if name in self.class_members:
                return ast.List(elts=[ast.Constant(member) for member in self.class_members[name]])
        return _container(node)

    def value(self, node: ast.expr, values: Values) -> ast.expr:
        """Return what an expression comes to, as far as literals tell. Errors: RaisedError for a key that lacks."""
        match node:
            case ast.Name(id=name):
                return values.get(name, node)
            case ast.Attribute(value=owner, attr=attribute):
                return ast.Attribute(value=self.value(owner, values), attr=attribute)
            case ast.Tuple(elts=elements):
                return ast.Tuple(elts=[self.value(element, values) for element in elements])
            case ast.Subscript(value=owner, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                bounds = [
                    ast.Constant(None) if bound is None else self.value(bound, values) for bound in (lower, upper)
                ]
                return _sliced(self.value(owner, values), *bounds)
            case ast.Subscript(value=owner, slice=key):
                return self._item(self.value(owner, values), self.value(key, values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self.truth(test, values)
                return unresolved() if truth is None else self.value(body if truth else orelse, values)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operated(self.value(left, values), op, self.value(right, values))
            case ast.JoinedStr(values=pieces):
                return self._joined(pieces, values)
            case ast.Call():
                return self._called(node, values)
        return node

    def _operated(self, left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
        if not isinstance(op, ast.Add | ast.Mod) or text_of(left) is None:
            return unresolved()
        if isinstance(op, ast.Add) and text_of(right) is None:
            return unresolved()
        pieces = right.elts if isinstance(right, ast.Tuple) else [right]
        constants = [piece.value for piece in pieces if isinstance(piece, ast.Constant)]
        if len(constants) < len(pieces):
            return unresolved()
        operand = tuple(constants) if isinstance(right, ast.Tuple) else constants[0]
        try:
            return ast.Constant(Folding().operate(type(op), text_of(left), operand))
        except (TypeError, ValueError, ArithmeticError):
            return unresolved()

    def _joined(self, written: Sequence[ast.expr], values: Values) -> ast.expr:
        pieces: list[ast.expr] = []
        for value in written:
            match value:
                case ast.FormattedValue(value=inner, conversion=conversion, format_spec=None):
                    filled = self.value(inner, values)
                    if isinstance(filled, ast.Constant) and (text := _as_text(filled.value, conversion)) is not None:
                        pieces.append(ast.Constant(text))
                        continue
            pieces.append(value)
        texts = [text for piece in pieces if (text := text_of(piece)) is not None]
        if sum(map(len, texts)) > LONGEST:
            return unresolved()
        return ast.Constant("".join(texts)) if len(texts) == len(pieces) else ast.JoinedStr(values=pieces)

    def _item(self, owner: ast.expr, key: ast.expr) -> ast.expr:
        if dotted(owner) == "sys.modules" and (module := text_of(key)):
            return ast.Name(ABSOLUTE + module)
        container = self.container(owner)
        if isinstance(key, ast.Constant) and isinstance(container, ast.Dict):
            item = _at(container, key.value)
            if item is None and _holds(container, key.value) is False:
                raise RaisedError
            return item or unresolved()
        if isinstance(key, ast.Constant) and isinstance(owner, ast.Tuple | ast.List) and isinstance(key.value, int):
            if -len(owner.elts) <= key.value < len(owner.elts):
                return owner.elts[key.value]
            raise RaisedError
        match owner, key:
            case ast.Name(id=name), ast.Constant(value=str(member)) if member in self.class_members.get(name, ()):
                # an enum by the name of its member
                return ast.Attribute(value=owner, attr=member)
        return unresolved()

    def _called(self, call: ast.Call, values: Values) -> ast.expr:
        arguments = [self.value(argument, values) for argument in call.args]
        match call.func, arguments:
            case ast.Attribute(value=owner, attr="get" | "pop"), [ast.Constant(value=key), *others]:
                container = self.container(self.value(owner, values))
                if isinstance(container, ast.Dict) and _holds(container, key) is not None:
                    return _at(container, key) or (others[0] if others else ast.Constant(None))
            case ast.Attribute(value=owner, attr=method), _ if method in _TEXT_METHODS:
                text = text_of(self.value(owner, values))
                if text is not None and all(isinstance(constant, ast.Constant) for constant in arguments):
                    return _text_method(
                        text, method, [constant.value for constant in arguments if isinstance(constant, ast.Constant)]
                    )
            case ast.Attribute(value=owner, attr="keys"), []:
                return self.container(owner) or unresolved()
            case ast.Name(id="len"), [ast.Constant(value=str(text))]:
                return ast.Constant(len(text))
            case ast.Name(id="getattr"), [owner, ast.Constant(value=str(attribute))] if attribute.isidentifier():
                return ast.Attribute(value=owner, attr=attribute)
        if (imported := self._imported(call.func, arguments)) is not None:
            return imported
        named = [self.value(keyword.value, values) for keyword in call.keywords]
        self._looked_up([*arguments, *named], values)
        return unresolved()

    def _imported(self, function: ast.expr, arguments: Sequence[ast.expr]) -> ast.expr | None:
        """Return the module or object that a call imports by a text, if it does."""
        called = (dotted(function) or "").rpartition(".")[2]
        text = text_of(arguments[0]) if arguments else None
        if text is None:
            return None
        if called == "import_module":
            package = text_of(arguments[1]) if len(arguments) > 1 else None
            if not text.startswith(".") or package in (None, self.module):
                return ast.Name(ABSOLUTE + self.absolute(text))
            if package == OTHER_NAME:
                return unresolved()
            return ast.Name(ABSOLUTE + absolute_name(text, package, is_package=True))
        place = self._own_place(text) if len(arguments) == 1 and _IMPORTS_BY_TEXT.search(called) else None
        return ast.Name(ABSOLUTE + place) if place else None

    def _own_place(self, text: str) -> str | None:
        """Return the absolute path that a text `module:name` leads to, if that is in the library of this module."""
        place = _PLACE.fullmatch(text)
        if place is None or place[1].partition(".")[0] != self.module.partition(".")[0]:
            return None
        return f"{place[1]}.{place[2]}"

    def _looked_up(self, arguments: Sequence[ast.expr], values: Values) -> None:
        """A function that is given the name and a container of literals answers those in it. Errors: RaisedError."""
        name = values.get(self.argument)
        if not isinstance(name, ast.Constant) or not any(
            isinstance(argument, ast.Constant) and argument.value == name.value for argument in arguments
        ):
            return
        containers = [
            listed
            for argument in arguments
            if isinstance(argument, ast.Name) and (listed := self.containers.get(argument.id))
        ]
        if containers and not any(_holds(container, name.value) is not False for container in containers):
            raise RaisedError


def unresolved() -> ast.expr:
    """Return an expression that nothing is known of."""
    return ast.Call(func=ast.Name("?"), args=[], keywords=[])


def _joined_with(container: ast.expr | None, added: ast.expr | None) -> ast.expr | None:
    """Return a container with what another one adds to it."""
    if container is None or added is None or len(keys_of(container)) + len(keys_of(added)) > LONGEST:
        return None
    if isinstance(container, ast.Dict) and isinstance(added, ast.Dict):
        return ast.Dict(keys=[*container.keys, *added.keys], values=[*container.values, *added.values])
    return ast.List(elts=[key for key in (*keys_of(container), *keys_of(added)) if key is not None])


def _container(node: ast.expr | None) -> ast.expr | None:
    """Return a literal container, or a mapping made by keywords: `dict(a=1)`."""
    match node:
        case ast.Dict(keys=keys):
            return node if None not in keys else None
        case ast.Set() | ast.List() | ast.Tuple():
            return node
        case ast.Call(func=ast.Name(id=maker), args=[], keywords=keywords) if maker in _CONTAINER_MAKERS:
            if all(keyword.arg for keyword in keywords):
                return ast.Dict(
                    keys=[ast.Constant(keyword.arg) for keyword in keywords],
                    values=[keyword.value for keyword in keywords],
                )
    return None


def keys_of(container: ast.expr) -> Sequence[ast.expr | None]:
    """Return the keys of a mapping, or the elements of another container."""
    match container:
        case ast.Dict(keys=keys):
            return keys
        case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements
    return []


def _holds(container: ast.expr, value: object) -> bool | None:
    """Return whether a value is among the keys; None if one of them is no literal."""
    keys = keys_of(container)
    if any(isinstance(key, ast.Constant) and key.value == value for key in keys):
        return True
    return False if all(isinstance(key, ast.Constant | ast.Tuple) for key in keys) else None


def _at(mapping: ast.Dict, constant: object) -> ast.expr | None:
    pairs = [*zip(mapping.keys, mapping.values, strict=True)][::-1]
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == constant), None)


def _as_text(value: object, conversion: int) -> str | None:
    """Return what an f-string fills in; None of a number with more digits than CPython converts to text."""
    try:
        return repr(value) if conversion == ord("r") else str(value)
    except ValueError:
        return None


def _sliced(text: ast.expr, lower: ast.expr, upper: ast.expr) -> ast.expr:
    match text, lower, upper:
        case ast.Constant(value=str(whole)), _, _ if whole == OTHER_NAME:
            return text
        case ast.Constant(value=str(whole)), ast.Constant(value=int() | None as start), ast.Constant(
            value=int() | None as end
        ):
            return ast.Constant(whole[start:end])
    return unresolved()


def _text_method(text: str, method: str, arguments: Sequence[object]) -> ast.expr:
    if text == OTHER_NAME and method == "startswith":
        return unresolved()
    try:
        result = Folding().format(text, arguments) if method == "format" else getattr(text, method)(*arguments)
    except (TypeError, ValueError, LookupError, ArithmeticError):
        return unresolved()
    if isinstance(result, str | bool):
        return ast.Constant(result)
    return ast.Tuple(elts=[ast.Constant(part) for part in result])
