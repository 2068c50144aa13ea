"""Masking a task function at token, line or block level (VersiCode, 2406.07411, appendix A.3)."""

from __future__ import annotations

import ast

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.guessing import refuse_unknowable
from pipeline.families.completions_and_migrations.masks import Masked, line_span, mask_span, without_masks
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import Source, Span, Statement
from pipeline.families.functions.unexplained import unexplained
from pipeline.lake.stage import Reject

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def mask_function(
    source: Source, use: Span, granularity: Granularity, rules: MaskingRules, description: str = "", path: str = ""
) -> Masked | Reject:
    """Mask the program of a function around the use of the core API `path` whose name is at `use`.

    Token and line are as in any program. Block is the body of the function that uses it, without its docstring; where a
    definition beside the function does, everything from that definition on. A body of one simple statement is no line
    and no block, since problems ask for a whole body. Returns a Reject, with an empty key, where there is no such span,
    the name can be read outside, or the span has what nobody can know: see `refuse_unknowable` and `unexplained`.
    """
    cut: Span | None = None
    if granularity != Granularity.TOKEN:
        if _is_one_statement(source, use):
            return Reject("", RejectReason.NO_BLOCK, "the body of the function is one statement")
        cut = line_span(source, use, rules) if granularity == Granularity.LINE else _body(source, use)
        if cut is None:
            return Reject("", RejectReason.NO_BLOCK, f"no {granularity} around the use of the core API")
    name = source.text_of(use)
    masked = mask_span(source, name, cut, granularity, ignore_case=rules.ignore_case)
    if isinstance(masked, Reject):
        return masked
    if refused := refuse_unknowable(source, masked, name, granularity, rules.guessing, description):
        return refused
    visible = without_masks(masked.masked_code)
    if masked.cut and (pieces := unexplained(source, masked.cut, use, path, visible, description)):
        return Reject("", RejectReason.UNKNOWABLE, f"nothing explains {', '.join(pieces)}"[:200])
    return masked


def _is_one_statement(source: Source, use: Span) -> bool:
    """Return whether the body of the function that uses the API is one statement that holds no others."""
    around = source.around(use[0])
    held = _without_docstring(around[0]) if around else ()
    return len(held) == 1 and not held[0].held


def _body(source: Source, use: Span) -> Span | None:
    around = source.around(use[0])
    if not around or (around[0].imports and not around[0].held):
        return None
    if around[0] is not source.body[-1]:
        return around[0].span[0], source.body[-1].span[1]
    held = _without_docstring(around[0])
    return (held[0].span[0], held[-1].span[1]) if held and held[0].span[0] <= use[0] else None


def _without_docstring(definition: Statement) -> tuple[Statement, ...]:
    """Return the statements of a function; none for other nodes."""
    if not isinstance(definition.node, _FUNCTION):
        return ()
    has_docstring = ast.get_docstring(definition.node, clean=False) is not None
    return definition.held[1:] if has_docstring else definition.held
