"""What the lists and dicts of a script hold, put together from literals, names, and calls that hand things on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from pipeline.corpus.pins.requirement import both
from pipeline.corpus.pins.static import PASSES_ON, Bindings, Bound, called
from pipeline.corpus.pins.strings import text_of

_PUTS_TOGETHER = frozenset({"sum", "chain", "from_iterable", "union"})
_OF_TEXT = frozenset({"split", "splitlines", "strip", "copy"})


def entries(bound: Bound, bindings: Bindings, followed: set[str] | None = None) -> Iterator[tuple[str, Bound]]:
    """Yield the entries of what is a dict: a literal, `dict(…)`, a name of one, and what was set in it later.

    `seen` are the names that were followed already.
    """
    node = bound.value
    followed = set() if followed is None else followed
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            inner = Bound(value, bound.condition)
            text = text_of(key, bindings) if key else None
            if text is not None:
                yield text, inner
            elif key is None:
                yield from entries(inner, bindings, followed)
    elif isinstance(node, ast.Call):
        yield from ((keyword.arg, Bound(keyword.value, bound.condition)) for keyword in node.keywords if keyword.arg)
        for argument in node.args if called(node) in PASSES_ON else ():
            yield from entries(Bound(argument, bound.condition), bindings, followed)
    elif isinstance(node, ast.Name) and node.id not in followed:
        followed.add(node.id)
        yield from _named_entries(node.id, bound, bindings, followed)


def _named_entries(name: str, bound: Bound, bindings: Bindings, followed: set[str]) -> Iterator[tuple[str, Bound]]:
    for binding in bindings.names.get(name, ()):
        yield from entries(Bound(binding.value, both(binding.condition, bound.condition)), bindings, followed)
    for subscript, binding in bindings.items.get(name, ()):
        text = text_of(subscript, bindings)
        if text is not None:
            yield text, Bound(binding.value, both(binding.condition, bound.condition))


def items(bound: Bound, bindings: Bindings, followed: set[str] | None = None) -> Iterator[Bound]:
    """Yield the expressions that stand in what is a list of strings, and those that nobody can take apart.

    `seen` are the names that were followed already: each adds what it stands for once.
    """
    node = bound.value
    followed = set() if followed is None else followed
    parts = _parts(node, bindings, followed)
    if parts is not None:
        for part in parts:
            yield from items(Bound(part.value, both(part.condition, bound.condition)), bindings, followed)
    elif not (isinstance(node, ast.Constant) and not isinstance(node.value, str)):
        yield bound  # but for None in place of a list


def _parts(node: ast.expr, bindings: Bindings, followed: set[str]) -> Sequence[Bound] | None:
    """Return what an expression is put together from; None for one that is looked at as it is."""
    if isinstance(node, ast.Name):
        return _once(node.id, bindings.names.get(node.id), followed)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return _once(ast.unparse(node), _subscribed(node, node.value, bindings), followed)
    if isinstance(node, ast.Call) and called(node) == "values" and isinstance(node.func, ast.Attribute):
        values = [value for _, value in entries(Bound(node.func.value, None), bindings)]
        return _once(ast.unparse(node), values or None, followed)
    if isinstance(node, ast.Call) and not node.args and called(node) in bindings.functions:
        return _once(f"{called(node)}()", bindings.returned(called(node)), followed)
    inner = _inner(node, bindings)
    return None if inner is None else [Bound(element, None) for element in inner]


def _subscribed(node: ast.Subscript, of: ast.Name, bindings: Bindings) -> Sequence[Bound] | None:
    """Return what stands in a dict under a key, or the whole of a list for `x[:]`."""
    if isinstance(node.slice, ast.Slice):
        return None if any(ast.iter_child_nodes(node.slice)) else [Bound(of, None)]
    subscript = text_of(node.slice, bindings)
    return [value for key, value in entries(Bound(of, None), bindings) if key == subscript] or None


def _once(name: str, bindings: Sequence[Bound] | None, followed: set[str]) -> Sequence[Bound] | None:
    if name in followed:
        return []
    followed.add(name)
    return bindings


def _inner(node: ast.expr, bindings: Bindings) -> Sequence[ast.expr] | None:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr):
        # where one side is a string the whole is one, which nobody can tell
        sides = [node.left, node.right]
        return sides if all(text_of(side, bindings) is None for side in sides) else None
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and _repeats(node):
        return [node.generators[0].iter]
    return _handed_on(node, bindings) if isinstance(node, ast.Call) else None


def _repeats(node: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether a comprehension only repeats what it goes through, stripped perhaps."""
    (first, *more) = node.generators
    element = node.elt
    if isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and "strip" in element.func.attr:
        element = element.func.value
    return not more and not first.ifs and ast.unparse(element) == ast.unparse(first.target)


def _handed_on(call: ast.Call, bindings: Bindings) -> Sequence[ast.expr] | None:
    """Return what a call hands on as it is: `list(x)`, `sum(xs, [])`, `"…".split()`."""
    if called(call) in PASSES_ON and len(call.args) == 1:
        return [call.args[0]]
    if called(call) in _PUTS_TOGETHER:
        return call.args
    text = text_of(call.func.value, bindings) if isinstance(call.func, ast.Attribute) else None
    if text is None or called(call) not in _OF_TEXT:
        return None
    words = text.split() if called(call) == "split" and not call.args else text.split("\n")
    return [ast.copy_location(ast.Constant(word), call) for word in words]
