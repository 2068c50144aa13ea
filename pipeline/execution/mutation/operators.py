"""Mutation operators on the syntax tree: small changes of a program, each at one place.

Most are those of mutmut and cosmic-ray (comparison, arithmetic, boolean, constant, statement removed, exception type);
others fit calls of a library: an argument dropped or swapped, a call replaced by its argument or by a counterpart.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_COUNTERPARTS = {
    "list": "tuple",
    "tuple": "list",
    "set": "list",
    "frozenset": "set",
    "sorted": "list",
    "reversed": "list",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "str": "repr",
    "repr": "str",
}
"""Builtin functions and others that take the same arguments and give something else."""
_OTHER_EXCEPTION = "NotImplementedError"
_REMOVED = (ast.Expr, ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue, ast.Assert, ast.If)
_NOT_RUN = frozenset({"annotation", "returns", "type_comment"})
"""Fields of the tree that decide nothing when a program runs."""

Change = tuple[str, ast.expr | ast.stmt, ast.expr | ast.stmt | None]
"""Operator, the node in whose place another is put, and that other; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one change: the operator that made it, its line (from 1), and the whole text."""

    operator: str
    line: int
    text: str


def mutants_of(text: str, lines: Collection[int], limit: int) -> list[Mutant]:
    """Return at most `limit` mutants of a program, whose changes stay within some of its lines.

    The operators take turns, so that each that fits has its share; hashes decide which of its mutants are drawn.

    Errors: SyntaxError where the program does not parse.
    """
    tree = ast.parse(text)
    texts = {ast.dump(tree)}
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in _mutants(tree, text.encode(), lines):
        dumped = _dump(mutant.text)
        if dumped is not None and dumped not in texts:
            texts.add(dumped)
            by_operator[mutant.operator].append(mutant)
    for mutants in by_operator.values():
        mutants.sort(key=lambda mutant: sha256(f"{mutant.line} {mutant.text}".encode()).hexdigest())
    drawn: list[Mutant] = []
    while len(drawn) < limit and any(by_operator.values()):
        drawn += [mutants.pop(0) for _, mutants in sorted(by_operator.items()) if mutants]
    return sorted(drawn[:limit], key=lambda mutant: (mutant.line, mutant.operator, mutant.text))


def _dump(text: str) -> str | None:
    """Return the tree of a program as text; None where it does not compile."""
    try:
        tree = ast.parse(text)
        compile(tree, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return ast.dump(tree)


def _mutants(tree: ast.Module, source: bytes, lines: Collection[int]) -> Iterator[Mutant]:
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in _nodes(tree):
        for operator, place, new in _changes(node):
            assert place.end_lineno is not None
            assert place.end_col_offset is not None
            if place.lineno in lines and place.end_lineno in lines:
                begin = starts[place.lineno - 1] + place.col_offset
                end = starts[place.end_lineno - 1] + place.end_col_offset
                changed = source[:begin] + _written(new).encode() + source[end:]
                yield Mutant(operator, place.lineno, changed.decode())


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs of a tree, but for the parts of formatted texts: Python 3.11 has no positions of those."""
    if isinstance(node, ast.JoinedStr) or _is_text(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in _NOT_RUN:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _written(new: ast.AST | None) -> str:
    """Return the source of what is put in a place; in parentheses where it is an expression."""
    if new is None:
        return "pass"
    text = ast.unparse(ast.fix_missing_locations(new))
    return text if isinstance(new, ast.stmt | ast.Slice) else f"({text})"


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the changes that fit one node."""
    yield from _of_operators(node)
    yield from _of_values(node)
    yield from _of_statements(node)
    if isinstance(node, ast.Call):
        yield from _of_call(node)


def _of_operators(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(left, [operator, *operators], comparators):
            yield "comparison", node, ast.Compare(left, [_COMPARISONS[type(operator)](), *operators], comparators)
        case ast.BinOp(left, operator, right) if type(operator) in _ARITHMETIC and not _is_formatting(node):
            yield "arithmetic", node, ast.BinOp(left, _ARITHMETIC[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield "boolean", node, ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "boolean", node, operand
        case ast.UnaryOp(ast.USub(), operand):
            yield "arithmetic", node, operand


def _of_values(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(bool() | int() | float() | str() | bytes() as value):
            yield "constant", node, ast.Constant(_other_constant(value))
        case ast.Slice(lower, upper, step):
            if lower is not None:
                yield "slice", node, ast.Slice(None, upper, step)
            if upper is not None:
                yield "slice", node, ast.Slice(lower, None, step)
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", node, ast.Return(ast.Constant(None))
        case ast.Yield(ast.expr()):
            yield "return", node, ast.Yield(ast.Constant(None))


def _of_statements(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.ExceptHandler(ast.expr() as kind):
            yield "exception", kind, ast.Name(_OTHER_EXCEPTION)
        case ast.Raise(ast.Call(_, arguments), cause):
            yield "exception", node, ast.Raise(ast.Call(ast.Name(_OTHER_EXCEPTION), arguments, []), cause)
        case ast.If(test) | ast.While(test) | ast.IfExp(test) if not isinstance(test, ast.Constant):
            yield "condition", test, ast.UnaryOp(ast.Not(), test)
    # Without an assignment to a name nearly everything fails: that says nothing about tests.
    is_stored = isinstance(node, ast.Assign) and not any(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.stmt) and (is_stored or isinstance(node, _REMOVED)):
        yield "statement", node, None


def _of_call(node: ast.Call) -> Iterator[Change]:
    arguments = node.args
    for number in range(len(arguments)):
        yield "argument", node, ast.Call(node.func, [*arguments[:number], *arguments[number + 1 :]], node.keywords)
    for number in range(len(node.keywords)):
        left = [*node.keywords[:number], *node.keywords[number + 1 :]]
        yield "argument", node, ast.Call(node.func, arguments, left)
    if len(arguments) > 1:
        yield "order", node, ast.Call(node.func, [arguments[1], arguments[0], *arguments[2:]], node.keywords)
    first = arguments[0] if arguments else None
    if first is not None and not isinstance(first, ast.Starred):
        yield "call", node, first
    if isinstance(node.func, ast.Name) and node.func.id in _COUNTERPARTS:
        yield "call", node, ast.Call(ast.Name(_COUNTERPARTS[node.func.id]), arguments, node.keywords)
    elif isinstance(node.func, ast.Attribute) and not arguments and not node.keywords:
        yield "call", node, node.func.value


def _is_formatting(node: ast.BinOp) -> bool:
    return isinstance(node.left, ast.Constant | ast.JoinedStr) and isinstance(node.op, ast.Mod)


def _other_constant(value: bool | float | str | bytes) -> bool | float | str | bytes:
    """Return another value of a constant's type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "" if value else "x"
    if isinstance(value, bytes):
        return b"" if value else b"x"
    return value + 1
