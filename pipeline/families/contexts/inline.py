"""The contexts of an in-line completion: the program on both sides of the cursor, as in an editor."""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.completions_and_migrations.source import Source, Span
from pipeline.families.contexts.expression import Expression

_MASK = MASKS[Granularity.TOKEN]

Edit = tuple[Span, str]


@dataclass(frozen=True, slots=True)
class Inline:
    """The parts of a program around an expression; imports + left + hint precede the cursor."""

    imports: str
    left: str
    hint: str
    reference: str
    right: str
    in_class: bool

    @property
    def masked_names(self) -> int:
        """How often the name of the API became a mask."""
        return sum(text.count(_MASK) for text in (self.imports, self.left, self.right))


def occurrences(masked_code: str, name: str) -> list[Span]:
    """Return the span of a masked name in a program, in bytes, from the program with `[token-mask]`."""
    spans: list[Span] = []
    at, length = 0, len(name.encode())
    for part in masked_code.split(_MASK)[:-1]:
        at += len(part.encode())
        spans.append((at, at + length))
        at += length
    return spans


def around(source: Source, expression: Expression, names: Sequence[Span], roots: Collection[str]) -> Inline:
    """Return the context of an expression (LibEvolutionEval, 2412.04478, section 2.1).

    The contexts end with the enclosing class; where there is none they are all of the program. Statements at the top
    level that import one of `roots` (the library's import names) stand in the imports and nowhere else. Comments are
    left out. An expression that is an imported name is shown as an attribute of its module, which is imported too, so
    that it has a first part. `names` are the places of the hidden name, which becomes `[token-mask]`; the expression
    itself is as written.
    """
    start, end = expression.span
    imports = list(_imports(source, roots))
    # An imported name has no first part: that of its module says where to look.
    module = _module_of(source, expression, imports)
    first_part = f"{module}." if module else ""
    edits: list[Edit] = [(span, _MASK) for span in names]
    edits += [(span, "") for span in _comments(source)]
    cuts: list[Edit] = [(_whole_lines(source, span), "") for span in imports]
    scope = _enclosing_class(source, start)
    first, last = scope or (0, len(source.data))
    return Inline(
        imports=(f"import {module}\n" if module else "")
        + "".join(f"{_text(source, span, edits)}\n" for span in imports),
        left=_text(source, (first, start), [*edits, *cuts]),
        hint=first_part + source.text_of((start, expression.cursor)),
        reference=first_part + source.text_of(expression.span),
        right=_text(source, (end, last), [*edits, *cuts]),
        in_class=scope is not None,
    )


def _module_of(source: Source, expression: Expression, imports: Collection[Span]) -> str | None:
    """Return the module from which a statement of `imports` brings the name that an expression begins with.

    None where it begins otherwise, or where a part of the module is called as the name.
    """
    node = expression.node.func if isinstance(expression.node, ast.Call) else expression.node
    if not isinstance(node, ast.Name):
        return None
    for statement in source.body:
        if statement.span in imports and isinstance(statement.node, ast.ImportFrom) and statement.node.module:
            module, names = statement.node.module, statement.node.names
            if any(name.name == node.id and name.asname is None for name in names):
                return None if node.id in module.split(".") else module
    return None


def _text(source: Source, span: Span, edits: Sequence[Edit]) -> str:
    """Return the edited text of a span; the larger one of nested edits wins."""
    parts, at = [], span[0]
    for (start, end), text in sorted(edits, key=lambda edit: (edit[0][0], -edit[0][1])):
        if start >= at and end <= span[1]:
            parts += [source.data[at:start], text.encode()]
            at = end
    return b"".join([*parts, source.data[at : span[1]]]).decode()


def _imports(source: Source, roots: Collection[str]) -> Iterator[Span]:
    """Yield the statements of the top level that import the library and have their lines for themselves."""
    lines = Counter(line for statement in source.body for line in _lines(statement.node))
    for statement in source.body:
        if _brings(statement.node, roots) and all(lines[line] == 1 for line in _lines(statement.node)):
            yield statement.span


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _brings(node: ast.stmt, roots: Collection[str]) -> bool:
    """Say whether a statement imports something from one of the roots, which may be dotted (`google.cloud`)."""
    modules: list[str] = []
    if isinstance(node, ast.ImportFrom) and not node.level:
        modules = [f"{node.module}.{name.name}" for name in node.names]
    elif isinstance(node, ast.Import):
        modules = [name.name for name in node.names]
    return any(f"{module}.".startswith(f"{root}.") for module in modules for root in roots)


def _comments(source: Source) -> Iterator[Span]:
    """Yield the comments with the space before them; those on lines of their own with their lines."""
    for token in source.texts:
        if token.kind == tokenize.COMMENT:
            start, end = token.span
            line = source.data.rfind(b"\n", 0, start) + 1
            before = source.data[line:start].rstrip()
            yield (line + len(before), end) if before else (line, min(end + 1, len(source.data)))


def _whole_lines(source: Source, span: Span) -> Span:
    end = source.data.find(b"\n", span[1])
    return source.data.rfind(b"\n", 0, span[0]) + 1, len(source.data) if end < 0 else end + 1


def _enclosing_class(source: Source, use: int) -> Span | None:
    """Return the outermost class whose body contains a use; bases and decorators are no part of the body."""
    for statement in source.around(use):
        if isinstance(statement.node, ast.ClassDef) and use >= statement.held[0].span[0]:
            return statement.span
    return None
