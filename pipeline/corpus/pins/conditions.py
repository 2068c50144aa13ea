"""Conditions in a setup.py, as markers (PEP 508): those on the Python and the system that it runs on."""

from __future__ import annotations

import ast

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_SYSTEMS = {"sys.platform": "sys_platform", "os.name": "os_name", "platform.system()": "platform_system"}


def marker_of(test: ast.expr, holds: bool = True) -> str | None:
    """Return the marker for a condition that holds, or does not; None where PEP 508 has no words for it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return marker_of(test.operand, not holds)
    if isinstance(test, ast.BoolOp):
        parts = [marker_of(value, holds) for value in test.values]
        word = "and" if isinstance(test.op, ast.And) == holds else "or"
        markers = [f"({part})" for part in parts if part]
        return f" {word} ".join(markers) if len(markers) == len(parts) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0], holds)
    return None


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, holds: bool) -> str | None:
    operator = _OPERATORS.get(type(op))
    if operator is None:
        return None
    operator = operator if holds else _OPPOSITES[operator]
    subject = ast.unparse(left)
    if subject in _SYSTEMS and isinstance(right, ast.Constant) and isinstance(right.value, str):
        return f'{_SYSTEMS[subject]} {operator} "{right.value}"' if '"' not in right.value else None
    version = _version(right)
    if version is None or not subject.startswith("sys.version_info"):
        return None
    return _on_python(subject, operator, version)


def _version(node: ast.expr) -> tuple[int, ...] | None:
    values = [element.value if isinstance(element, ast.Constant) else None for element in getattr(node, "elts", [node])]
    numbers = tuple(value for value in values if isinstance(value, int))
    return numbers if numbers and len(numbers) == len(values) else None


def _on_python(subject: str, operator: str, version: tuple[int, ...]) -> str | None:
    """Write a comparison of `sys.version_info`, or of its beginning, which is longer than what it is compared with."""
    first = version[0]
    if subject in ("sys.version_info[0]", "sys.version_info.major", "sys.version_info[:1]"):
        at_least, above = f'python_version {{}} "{first}"', f'python_version {{}} "{first + 1}"'
        return {
            "<": at_least.format("<"),
            ">=": at_least.format(">="),
            "<=": above.format("<"),
            ">": above.format(">="),
            "==": f"{at_least.format('>=')} and {above.format('<')}",
            "!=": f"{at_least.format('<')} or {above.format('>=')}",
        }[operator]
    if subject == "sys.version_info":
        operator = {">": ">=", "<=": "<"}.get(operator, operator)
    elif subject != f"sys.version_info[:{len(version)}]":
        return None
    text = ".".join(map(str, version[:3]))
    return f'{"python_full_version" if len(version) > 2 else "python_version"} {operator} "{text}"'
