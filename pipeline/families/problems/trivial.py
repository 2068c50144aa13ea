"""Hidden tests that a body passes without doing anything of the task: it returns one value, or what it is given."""

from __future__ import annotations

import ast


def passed_by(tests: str) -> str | None:
    """Return a body that passes a pytest module whatever the task is; None where that cannot be said.

    All that counts are asserts of the form `f(…) == value` and `f(…) is value`, also `repr(f(…)).split() == …`.
    """
    module = ast.parse(tests)
    asserts = [node for node in ast.walk(module) if isinstance(node, ast.Assert)]
    read = [pair for node in asserts if (pair := _compared(node)) is not None]
    if not asserts or len(read) < len(asserts) or any(isinstance(node, ast.With) for node in ast.walk(module)):
        return None
    if len({value for _, value in read}) == 1:
        return f"return {read[0][1]}"
    fewest = min(len(call.args) for call, _ in read)
    same = (n for n in range(fewest) if all(ast.unparse(call.args[n]) == value for call, value in read))
    return next((f"return parameter {n + 1}" for n in same), None)


def _compared(node: ast.Assert) -> tuple[ast.Call, str] | None:
    """Return the call of an assert, and the source of the value that it is to give."""
    match node.test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            return call, ast.unparse(value)
    return None
