"""Hidden lines whose call the visible code has, but for an argument."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from operator import itemgetter

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.usages.text import parse_program
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.families.completions_and_migrations.other_answers import calls_of, name_of
from pipeline.lake.rows import PublishedCompletionRow
from pipeline.lake.stage import Reject

_Arguments = dict[int | str, str]
_WITH_VALUE = ast.Expr | ast.Assign | ast.AnnAssign | ast.Return


def without_visible_calls(
    rows: Collection[PublishedCompletionRow],
) -> tuple[list[PublishedCompletionRow], list[Reject]]:
    """Refuse lines that ask for little more than a name, where another row asks for that name."""
    # rows that hide an argument have its name as core token
    place = itemgetter("path", "core_token")
    names: dict[tuple[str, str], PublishedCompletionRow] = {}
    for row in sorted(rows, key=lambda row: (bool(row["discriminating"]), row["id"])):
        if row["granularity"] == Granularity.TOKEN:
            names[place(row)] = row
    rows_left: list[PublishedCompletionRow] = []
    rejects: list[Reject] = []
    for row in rows:
        of_name = names.get(place(row))
        if of_name and bool(of_name["discriminating"]) >= bool(row["discriminating"]) and has_visible_call(row):
            detail = f"the visible code has this call with one other argument; {of_name['id']} asks for its name"
            rejects.append(Reject(row["id"], RejectReason.NEAR_DUPLICATE, detail))
        else:
            rows_left.append(row)
    return rows_left, rejects


def has_visible_call(row: PublishedCompletionRow) -> bool:
    """Return whether the visible code has a hidden line's call of the core API, with at most one other argument.

    An argument that the visible call does not pass is something to know, as is a function that nothing visible calls.
    What the values are assigned to may differ.
    """
    if row["granularity"] != Granularity.LINE:
        return False
    name = row["core_token"]
    visible = parse_program(unmask(row["masked_code"], Granularity.LINE, "pass", name))
    hidden = parse_program(row["answer"])
    if visible is None or hidden is None or not _called(hidden) <= _called(visible):
        return False
    match hidden.body:
        case [ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.Return() as statement] if statement.value is not None:
            own = _parts(statement.value, name)
            return any(_is_like(own, _parts(expression, name)) for expression in _values(visible))
    return False


def _called(tree: ast.AST) -> set[str | None]:
    return {name_of(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def _values(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the expressions that are statements of a program, or that its statements assign or return."""
    for node in ast.walk(tree):
        if isinstance(node, _WITH_VALUE) and node.value is not None:
            yield node.value


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


def _is_like(hidden: tuple[str, list[_Arguments]], visible: tuple[str, list[_Arguments]]) -> bool:
    (form, calls), (other_form, other_calls) = hidden, visible
    if not calls or form != other_form or len(calls) != len(other_calls):
        return False
    pairs = list(zip(calls, other_calls, strict=True))
    differing = sum(call.get(key) != value for call, other in pairs for key, value in other.items())
    return differing <= 1 and all(call.keys() <= other.keys() for call, other in pairs)
