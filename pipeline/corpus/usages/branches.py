"""Statements of which one branch or another runs: if, try, match and loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from pipeline.corpus.usages.bindings import assign, matched_by, pattern
from pipeline.corpus.usages.calls import narrowings
from pipeline.corpus.usages.definitions import iterated
from pipeline.corpus.usages.scopes import imported
from pipeline.corpus.usages.state import Perform, State
from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.values import UNKNOWN, Reference, Value, join

Names = dict[str, Value]


def branch(state: State, run: Callable[[], object], narrowed: Names | None = None) -> Names | None:
    """Run one of several branches; return the names it changed, or None where it leaves. Here they stay as they are."""
    scope, ended = state.scope, state.ended
    scope.begin()
    for name, value in (narrowed or {}).items():
        scope.set(name, value)
    state.ended = False
    run()
    changed = scope.end()
    has_left, state.ended = state.ended, ended
    if has_left:
        return None
    return {name: value for name, value in changed.items() if not narrowed or value is not narrowed.get(name)}


def _join(state: State, ends: list[Names | None]) -> None:
    """Go on with what is known after all branches that come to their end."""
    reached = [end for end in ends if end is not None]
    state.ended |= not reached
    now = state.scope.now
    for name in dict.fromkeys(name for end in reached for name in end):
        values = [value for end in reached if (value := end.get(name, now.get(name))) is not None]
        state.scope.set(name, reduce(join, values))


def _if(state: State, node: Node) -> None:
    condition = node.get("condition")
    state.value(condition)
    ends = [branch(state, lambda: state.perform(node.get("consequence")), narrowings(state, condition))]
    exhaustive = False
    for clause in node.all("alternative"):
        if clause.type == "elif_clause":
            test = clause.get("condition")
            state.value(test)
            ends.append(branch(state, partial(state.perform, clause.get("consequence")), narrowings(state, test)))
        else:
            otherwise = narrowings(state, condition, holds=False)
            ends.append(branch(state, partial(state.perform, clause), otherwise))
            exhaustive = True
    only = len(ends) == 1 and ends[0] is None
    if only:
        # What the condition rules out has left.
        _narrow(state, narrowings(state, condition, holds=False))
        return
    _join(state, ends if exhaustive else [*ends, {}])


def _narrow(state: State, narrowed: Names) -> None:
    for name, value in narrowed.items():
        state.scope.set(name, value)


def _assert(state: State, node: Node) -> None:
    for child in node.children:
        state.value(child)
    if node.children:
        _narrow(state, narrowings(state, node.children[0]))


def _for(state: State, node: Node) -> None:
    item = iterated(state, state.value(node.get("right")))
    _loop(state, node, lambda: assign(state, node.get("left"), item))


def _while(state: State, node: Node) -> None:
    _loop(state, node, lambda: state.value(node.get("condition")))


def _loop(state: State, node: Node, head: Callable[[], object]) -> None:
    """Run a loop's body once; a name that the body rebinds may hold anything when a round begins."""
    ended = state.ended
    changed = branch(state, lambda: _round(state, node, head)) or {}
    state.ended = ended
    _join(state, [changed, {}])
    state.perform(node.get("alternative"))


def _round(state: State, node: Node, head: Callable[[], object]) -> None:
    for name in state.bound_in(node) & state.scope.now.keys():
        state.scope.set(name, UNKNOWN)
    head()
    state.perform(node.get("body"))
    state.ended = False


def _try(state: State, node: Node) -> None:
    """Run the body; a handler starts anywhere between its beginning and its end.

    Imports of the library alone succeed or fail as this version has what they import: then one side counts.
    """
    imports = _imports_succeed(state, node)
    scope, ended = state.scope, state.ended
    scope.begin()
    state.perform(node.get("body"))
    after = scope.end()
    has_left, state.ended = state.ended, ended

    def handle(clause: Node) -> None:
        if imports is not False:
            _join(state, [after, {}])
        _handler(state, clause)

    ends = [branch(state, partial(handle, clause)) for clause in node.children if clause.type.startswith("except")]
    last = None if has_left else branch(state, lambda: _otherwise(state, node, after))
    if imports is True and last is not None:
        ends = []
    elif imports is False and any(end is not None for end in ends):
        last = None
    _join(state, [last, *ends])
    for clause in (c for c in node.children if c.type == "finally_clause"):
        state.perform(clause)


def _otherwise(state: State, node: Node, after: Names) -> None:
    """Go on where the body of a try ended without an exception."""
    _narrow(state, after)
    for clause in (c for c in node.children if c.type == "else_clause"):
        state.perform(clause)


def _imports_succeed(state: State, node: Node) -> bool | None:
    """Tell whether the imports in a try body succeed in this version: None unless only the library is imported."""
    body = node.get("body")
    statements = body.children if body else []
    if not statements or not any(c.type.startswith("except") for c in node.children):
        return None
    result = []
    for statement in statements:
        if statement.type not in {"import_statement", "import_from_statement"}:
            return None
        for _, path in imported(statement):
            if path.partition(".")[0] not in state.api.roots:
                return None
            result.append(_there(state, path))
    return None if not result or None in result else all(result)


def _there(state: State, path: str) -> bool | None:
    """Tell whether a path can be imported; None where the surface does not show it: private, or of an open module."""
    if state.api.locate(path):
        return True
    parent, _, name = path.rpartition(".")
    private = any(part.startswith("_") for part in path.split("."))
    is_visible = bool(name) and state.api.locate(parent) is not None and not state.api.is_open(parent)
    return False if is_visible and not private and state.api.is_module(parent) else None


def _handler(state: State, clause: Node) -> None:
    for child in clause.children:
        if child.type == "block":
            state.perform(child)
        elif child.type == "as_pattern" and child.children:
            caught = state.value(child.children[0])
            value = state.api.result_of_call(caught.path) if isinstance(caught, Reference) else UNKNOWN
            for alias in child.children[1:]:
                for target in alias.children:
                    assign(state, target, value)
        else:
            state.value(child)


def _match(state: State, node: Node) -> None:
    subjects = node.all("subject")
    for subject in subjects:
        state.value(subject)
    name = subjects[0].text if len(subjects) == 1 and subjects[0].type == "identifier" else ""
    body = node.get("body")
    ends: list[Names | None] = []
    for case in body.children if body else []:
        matched = matched_by(state, case)
        narrowed = {name: matched} if name and matched is not UNKNOWN else None
        ends.append(branch(state, partial(_case, state, case), narrowed))
    _join(state, [{}, *ends])


def _case(state: State, clause: Node) -> None:
    for child in clause.children:
        if child.type == "case_pattern":
            pattern(state, child)
        elif child.type == "block":
            state.perform(child)
        else:
            state.value(child)


BRANCHES: dict[str, Perform] = {
    "if_statement": _if,
    "assert_statement": _assert,
    "for_statement": _for,
    "while_statement": _while,
    "try_statement": _try,
    "match_statement": _match,
}
