"""The pieces of a hidden span that nobody can know: values and names that stand nowhere else."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import Masked, without_masks
from pipeline.families.completions_and_migrations.rules import GuessingRules
from pipeline.families.completions_and_migrations.source import Source, Span
from pipeline.lake.stage import Reject

_LANGUAGE = frozenset(dir(builtins)) | {"__name__", "__file__", "self", "cls"}
_WORD = re.compile(r"\w+")
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def refuse_unknowable(
    source: Source, masked: Masked, name: str, granularity: Granularity, rules: GuessingRules, description: str = ""
) -> Reject | None:
    """Return the reject, with an empty key, of a masked line or block that nobody could write.

    That is one that is all but imports, and one of which more than the rules allow stands neither in the rest of the
    program nor in its description.
    """
    cut = masked.cut
    if cut is None:
        return None
    if all(one.imports or (cut[0] <= one.span[0] and one.span[1] <= cut[1]) for one in source.body):
        return Reject("", RejectReason.UNKNOWABLE, "nothing but imports is shown")
    pieces = unknowable(source, cut, f"{without_masks(masked.masked_code)}\n{description}", name, rules)
    if len(pieces) <= rules.max_unknowable.get(granularity, 0):
        return None
    return Reject("", RejectReason.UNKNOWABLE, f"nothing shows {', '.join(pieces)[:200]}")


def unknowable(source: Source, span: Span, visible: str, name: str, rules: GuessingRules) -> list[str]:
    """Return the values and names within `span` that `visible` does not hold, in the order of the program.

    Known are the hidden name of the API, Python's own names, those that the span binds itself, and `usual_values`.
    Names of attributes and keywords belong to an API, whose knowledge is asked for; those of `self` do not. Of a
    string each word counts, from its beginning (`vowel` is known from `vowels`); a display of several constants has to
    stand there as it is. Names of definitions are pieces too: nobody can know how somebody calls a function.
    """
    inside = [node for node in ast.walk(source.tree) if _is_within(source, node, span)]
    bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in inside if isinstance(node, ast.arg)}
    available = bound | _LANGUAGE | {name} | set(_WORD.findall(visible))
    whole = [node for node in inside if isinstance(node, _DISPLAYS) and _constants(node) > 1]
    parts = {id(part) for display in whole for part in ast.walk(display)} - set(map(id, whole))
    close = re.sub(r"\s", "", visible)
    pieces: list[str] = []
    for node in inside:
        if isinstance(node, _DISPLAYS) and id(node) in map(id, whole):
            text = ast.unparse(node)
            if id(node) not in parts and re.sub(r"\s", "", text) not in close:
                pieces.append(text)
        elif isinstance(node, ast.Constant) and id(node) not in parts:
            pieces += _of_constant(node, visible, rules)
        else:
            pieces += (each for each in _names_of(node) if each not in available)
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


def _of_constant(node: ast.Constant, visible: str, rules: GuessingRules) -> Iterator[str]:
    if ast.unparse(node) in rules.usual_values or node.value is ...:
        return
    text = node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
    exact = "" if isinstance(node.value, str | bytes) else r"(?!\w)"
    yield from (word for word in _WORD.findall(text) if not re.search(rf"(?<![^\W_]){re.escape(word)}{exact}", visible))


def _names_of(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return (name,)
    return ()
