"""Programs that a model wrote: without what only people read, whether they are complete, what a function takes."""

from __future__ import annotations

import ast

from pipeline.corpus.snippets.names import free_names

_WITH_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def tidied(tree: ast.Module) -> str:
    """Return a program without comments and docstrings, which may say anything; the tree loses its docstrings too."""
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def incomplete(program: str) -> str | None:
    """Say which names a program uses that nothing in it imports or defines; None where there are none."""
    names = free_names(program)
    return f"nothing imports or defines {', '.join(names)}" if names else None


def parameters_of(function: ast.FunctionDef) -> list[str]:
    """Return the names of a function's parameters, in the order in which they are written."""
    arguments = function.args
    variable = [arguments.vararg] if arguments.vararg else []
    keywords = [arguments.kwarg] if arguments.kwarg else []
    named = [*arguments.posonlyargs, *arguments.args, *variable, *arguments.kwonlyargs, *keywords]
    return [argument.arg for argument in named]
