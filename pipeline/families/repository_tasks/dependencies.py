"""What a function of a project uses of the project: what it called as its tests ran, and what it named on the way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from pipeline.families.repository_tasks.bindings import Bindings, Module, imports_within
from pipeline.families.repository_tasks.functions import Function

_WORD = re.compile(r"[^\W\d]\w*")
_MAKERS = ("__init__", "__new__", "__post_init__")


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Namespaces by where they stand as seen from the function, each list sorted."""

    intra_class: tuple[str, ...]
    intra_file: tuple[str, ...]
    cross_file: tuple[str, ...]


def dependencies(
    function: Function,
    lines: Sequence[str],
    executed: Set[int],
    called: Iterable[Function],
    module: str,
    bindings: Bindings,
) -> Dependencies:
    """Return the definitions of the project that a function used on the lines that were executed.

    These are the functions that it was seen to call, as far as an executed line names them (a class is named
    where its constructor ran; a callback that was handed in is not named), and the module-level names of the project
    on such lines: classes, constants, functions that were handed on. A function is not its own dependency.
    """
    words = {word for number in executed for word in _WORD.findall(lines[number - 1])}
    names = {name for other in called if (name := _named(other, words))}
    names |= set(_names(function, executed, module, bindings))
    names -= {function.namespace}
    owner = f"{function.owner}." if function.class_name else None
    in_class = {name for name in names if owner and name.startswith(owner)}
    in_file = {name for name in names - in_class if _module_of(name, bindings) == module}
    return Dependencies(tuple(sorted(in_class)), tuple(sorted(in_file)), tuple(sorted(names - in_class - in_file)))


def _named(called: Function, words: Set[str]) -> str | None:
    """Return the namespace by which a called function is named; None where no word says so."""
    if called.name in _MAKERS and called.class_name in words:
        return called.owner
    return called.namespace if called.name in words else None


def _names(function: Function, executed: Set[int], module: str, bindings: Bindings) -> Iterator[str]:
    """Yield the definitions that names on executed lines lead to."""
    own = bindings.modules.get(module)
    is_package = own is not None and any(name.startswith(f"{module}.") for name in bindings.modules)
    inside = imports_within(function.node, module, is_package)
    merged = Module(
        module,
        own.defines if own else frozenset(),
        {**(own.imports if own else {}), **inside.imports},
        own.stars if own else (),
    )
    visible = Bindings({**bindings.modules, module: merged})
    local = _locals(function.node) - inside.imports.keys()
    for statement in function.node.body:
        for node in ast.walk(statement):
            chain = _chain(node)
            if chain and node.lineno in executed and chain.split(".")[0] not in local:  # type: ignore[attr-defined]
                names = visible.resolve(module, chain)
                if names:
                    yield names


def _chain(node: ast.AST) -> str | None:
    """Return the dotted name of a name or of attributes of one that is read."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return ".".join([node.id, *reversed(parts)])
    return None


def _locals(node: ast.AST) -> set[str]:
    """Return the names that a function binds itself, its parameters too, unless it says that they are global."""
    bound: set[str] = set()
    shared: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            bound.add(part.arg)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound.add(part.id)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            bound |= {part.name} if part.name and part is not node else set()
        elif isinstance(part, ast.Global | ast.Nonlocal):
            shared |= set(part.names)
    return bound - shared


def _module_of(namespace: str, bindings: Bindings) -> str | None:
    """Return the longest module name that a namespace begins with."""
    parts = namespace.split(".")
    names = (".".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1))
    return next((name for name in names if name in bindings.modules), None)
