"""Hidden lines that the code beside them displays, but for an argument."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from operator import itemgetter
from textwrap import dedent

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.usages.text import parse_program
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.lake.rows import PublishedCompletionRow
from pipeline.lake.stage import Reject

_Arguments = dict[int | str, str]


def without_displayed_calls(
    rows: Collection[PublishedCompletionRow],
) -> tuple[list[PublishedCompletionRow], list[Reject]]:
    """Refuse lines that ask for little more than a name, where a row of the same program asks for that name."""
    # of an argument's name the core token is another
    place = itemgetter("snippet_id", "path", "version", "core_token")
    of_names = {place(row): row for row in rows if row["granularity"] == Granularity.TOKEN}
    rows_left: list[PublishedCompletionRow] = []
    rejects: list[Reject] = []
    for row in rows:
        of_name = of_names.get(place(row))
        if of_name and bool(of_name["discriminating"]) >= bool(row["discriminating"]) and displays_call(row):
            detail = f"but for one argument its call is displayed, so it asks for the name, as {of_name['id']}"
            rejects.append(Reject(row["id"], RejectReason.NEAR_DUPLICATE, detail))
        else:
            rows_left.append(row)
    return rows_left, rejects


def displays_call(row: PublishedCompletionRow) -> bool:
    """Return whether a hidden line stands beside it with the same call of the core API, but for one argument.

    An argument that the call beside it does not pass is something to know. What the values are assigned to may differ.
    """
    if row["granularity"] != Granularity.LINE:
        return False
    name = row["core_token"]
    visible = unmask(row["masked_code"], Granularity.LINE, "pass", name)
    displayed = [_parts(expression, name) for expression in _expressions(visible)]
    return any(
        _is_like(hidden, other)
        for hidden in (_parts(expression, name) for expression in _expressions(dedent(row["answer"])))
        for other in displayed
    )


def calls_of(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a name, by whatever path."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name in (getattr(node.func, "attr", None), getattr(node.func, "id", None)):
            yield node


def _expressions(text: str) -> Iterator[ast.expr]:
    """Yield the expressions that are statements of a program, or that its statements assign or return."""
    tree = parse_program(text)
    for node in ast.walk(tree) if tree else ():
        value = getattr(node, "value", None) if isinstance(node, ast.stmt) else None
        if isinstance(value, ast.expr):
            yield value


def _parts(expression: ast.expr, name: str) -> tuple[str, list[_Arguments]]:
    """Return an expression without the arguments of its calls of a name, and these by place or keyword."""
    bare = copy.deepcopy(expression)
    arguments: list[_Arguments] = []
    for call in calls_of(bare, name):
        by_place: _Arguments = dict(enumerate(map(ast.unparse, call.args)))
        # `**options` has no keyword
        keywords: _Arguments = {
            keyword.arg or ast.unparse(keyword): ast.unparse(keyword.value) for keyword in call.keywords
        }
        arguments.append(by_place | keywords)
        call.args, call.keywords = [], []
    return ast.unparse(bare), arguments


def _is_like(hidden: tuple[str, list[_Arguments]], displayed: tuple[str, list[_Arguments]]) -> bool:
    (form, calls), (other_form, other_calls) = hidden, displayed
    if not calls or form != other_form or len(calls) != len(other_calls):
        return False
    pairs = list(zip(calls, other_calls, strict=True))
    differing = sum(call.get(key) != value for call, other in pairs for key, value in other.items())
    return differing <= 1 and all(call.keys() <= other.keys() for call, other in pairs)
