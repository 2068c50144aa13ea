"""The functions of a file: where signature, docstring and body of each stand, in lines from 1."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

import more_itertools

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.projects import FunctionType

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    """A function of a module or class; those within other functions are a part of them.

    `first_line` is that of its first decorator. The body begins below signature and docstring and includes the comments
    that stand there; `indent` counts the characters before its first statement.
    """

    namespace: str
    type: FunctionType
    class_name: str | None
    name: str
    first_line: int
    signature: tuple[int, int]
    body: tuple[int, int]
    indent: int
    docstring: str | None
    node: Definition = field(compare=False, repr=False)

    @property
    def owner(self) -> str:
        """The namespace of the class of a method, or of the module."""
        return self.namespace.rpartition(".")[0]


@dataclass(frozen=True)
class Skipped:
    """A function that has no body of lines of its own, and why."""

    namespace: str
    first_line: int
    last_line: int
    why: str


def module_name(path: str, import_root: str) -> str:
    """Return by which name a file is imported."""
    parts = path.removeprefix(f"{import_root}/" if import_root else "").removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions_of(text: str, module: str) -> list[Function | Skipped]:
    """Return the functions of a file in the order in which they stand.

    Errors: SyntaxError, ValueError where it is no Python of ours.
    """
    tree = parse_python(text)
    lines = text.split("\n")
    return [_function(node, owners, module, lines) for node, owners in _definitions(tree, ())]


def _definitions(node: ast.AST, owners: tuple[str, ...]) -> Iterator[tuple[Definition, tuple[str, ...]]]:
    """Yield the functions below a module or class, also those under conditions, with the classes around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child, owners
        elif isinstance(child, ast.ClassDef):
            yield from _definitions(child, (*owners, child.name))
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(child, owners)


def _function(node: Definition, owners: tuple[str, ...], module: str, lines: list[str]) -> Function | Skipped:
    namespace = ".".join([module, *owners, node.name])
    first = _first_line(node)
    last = node.end_lineno or node.lineno
    documented = ast.get_docstring(node, clean=False) is not None
    rest = node.body[1:] if documented else node.body
    if not rest:
        return Skipped(namespace, first, last, "no statement beside the docstring")
    try:
        colon = _colon(lines, node.lineno, last)
    except (tokenize.TokenError, SyntaxError) as error:
        return Skipped(namespace, first, last, f"its signature cannot be read: {error}")
    begins = (node.body[0].end_lineno or node.body[0].lineno) if documented else colon
    if _first_line(rest[0]) <= begins:
        return Skipped(namespace, first, last, "its body stands on a line with the signature or the docstring")
    body = more_itertools.first(number for number in range(begins + 1, last + 1) if lines[number - 1].strip())
    doc = node.body[0].value.value if documented else None  # type: ignore[attr-defined]
    return Function(
        namespace=namespace,
        type=FunctionType.METHOD if owners else FunctionType.FUNCTION,
        class_name=owners[-1] if owners else None,
        name=node.name,
        first_line=first,
        signature=(node.lineno, colon),
        body=(body, last),
        indent=rest[0].col_offset,
        docstring=inspect.cleandoc(doc).strip() if doc else None,
        node=node,
    )


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _colon(lines: list[str], first: int, last: int) -> int:
    """Return the line of the colon that ends a signature: the first one outside of all brackets."""
    source = io.StringIO("\n".join(lines[first - 1 : last]) + "\n")
    depth = 0
    for token in tokenize.generate_tokens(source.readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and not depth:
                return first + token.start[0] - 1
    raise SyntaxError("no colon ends it")
