"""Classes that a call makes, written as the class statements that they amount to.

`Shade = Enum("Shade", "DARK LIGHT")` (enum, "Functional API"), `Opts = TypedDict("Opts", {"a": int})` (PEP 589),
`Row = make_dataclass("Row", ["k", ("v", int, 0)])`, `Made = type("Made", (Base,), {"limit": 3})`; as far as literals
tell the members. Named tuples are read where fields are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pipeline.api.surface.parse.syntax import dotted, options, statements, text_of

_FLAGS = frozenset({"Flag", "IntFlag"})
_ENUMS = _FLAGS | {"Enum", "IntEnum", "StrEnum"}
_MODULES = {
    **dict.fromkeys(_ENUMS, frozenset({"enum"})),
    "TypedDict": frozenset({"typing", "typing_extensions"}),
    "make_dataclass": frozenset({"dataclasses"}),
}
_WORDS = ("Enum(", "Flag(", "TypedDict(", "make_dataclass(", "type(")

Members = Sequence[ast.stmt]


def write_classes(tree: ast.Module, rest: str) -> None:
    """Rewrite, in place, assignments of calls that make classes; `rest` is the text of the module without bodies."""
    if any(word in rest for word in _WORDS):
        makers = dict(_imported(tree))
        tree.body = [_written(statement, makers) for statement in tree.body]


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what a module calls the makers of classes: its name for each, or for the module that has them."""
    for statement in statements(tree.body):
        match statement:
            case ast.ImportFrom(module=str(module), level=0, names=names):
                for alias in names:
                    if module in _MODULES.get(alias.name, ()):
                        yield alias.asname or alias.name, alias.name
            case ast.Import(names=names):
                for alias in names:
                    for maker, modules in _MODULES.items():
                        if alias.name in modules:
                            yield f"{alias.asname or alias.name}.{maker}", maker


def _written(statement: ast.stmt, makers: dict[str, str]) -> ast.stmt:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, *_]) as call):
            called = dotted(call.func) or ""
            maker = "type" if called == "type" and len(call.args) == 3 else makers.get(called)
            members = _members(maker, call) if maker else None
            if maker and members is not None:
                class_ = _class(name, call, maker, members)
                return ast.fix_missing_locations(ast.copy_location(class_, statement))
    return statement


def _class(name: str, call: ast.Call, maker: str, members: Members) -> ast.ClassDef:
    bases: list[ast.expr] = [call.func]
    if maker == "type":
        bases = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else []
    elif maker == "make_dataclass":
        listed = options(call).get("bases")
        bases = listed.elts if isinstance(listed, ast.Tuple) else []
    as_dataclass = ast.Attribute(value=ast.Name("dataclasses", ctx=ast.Load()), attr="dataclass", ctx=ast.Load())
    return ast.ClassDef(
        name=name,
        bases=bases,
        keywords=[keyword for keyword in call.keywords if keyword.arg == "total"],
        body=[*members] or [ast.Pass()],
        decorator_list=[as_dataclass] if maker == "make_dataclass" else [],
    )


def _members(maker: str, call: ast.Call) -> Members | None:
    return _enum_members(maker, call) if maker in _ENUMS else _MEMBERS[maker](call)


def _enum_members(maker: str, call: ast.Call) -> Members | None:
    listed = call.args[1] if len(call.args) > 1 else options(call).get("names")
    match listed:
        case ast.Constant(value=str(names)):
            return _generated(maker, names.replace(",", " ").split(), call)
        case ast.Dict(keys=keys, values=values):
            return _all(map(_value_of, keys, values))
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            words = [text for element in elements if (text := text_of(element)) is not None]
            same = len(words) == len(elements)
            return _generated(maker, words, call) if same else _all(map(_enum_member, elements))
    return None


def _generated(maker: str, names: Sequence[str], call: ast.Call) -> Members | None:
    """Return members whose values the enum makes, as `_generate_next_value_` of the standard library does.

    A flag goes on with the next power of two, a `StrEnum` takes the name in lower case, and others count from `start`.
    """
    start = options(call).get("start", ast.Constant(1))
    first = start.value if isinstance(start, ast.Constant) and isinstance(start.value, int) else None
    members: list[ast.stmt] = []
    for place, name in enumerate(names):
        value: ast.expr = ast.Call(func=ast.Name("auto", ctx=ast.Load()), args=[], keywords=[])
        if maker == "StrEnum":
            value = ast.Constant(name.lower())
        elif first is not None:
            is_later_flag = maker in _FLAGS and place
            value = ast.Constant(1 << first.bit_length() + place - 1 if is_later_flag else first + place)
        if not name.isidentifier():
            return None
        members.append(_bound(name, value))
    return members


def _enum_member(element: ast.expr) -> ast.stmt | None:
    match element:
        case ast.Tuple(elts=[key, value]) | ast.List(elts=[key, value]):
            return _value_of(key, value)
    return None


def _typed_keys(call: ast.Call) -> Members | None:
    listed = call.args[1] if len(call.args) > 1 else None
    if not isinstance(listed, ast.Dict):
        return None
    return _all(_annotated(text_of(key), kind, None) for key, kind in zip(listed.keys, listed.values, strict=True))


def _dataclass_fields(call: ast.Call) -> Members | None:
    listed = call.args[1] if len(call.args) > 1 else options(call).get("fields")
    return _all(map(_field, listed.elts)) if isinstance(listed, ast.List | ast.Tuple) else None


def _field(element: ast.expr) -> ast.stmt | None:
    match element:
        case ast.Tuple(elts=[key, kind]):
            return _annotated(text_of(key), kind, None)
        case ast.Tuple(elts=[key, kind, default]):
            return _annotated(text_of(key), kind, default)
    return _annotated(text_of(element), ast.Name("Any", ctx=ast.Load()), None)


def _namespace(call: ast.Call) -> Members | None:
    match call.args[2]:
        case ast.Dict(keys=keys, values=values):
            return _all(map(_value_of, keys, values))
    return None


def _value_of(key: ast.expr | None, value: ast.expr) -> ast.stmt | None:
    name = text_of(key)
    return _bound(name, value) if name is not None and name.isidentifier() else None


def _bound(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(name, ctx=ast.Store())], value=value)


def _annotated(name: str | None, kind: ast.expr, value: ast.expr | None) -> ast.stmt | None:
    if name is None or not name.isidentifier():
        return None
    return ast.AnnAssign(target=ast.Name(name, ctx=ast.Store()), annotation=kind, value=value, simple=1)


def _all(members: Iterator[ast.stmt | None] | map[ast.stmt | None]) -> Members | None:
    """Return the members, or None if one of them is no literal."""
    values = list(members)
    literals = [member for member in values if member is not None]
    return literals if len(literals) == len(values) else None


_MEMBERS: dict[str, Callable[[ast.Call], Members | None]] = {
    "TypedDict": _typed_keys,
    "make_dataclass": _dataclass_fields,
    "type": _namespace,
}
