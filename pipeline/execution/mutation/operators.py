"""Mutation operators on the syntax tree: small changes of a program, each at one place.

Most are those of mutmut and cosmic-ray (comparison, arithmetic, boolean, constant, statement removed, exception type);
others fit calls of a library: an argument dropped or swapped, a call replaced by its argument or by a counterpart.
The first three are what half an answer looks like: a loop that runs once, a branch left out, an early exit left out.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from pipeline.core.syntax_trees import parse_python

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
_REMOVED = (ast.Expr, ast.AugAssign, ast.Delete, ast.Break, ast.Continue, ast.Assert)
HALF_ANSWERS = frozenset({"branch", "exit", "loop"})
"""Operators that leave out a part of what is to be done; they have their turn before the others."""
_NOT_RUN = frozenset({"annotation", "returns", "type_comment"})
"""Fields of the tree that decide nothing when a program runs."""

Located = ast.expr | ast.stmt | ast.arg
"""A node that has a position."""

Change = tuple[str, Located | tuple[Located, Located], ast.expr | ast.stmt | str | None]
"""Operator, a node or the first and the last of a place, and what is put there: a node, text, or nothing (None)."""


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
    tree, source = parse_python(text), text.encode()
    region = _region(tree, source, lines)
    texts = {_dump(source[region])}
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for operator, line, place, new in _replacements(tree, source, lines):
        # Only the statements around the lines are compiled: files of thousands of lines have hundreds of mutants.
        dumped = _dump(source[region.start : place.start] + new + source[place.stop : region.stop])
        if dumped is not None and dumped not in texts:
            texts.add(dumped)
            changed = source[: place.start] + new + source[place.stop :]
            by_operator[operator].append(Mutant(operator, line, changed.decode()))
    for mutants in by_operator.values():
        mutants.sort(key=lambda mutant: sha256(f"{mutant.line} {mutant.text}".encode()).hexdigest())
    turns = sorted(by_operator, key=lambda operator: (operator not in HALF_ANSWERS, operator))
    drawn: list[Mutant] = []
    while len(drawn) < limit and any(by_operator.values()):
        drawn += [by_operator[operator].pop(0) for operator in turns if by_operator[operator]]
    return sorted(drawn[:limit], key=lambda mutant: (mutant.line, mutant.operator, mutant.text))


def _dump(source: bytes) -> str | None:
    """Return the tree of a program as text; None where it does not compile."""
    try:
        tree = parse_python(source)
        compile(tree, "<mutant>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return ast.dump(tree)


def _starts(source: bytes) -> list[int]:
    """Return where each line begins, and the next one would."""
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _region(tree: ast.Module, source: bytes, lines: Collection[int]) -> slice:
    """Return where the statements of a module stand that have some of the lines, as bytes."""
    spans = [
        (min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]), node.end_lineno or 0)
        for node in tree.body
    ]
    within = [(first, last) for first, last in spans if any(first <= line <= last for line in lines)]
    if not within:
        return slice(0, len(source))
    starts = _starts(source)
    return slice(starts[within[0][0] - 1], min(starts[within[-1][1]], len(source)))


def _replacements(tree: ast.Module, source: bytes, lines: Collection[int]) -> Iterator[tuple[str, int, slice, bytes]]:
    """Yield the operator and line of each change, where it is in bytes, and what is put there."""
    starts = _starts(source)
    for node in _nodes(tree):
        for operator, place, new in _changes(node):
            first, last = place if isinstance(place, tuple) else (place, place)
            assert last.end_lineno is not None
            assert last.end_col_offset is not None
            if first.lineno in lines and last.end_lineno in lines:
                begin = starts[first.lineno - 1] + first.col_offset
                end = starts[last.end_lineno - 1] + last.end_col_offset
                yield operator, first.lineno, slice(begin, end), _written(new).encode()


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


def _written(new: ast.AST | str | None) -> str:
    """Return the source of what is put in a place; in parentheses where it is an expression."""
    if new is None or isinstance(new, str):
        return new or "pass"
    text = ast.unparse(ast.fix_missing_locations(new))
    return text if isinstance(new, ast.stmt | ast.Slice) else f"({text})"


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the changes that fit one node."""
    yield from _of_operators(node)
    yield from _of_values(node)
    yield from _of_statements(node)
    yield from _of_loops(node)
    yield from _of_branches(node)
    if isinstance(node, ast.arguments):
        yield from _of_parameters(node)
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
            for number in range(len(values)):
                others = [*values[:number], *values[number + 1 :]]
                yield "operand", node, ast.BoolOp(operator, others) if len(others) > 1 else others[0]
        case ast.UnaryOp(ast.Not(), operand):
            yield "boolean", node, operand
        case ast.UnaryOp(ast.USub(), operand):
            yield "arithmetic", node, operand


def _of_values(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(bool() | int() | float() | str() | bytes() as value):
            yield "constant", node, ast.Constant(_other_constant(value))
        case ast.List([*elements, _], ast.Load()):
            yield "element", node, ast.List(elements)
        case ast.Tuple([*elements, _], ast.Load()):
            yield "element", node, ast.Tuple(elements)
        case ast.Dict([*keys, _], [*values, _]):
            yield "element", node, ast.Dict(keys, values)
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
    if isinstance(node, ast.Raise):
        yield "exit", node, None
    # Without an assignment to a name nearly everything fails: that says nothing about tests.
    is_stored = isinstance(node, ast.Assign) and not any(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.stmt) and (is_stored or isinstance(node, _REMOVED)):
        yield "statement", node, None


def _of_loops(node: ast.AST) -> Iterator[Change]:
    """Yield loops that run once, also where what they run over never ends."""
    match node:
        case ast.For(_, items) | ast.comprehension(_, items, _, 0):
            # Nothing need be imported, and no name can be hidden by one of the program.
            yield "loop", items, f"__import__('itertools').islice({ast.unparse(items)}, 1)"
        case ast.While(test):
            yield "loop", (node, test), f"for __ in [0][:bool({ast.unparse(test)})]"


def _of_branches(node: ast.AST) -> Iterator[Change]:
    """Yield conditions that always or never hold, blocks without what they do, and blocks that do not return."""
    match node:
        case ast.If(test) | ast.IfExp(test) if not isinstance(test, ast.Constant):
            yield "branch", test, ast.Constant(True)
            yield "branch", test, ast.Constant(False)
        case ast.While(test) if not isinstance(test, ast.Constant):
            yield "branch", test, ast.Constant(False)
        case ast.comprehension(_, _, conditions):
            yield from (("branch", condition, ast.Constant(True)) for condition in conditions)
    for block in _blocks(node):
        if not (isinstance(node, ast.If) and block is node.body and not node.orelse):
            yield "branch", (block[0], block[-1]), None
        yield from (("exit", statement, None) for statement in block if isinstance(statement, ast.Return))


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of a statement that a program may pass by; an `elif` is a statement of its own."""
    match node:
        case ast.If(_, body, [ast.If()] | []):
            return [body]
        case ast.If(_, body, other):
            return [body, other]
        case ast.For(_, _, body, other) | ast.AsyncFor(_, _, body, other) | ast.While(_, body, other):
            return [body, other] if other else [body]
        case ast.Try(_, _, other, finalbody) | ast.TryStar(_, _, other, finalbody):
            return [block for block in (other, finalbody) if block]
        case ast.ExceptHandler(_, _, body) | ast.match_case(_, _, body):
            return [body]
    return []


def _of_parameters(node: ast.arguments) -> Iterator[Change]:
    """Yield parameters without their default, and neighbours in another order."""
    positional = [*node.posonlyargs, *node.args]
    required = positional[: len(positional) - len(node.defaults)]
    defaults = [
        *zip(positional[len(required) :], node.defaults, strict=True),
        *zip(node.kwonlyargs, node.kw_defaults, strict=True),
    ]
    for parameter, default in defaults:
        # One in front of others that have a default does not compile.
        if default is not None:
            yield "parameter", (parameter, default), ast.unparse(parameter)
    for one, other in pairwise(required):
        if one.arg not in ("self", "cls"):
            yield "parameter", (one, other), f"{ast.unparse(other)}, {ast.unparse(one)}"


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
