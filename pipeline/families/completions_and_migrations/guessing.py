"""The pieces of a hidden span that nobody can know: values and names that stand nowhere else."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import Masked, without_masks
from pipeline.families.completions_and_migrations.rules import GuessingRules
from pipeline.families.completions_and_migrations.source import Source, Span
from pipeline.lake.stage import Reject

_LANGUAGE = frozenset(dir(builtins)) | {"__name__", "__file__", "self", "cls"}
_WORD = re.compile(r"\w+")
_DEFINITION = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
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


def unknowable(source: Source, span: Span, visible: str, name: str, rules: GuessingRules, hint: str = "") -> list[str]:
    """Return the values and names within `span` that `visible` does not hold, in the order of the program.

    Known are the hidden name of the API, Python's own names, variables that the span binds and uses, and
    `usual_values`, these only beside a variable of the program, which may stand in a `hint` before the span: without
    one a call may have any argument. Names of other APIs are asked for; those of keyword arguments, of attributes of
    `self`, of private attributes, of other variables and definitions are somebody's choice. Of a string each word
    counts, from its beginning (`vowel` is known from `vowels`); a display of several constants has to stand there as it
    is.
    """
    inside = [node for node in ast.walk(source.tree) if _is_within(source, node, span)]
    bound = {node.arg for node in inside if isinstance(node, ast.arg)}
    bound |= {name for node in inside for target in _targets(node) for name in _stored(target)}
    # A variable that the span uses itself may have any name.
    names = [node for node in inside if isinstance(node, ast.Name)]
    bound |= {each.id for each in names if isinstance(each.ctx, ast.Store)} & {
        each.id for each in names if isinstance(each.ctx, ast.Load)
    }
    words = set(_WORD.findall(visible))
    available = bound | _LANGUAGE | {name} | words
    variables = words - _LANGUAGE - _imported(source) - {name}
    anchored = not variables.isdisjoint({each.id for each in names} | set(_WORD.findall(hint)))
    usual = rules.usual_values if anchored else frozenset[str]()
    whole = [node for node in inside if isinstance(node, _DISPLAYS) and (_constants(node) > 1 or _is_empty(node))]
    parts = {id(part) for display in whole for part in ast.walk(display)} - set(map(id, whole))
    close = re.sub(r"\s", "", visible)
    pieces: list[str] = []
    if not anchored:
        pieces += (text for text in _called_arguments(source, span, name) if re.sub(r"\s", "", text) not in close)
    for node in inside:
        if isinstance(node, _DISPLAYS) and id(node) in map(id, whole):
            text = ast.unparse(node)
            is_visible = anchored if _is_empty(node) else re.sub(r"\s", "", text) in close
            if id(node) not in parts and not is_visible:
                pieces.append(text)
        elif isinstance(node, ast.Constant) and id(node) not in parts:
            pieces += _of_constant(node, visible, usual)
        else:
            pieces += (each for each in _names_of(node) if each not in available)
    pieces += (each for each in _begun_in(source, span) if each not in available)
    return list(dict.fromkeys(pieces))


def _is_within(source: Source, node: ast.AST, span: Span) -> bool:
    if not isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword):
        return False
    return span[0] <= source.start_of(node) and source.end_of(node) <= span[1]


def _begun_in(source: Source, span: Span) -> Iterator[str]:
    """Yield the names of definitions whose first line is hidden, and not their bodies: they are somebody's choice."""
    definitions = (node for node in ast.walk(source.tree) if isinstance(node, _DEFINITION))
    yield from (each.name for each in definitions if span[0] <= source.start_of(each) < span[1] < source.end_of(each))


def _constants(display: ast.AST) -> int:
    """Return how many constants a display holds, at any depth; none where it holds anything else."""
    leaves = [
        node
        for node in ast.walk(display)
        if isinstance(node, ast.expr) and not isinstance(node, (*_DISPLAYS, ast.UnaryOp))
    ]
    return len(leaves) if all(isinstance(leaf, ast.Constant) for leaf in leaves) else 0


def _called_arguments(source: Source, span: Span, name: str) -> Iterator[str]:
    """Yield the arguments of the API that are calls; constants are looked at by themselves."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        named = name in (getattr(node.func, "attr", None), getattr(node.func, "id", None))
        # The cursor of a context stands within the name of the function.
        if named and span[0] <= source.end_of(node.func) and source.end_of(node) <= span[1]:
            yield from (ast.unparse(each) for each in node.args if isinstance(each, ast.Call))


def _is_empty(display: ast.AST) -> bool:
    return not any(isinstance(node, ast.expr) for node in ast.iter_child_nodes(display))


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what loops and comprehensions bind: for themselves, so that any name does."""
    match node:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            yield target
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from (each.target for each in node.generators)


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _imported(source: Source) -> set[str]:
    """Return the names that imports bring."""
    nodes = (node for node in ast.walk(source.tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {(alias.asname or alias.name).partition(".")[0] for node in nodes for alias in node.names}


def _of_constant(node: ast.Constant, visible: str, usual: Collection[str]) -> Iterator[str]:
    if ast.unparse(node) in usual or node.value is ...:
        return
    if node.value is None or isinstance(node.value, bool):
        yield from () if re.search(rf"\b{node.value}\b", visible) else (str(node.value),)
        return
    if isinstance(node.value, int | float | complex):
        # As a whole: 1 and 3 do not show 1.3.
        if not re.search(rf"(?<![^\W_])(?<!\.){re.escape(str(node.value))}(?!\w|\.\d)", visible):
            yield str(node.value)
        return
    text = node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
    if not usual and not _WORD.search(text) and ast.unparse(node) not in visible:
        yield ast.unparse(node)
    for word in _WORD.findall(text):
        exact = r"(?!\w)" if word.isdigit() else ""
        if not re.search(rf"(?<![^\W_]){re.escape(word)}{exact}", visible):
            yield word


def _names_of(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return (name,)
        case ast.Attribute(attr=name) if name.startswith("_") and not name.endswith("__"):
            return (name,)
        case ast.keyword(arg=str() as name):
            return (name,)
    return ()
