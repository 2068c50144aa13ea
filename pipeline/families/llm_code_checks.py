"""Code that a model wrote, read with bounds: it may be anything, and nothing of it runs outside of the sandbox."""

from __future__ import annotations

import ast
import warnings

from pipeline.core.syntax_trees import parse_python


class BadCode(ValueError):
    """A text is no code that can be used; the message says why, in words that the model can use."""


def read_code(text: str, max_chars: int) -> ast.Module:
    """Return the tree of a program, or of a pytest module.

    Errors: BadCode where it is longer than `max_chars`, does not parse, or is nested so deeply that it cannot be
    written again.
    """
    if len(text) > max_chars:
        raise BadCode(f"it has {len(text)} characters, at most {max_chars} are taken")
    try:
        with warnings.catch_warnings():
            # "invalid escape sequence" and the like are said on the console of whoever runs us
            warnings.simplefilter("ignore")
            tree = parse_python(text)
        ast.unparse(tree)
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise BadCode(f"it does not parse{where}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadCode(f"it cannot be read: {error}") from None
    return tree


def names_of_tests(tree: ast.Module) -> list[str]:
    """Return the names of the test functions that pytest finds at the top of a module, each once."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return list(dict.fromkeys(node.name for node in functions if node.name.startswith("test")))


def names_used(tree: ast.AST) -> frozenset[str]:
    """Return the names, attributes and parts of imported modules that stand in a program."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.ImportFrom(module=module):
                names |= set((module or "").split("."))
            case ast.alias(name):
                names |= set(name.split("."))
    return frozenset(names)
