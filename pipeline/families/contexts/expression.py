"""The expression around a use: its start, the part before the cursor, and its end."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from pipeline.families.completions_and_migrations.source import Source, Span


@dataclass(frozen=True, slots=True)
class Expression:
    """The whole expression of a use, and the byte offset of the cursor in it."""

    span: Span
    cursor: int
    node: ast.expr


def expression_at(source: Source, use: Span) -> Expression | None:
    """Return the expression whose last name is at `use`, with the call where it is called; None where none does.

    Before the cursor stands the first part of the expression (LibEvolutionEval, 2412.04478, section 2.1): the object
    from which the dotted names start, and its dot. `torch.nn.ReLU()` has `torch.`, `f(x).g()` has `f(x).`.
    """
    name = source.text_of(use)
    outermost: ast.Attribute | ast.Name | None = None
    called: dict[ast.expr, ast.Call] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            called[node.func] = node
        elif isinstance(node, ast.Attribute | ast.Name) and source.end_of(node) == use[1] and _name(node) == name:
            outermost = node
    if outermost is None:
        return None
    whole: ast.expr = called.get(outermost, outermost)
    return Expression((source.start_of(whole), source.end_of(whole)), _cursor(source, outermost), whole)


def _cursor(source: Source, node: ast.Attribute | ast.Name) -> int:
    """Return where the first dotted name after the object begins; the beginning where nothing is dotted."""
    first: ast.Attribute | None = None
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        first, inner = inner, inner.value
    return source.start_of(node) if first is None else source.end_of(first) - len(first.attr.encode())


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id
