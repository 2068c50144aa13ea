"""The pieces of a hidden span that nobody can know: values and names that stand nowhere else."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pipeline.families.completions_and_migrations.source import Source, Span

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.families.completions_and_migrations.rules import GuessingRules

_LANGUAGE = frozenset(dir(builtins)) | {"__name__", "__file__", "self", "cls"}
_WORD = re.compile(r"\w+")
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def unknowable(source: Source, span: Span, shown: str, name: str, rules: GuessingRules) -> list[str]:
    """Return the values and names within `span` that `shown` does not hold, in the order of the program.

    Known are the hidden name of the API, Python's own names, those that the span binds itself, and `usual_values`.
    Names of attributes and keywords belong to an API, whose knowledge is asked for; those of `self` do not. Of a
    string each word counts, from its beginning (`vowel` is known from `vowels`); a display of several constants has to
    stand there as it is. Names of definitions are pieces too: nobody can know how somebody calls a function.
    """
    inside = [node for node in ast.walk(source.tree) if _is_within(source, node, span)]
    bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in inside if isinstance(node, ast.arg)}
    known = bound | _LANGUAGE | {name} | set(_WORD.findall(shown))
    whole = [node for node in inside if isinstance(node, _DISPLAYS) and _constants(node) > 1]
    parts = {id(part) for display in whole for part in ast.walk(display)} - set(map(id, whole))
    close = re.sub(r"\s", "", shown)
    pieces: list[str] = []
    for node in inside:
        if isinstance(node, _DISPLAYS) and id(node) in map(id, whole):
            text = ast.unparse(node)
            if id(node) not in parts and re.sub(r"\s", "", text) not in close:
                pieces.append(text)
        elif isinstance(node, ast.Constant) and id(node) not in parts:
            pieces += _of_constant(node, shown, rules)
        else:
            pieces += (each for each in _names_of(node) if each not in known)
    return list(dict.fromkeys(pieces))


def _is_within(source: Source, node: ast.AST, span: Span) -> bool:
    if not isinstance(node, ast.expr | ast.stmt | ast.arg):
        return False
    return span[0] <= source.start_of(node) and source.end_of(node) <= span[1]


def _constants(display: ast.AST) -> int:
    """Return how many constants a display holds, at any depth; none where it holds anything else."""
    leaves = [
        node
        for node in ast.walk(display)
        if isinstance(node, ast.expr) and not isinstance(node, (*_DISPLAYS, ast.UnaryOp))
    ]
    return len(leaves) if all(isinstance(leaf, ast.Constant) for leaf in leaves) else 0


def _of_constant(node: ast.Constant, shown: str, rules: GuessingRules) -> Iterator[str]:
    if ast.unparse(node) in rules.usual_values or node.value is ...:
        return
    text = node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
    exact = "" if isinstance(node.value, str | bytes) else r"(?!\w)"
    yield from (word for word in _WORD.findall(text) if not re.search(rf"(?<![^\W_]){re.escape(word)}{exact}", shown))


def _names_of(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return (name,)
    return ()
