"""What an example states of an expression, as something that a test can compare."""

from __future__ import annotations

import ast
import builtins
import doctest
import re
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.families.problems.slices import Step

_TRACEBACK = doctest.DocTestParser._EXCEPTION_RE  # type: ignore[attr-defined]
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+|\b0x[0-9a-f]{6,}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What evaluating an expression comes to; exactly one of the three is set.

    `value` is Python source that makes an equal value, `representation` is that of what no literal makes, to be
    compared but for white space, `raises` is the name of a builtin exception.
    """

    value: str | None = None
    representation: str | None = None
    raises: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """An expression, and what the example states of it."""

    expression: ast.expr
    outcome: Outcome


def expected_result(step: Step, *, printed_values: bool = False) -> ExpectedResult | None:
    """Return what a step states, or None where it states nothing that a test could compare.

    `printed_values`: of what is printed as a literal would be, other than a text, it states the value.
    """
    if isinstance(step.node, ast.Assert):
        return _of_comparison(step.node.test)
    if not isinstance(step.node, ast.Expr) or step.expected is None:
        return None
    expected = step.expected.replace("<BLANKLINE>", "").rstrip()
    if expected == "True" and (compared := _of_comparison(step.node.value)):
        return compared
    if printed_values and (value := _printed_value(step.node.value, expected)) is not None:
        return expected_result(replace(step, node=ast.Expr(value)))
    if _is_print(step.node.value):
        printed = _printed(step.node.value)
        returned = None if _is_vague(expected) or _raised(expected) else Outcome(value=repr(expected))
        return ExpectedResult(printed, returned) if printed and returned else None
    outcome = _outcome(expected)
    return ExpectedResult(step.node.value, outcome) if outcome else None


def outcome_of_literal(text: str) -> Outcome | None:
    """Return the outcome that a representation stands for where it is a literal."""
    try:
        node = parse_python(text.strip(), mode="eval")
        literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return Outcome(value=plain_source(node))


def plain_source(node: ast.AST) -> str:
    """Return the source of an expression without the `u` of Python 2 before texts; nodes are changed."""
    for text in ast.walk(node):
        if isinstance(text, ast.Constant):
            text.kind = None
    return ast.unparse(node)


def _outcome(expected: str) -> Outcome | None:
    if name := _raised(expected):
        return Outcome(raises=name) if is_builtin_exception(name) else None
    if _is_vague(expected):
        return None
    return outcome_of_literal(expected) or (Outcome(representation=expected) if _is_representation(expected) else None)


def _of_comparison(expression: ast.expr) -> ExpectedResult | None:
    """Read `call(…) == literal` and `call(…) is None`, of which only the call is to be written."""
    if not isinstance(expression, ast.Compare) or len(expression.ops) != 1:
        return None
    right = _as_literal(expression.comparators[0])
    is_none = isinstance(expression.ops[0], ast.Is) and right == "None"
    value = outcome_of_literal(right) if is_none or isinstance(expression.ops[0], ast.Eq) else None
    return ExpectedResult(expression.left, value) if value else None


def _as_literal(expression: ast.expr) -> str:
    """Return the source of an expression, of `set(["a", "b"])` as a display: `{"a", "b"}`."""
    match expression:
        case ast.Call(func=ast.Name(id="set"), args=[ast.List(elts=elements) | ast.Tuple(elts=elements)], keywords=[]):
            return ast.unparse(ast.Set(elements) if elements else expression)
    return ast.unparse(expression)


def _is_print(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and ast.unparse(expression.func) == "print"


def _printed_value(expression: ast.expr, expected: str) -> ast.expr | None:
    """Return the one value that is printed, if its text is that of a literal and not of a text."""
    printed = _printed(expression) if _is_print(expression) else None
    literal = outcome_of_literal(expected)
    if printed is None or literal is None or literal.value is None or isinstance(literal_eval(literal.value), str):
        return None
    return printed.args[0]


def _printed(expression: ast.expr) -> ast.Call | None:
    """Return the one value that is printed as an expression that gives its text."""
    if not isinstance(expression, ast.Call) or expression.keywords or len(expression.args) != 1:
        return None
    if isinstance(expression.args[0], ast.Starred):
        return None
    return ast.Call(ast.Name("str", ast.Load()), [expression.args[0]], [])


def _is_vague(expected: str) -> bool:
    return "..." in expected or _ADDRESS.search(expected) is not None


def _is_representation(expected: str) -> bool:
    """Say whether a representation tells the value: `<…>` tells only what it is."""
    return bool(expected) and not expected.startswith("<")


def _raised(expected: str) -> str | None:
    match = _TRACEBACK.match(expected + "\n")
    return match["msg"].partition(":")[0].strip().rpartition(".")[2] if match else None


def is_builtin_exception(name: str) -> bool:
    """Say whether a name is that of an exception that Python has without an import."""
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, Exception)
