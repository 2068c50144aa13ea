"""Which lines of a program run when it is run: those of functions that nothing calls do not.

What stands there was only compiled, so that no run of the whole program proves it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def unreached_lines(tree: ast.Module) -> frozenset[int]:
    """Return the lines, from 1, of the bodies of functions that are named nowhere in code that runs.

    A function that is handed on by its name counts as called, and so does a special method such as `__init__`. One that
    only a decorator takes, or a class of the library that is inherited from, does not: nothing here says that it runs.
    """
    waiting = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    named = set(_named(_own_nodes(tree.body)))
    while called := [node for node in waiting if node.name in named or _is_special(node.name)]:
        waiting = [node for node in waiting if node not in called]
        named |= {name for node in called for name in _named(_own_nodes(node.body))}
    lines = (range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1) for node in waiting)
    return frozenset(line for span in lines for line in span)


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield what runs with some statements, which of a function is what stands around its body."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, _Function):
            todo += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        else:
            todo += ast.iter_child_nodes(node)


def _named(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
