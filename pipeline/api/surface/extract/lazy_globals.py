"""Names that a module gets from a call at import that lists them, each with the module that it comes from.

- `lazy_import(globals(), aliases={"connect": ".client"}, deprecated_aliases={…})` of websockets: names to modules;
- `initpkg(__name__, exportdefs={"path": {"local": "._path:Local"}})` of apipkg: names to `module:attribute`, and
  submodules that no file stands for;
- `__getattr__, __dir__, __all__ = attach(__name__, submodules={…}, submod_attrs={"part": ["f"]})` of lazy_loader.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipeline.api.surface.parse.bodies import Bodies
from pipeline.api.surface.parse.keyword_scan import GLOBALS
from pipeline.api.surface.parse.module_model import LazyName, Mark
from pipeline.api.surface.parse.syntax import absolute_name, statements, text_of
from pipeline.core.vocabularies.surface import DeprecationChannel

_MODULE = re.compile(r"\.*[A-Za-z_][\w.]*")
_ENTRY_POINT = re.compile(r"\.*[A-Za-z_][\w.]*(?::[A-Za-z_][\w.]*)?")
"""`module` or `module:attribute`, as in entry points (packaging guide) and in apipkg."""

Exported = Mapping[str, "str | Exported"]


@dataclass(slots=True)
class ListedNames:
    """What such calls give a module: names, and submodules made as it runs, each with absolute paths by name."""

    names: dict[str, LazyName] = field(default_factory=dict)
    submodules: dict[str, dict[str, str]] = field(default_factory=dict)


def listed_names(tree: ast.Module, bodies: Bodies, module: str, *, is_package: bool) -> ListedNames:
    """Return the names that such calls give a module; those of a mapping that is called deprecated have a mark.

    The function that is called stands in another file, often in another distribution, and a file is read without any
    other (its record is cached by its own bytes). So the keyword is the only sign here of what the function does with
    a mapping. A name such as `deprecated_aliases` is part of that function's signature and not a word of a comment.
    """
    listed = ListedNames()
    if GLOBALS not in bodies.keywords and "__name__" not in bodies.rest:
        return listed
    for statement in statements(tree.body):
        match statement:
            case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
                if lists_names(call):
                    listed.names |= dict(_from_modules(call, module, is_package=is_package))
                elif is_attached(statement):
                    listed.names |= dict(_attached(call, module))
                elif _takes_name(call):
                    for exported in map(_exported, [*call.args, *(keyword.value for keyword in call.keywords)]):
                        _export(exported, module, "", listed)
    return listed


def lists_names(call: ast.Call) -> bool:
    """Return whether a call takes `globals()`, and beside it only mappings of names to modules."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    others = [argument for argument in arguments if not is_globals(argument)]
    return len(others) < len(arguments) and bool(others) and all(_is_mapping(argument) for argument in others)


def is_globals(node: ast.expr) -> bool:
    """Return whether an expression is `globals()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"


def is_attached(statement: ast.stmt) -> bool:
    """Return whether a module gets its `__getattr__` from a call that lists the names that it answers."""
    match statement:
        case ast.Assign(
            targets=[ast.Tuple(elts=[ast.Name(id="__getattr__"), *_]) | ast.Name(id="__getattr__")],
            value=ast.Call() as call,
        ):
            return _takes_name(call) and bool(list(_attached(call, "")))
    return False


def _is_mapping(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and all(
        isinstance(key, ast.Constant)
        and str(key.value).isidentifier()
        and isinstance(value, ast.Constant)
        and _MODULE.fullmatch(str(value.value))
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _from_modules(call: ast.Call, module: str, *, is_package: bool) -> Iterator[tuple[str, LazyName]]:
    named = [("", argument) for argument in call.args] + [(k.arg or "", k.value) for k in call.keywords]
    for keyword, mapping in named:
        for name, source in _pairs(mapping):
            target = f"{absolute_name(source, module, is_package=is_package)}.{name}"
            yield name, LazyName(_deprecated(module, name) if "deprecat" in keyword else None, target)


def _pairs(mapping: ast.expr) -> Iterator[tuple[str, str]]:
    if isinstance(mapping, ast.Dict):
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if (name := text_of(key)) is not None and (source := text_of(value)) is not None:
                yield name, source


def _deprecated(module: str, name: str) -> Mark:
    message = f"{module}.{name} is deprecated"
    return {
        "channel": DeprecationChannel.WARNING,
        "message": message,
        "since": None,
        "removal": None,
        "replacement": None,
    }


def _takes_name(call: ast.Call) -> bool:
    return any(isinstance(argument, ast.Name) and argument.id == "__name__" for argument in call.args)


def _attached(call: ast.Call, module: str) -> Iterator[tuple[str, LazyName]]:
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        for part in _texts(argument):
            yield part, LazyName(target=f"{module}.{part}")
        if isinstance(argument, ast.Dict):
            for key, names in zip(argument.keys, argument.values, strict=True):
                if (part := text_of(key) or "") and names:
                    yield from ((name, LazyName(target=f"{module}.{part}.{name}")) for name in _texts(names))


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        yield from (text for element in node.elts if (text := text_of(element)) is not None)


def _exported(node: ast.expr) -> Exported:
    """Return a mapping of names to entry points or to such mappings; nothing where a value is something else."""
    exported: dict[str, str | Exported] = {}
    if not isinstance(node, ast.Dict):
        return exported
    for key, value in zip(node.keys, node.values, strict=True):
        name, source = text_of(key) or "", text_of(value)
        inner = _exported(value)
        if not name.isidentifier() or not (inner or (source and _ENTRY_POINT.fullmatch(source))):
            return {}
        exported[name] = inner or str(source)
    # a mapping of plain words may be anything
    return exported if any(not isinstance(value, str) or ":" in value for value in exported.values()) else {}


def _export(exported: Exported, module: str, inside: str, listed: ListedNames) -> None:
    for name, value in exported.items():
        if not isinstance(value, str):
            listed.submodules.setdefault(f"{inside}{name}", {})
            _export(value, module, f"{inside}{name}.", listed)
        elif not name.startswith("_"):
            # a leading dot is the package that is handed over
            target = (module + value if value.startswith(".") else value).replace(":", ".")
            if inside:
                listed.submodules[inside.removesuffix(".")][name] = target
            else:
                listed.names[name] = LazyName(target=target)
