"""The strings that expressions of a script make of constants, and of names of constants: nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pipeline.corpus.pins.static import Bindings

_LONGEST = 10_000
"""No requirements that are put together of strings are longer than this, in characters."""


def text_of(node: ast.expr, bindings: Bindings) -> str | None:
    """Return the string that an expression makes of constants and names of constants; None where it makes another."""
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str | int | float) else None
    if isinstance(node, ast.Name):
        return _named(node.id, bindings)
    if isinstance(node, ast.JoinedStr):
        return _joined(node.values, bindings)
    if isinstance(node, ast.FormattedValue):
        plain = node.conversion == -1 and node.format_spec is None
        return text_of(node.value, bindings) if plain else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([node.left, node.right], bindings)
    return _formatted(node, bindings)


def _named(name: str, bindings: Bindings) -> str | None:
    """Return the string that a name stands for, found out once; inside itself it stands for none."""
    if name not in bindings.texts:
        bindings.texts[name] = None
        values = bindings.names.get(name, [])
        bindings.texts[name] = text_of(values[0].value, bindings) if len(values) == 1 else None
    return bindings.texts[name]


def _joined(parts: Sequence[ast.expr], bindings: Bindings) -> str | None:
    text = ""
    for part in parts:
        more = text_of(part, bindings)
        if more is None or len(text) + len(more) > _LONGEST:
            return None
        text += more
    return text


def _formatted(node: ast.expr, bindings: Bindings) -> str | None:
    """Return what `"…%s" % name` and `"…{}".format(name)` make."""
    named: dict[str, ast.expr] = {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        form, arguments = node.left, node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        form, arguments = node.func.value, node.args
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    else:
        return None
    text = text_of(form, bindings)
    values = [text_of(argument, bindings) for argument in arguments]
    keys = {key: text_of(value, bindings) for key, value in named.items()}
    if text is None or None in values or None in keys.values():
        return None
    filled = _filled(text, [str(value) for value in values], {key: str(value) for key, value in keys.items()}, node)
    return filled if filled is not None and len(filled) <= _LONGEST else None


def _filled(text: str, values: list[str], keys: dict[str, str], node: ast.expr) -> str | None:
    """Fill plain places only: widths could ask for any amount of memory, and attributes for anything."""
    parts = text.split("%s" if isinstance(node, ast.BinOp) else "{}")
    if len(parts) == len(values) + 1 and not keys:
        whole = "".join(part + value for part, value in zip(parts, [*values, ""], strict=True))
        return whole if "%" not in "".join(parts) or isinstance(node, ast.Call) else None
    if isinstance(node, ast.BinOp) or len(parts) > 1:
        return None
    for key, value in [*((str(number), value) for number, value in enumerate(values)), *keys.items()]:
        text = text.replace(f"{{{key}}}", value)
        if len(text) > _LONGEST:
            return None
    return None if "{" in text else text
