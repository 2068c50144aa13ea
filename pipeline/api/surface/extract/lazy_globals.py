"""Names that a module makes as it is imported: `globals()[name] = …`, `exec(…)`, or a call that lists them.

What such a call lists comes each from a module that it names:

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
from pipeline.api.surface.parse.keyword_scan import GETATTR, GLOBALS, MAKES_NAMES
from pipeline.api.surface.parse.module_model import LazyName, Mark
from pipeline.api.surface.parse.syntax import absolute_name, functions, statements, text_of
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


def binds_dynamically(tree: ast.Module, bodies: Bodies) -> bool:
    """Return whether a module may have names that no statement of its binds: `globals()`, `exec`, `__getattr__`."""
    if GETATTR in bodies.keywords and any(f.name == "__getattr__" for f in functions(tree.body)):
        return True
    words = [word for word in MAKES_NAMES if word in bodies.keywords]
    # walking the trees of all modules would cost a third of all the reading
    hits = sum(map(bodies.text.count, words))
    for function in functions(tree.body) if hits else ():
        body = bodies.of(function)
        # what is told is known already of a function that stands alone
        if not body.keywords.isdisjoint(words) and (count := body.count(words)):
            hits -= count
            if _reach_names(body.statements):
                return True
    return bool(hits) and _reach_names(tree.body)


def _reach_names(body: list[ast.stmt]) -> bool:
    return any(_reaches_names(node) for statement in body for node in ast.walk(statement))


def _reaches_names(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="globals" | "vars" | "exec" | "setattr" | "locals")):
            return True
        case ast.Attribute(attr="modules", value=ast.Name(id="sys")):
            return True
    return False


def binds_unobservably(tree: ast.Module, bodies: Bodies, module: str) -> bool:
    """Return whether a module, as it is imported, binds names that are made as it runs: `globals()[name] = value`."""
    if bodies.keywords.isdisjoint(MAKES_NAMES):
        return False
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    at_import = (s for s in tree.body if not isinstance(s, scopes) and bodies.lines_mention(s, MAKES_NAMES))
    return any(_binds_names(node, module) for statement in at_import for node in ast.walk(statement))


def _binds_names(node: ast.AST, module: str) -> bool:
    match node:
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")), ctx=ast.Store()):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")), attr="update")
        ):
            return True
        case ast.Call(func=ast.Name(id="exec")):
            return True
        case ast.Call(args=arguments) if any(is_globals(argument) for argument in arguments):
            # it may give the module any name, and a `__getattr__`
            return not lists_names(node)
        case ast.Call(
            func=ast.Name(id="setattr"), args=[ast.Subscript(value=ast.Attribute(attr="modules"), slice=of), *_]
        ):
            # another module is patched where its name is a literal
            return text_of(of) in {None, module}
    return False
