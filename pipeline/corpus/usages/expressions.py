"""What an expression is, as far as the library is concerned, and the uses that evaluating it makes."""

from __future__ import annotations

from pipeline.core.vocabularies.samples import UsageForm
from pipeline.corpus.usages.bindings import annotated_value, annotation_value, assign, parameters
from pipeline.corpus.usages.calls import call, is_and, narrowings
from pipeline.corpus.usages.chains import attribute, dotted_name, name
from pipeline.corpus.usages.definitions import entered, iterated, run_body
from pipeline.corpus.usages.scopes import COMPREHENSIONS, Scope, ScopeKind, names_of, target_names
from pipeline.corpus.usages.state import Evaluate, FunctionInfo, State
from pipeline.corpus.usages.syntax import Node
from pipeline.corpus.usages.uses import PLAIN, UseForm
from pipeline.corpus.usages.values import (
    NOTHING,
    UNKNOWN,
    Elements,
    Instance,
    Items,
    LocalFunction,
    Mapping,
    Value,
    element_of,
    join,
    many,
    unpacked,
)


def _inside(state: State, node: Node, place: UseForm) -> Value:
    if len(node.children) == 1:
        return state.value(node.children[0], place)
    for child in node.children:
        state.value(child)
    return UNKNOWN


def _either(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate `a or b`, `a and b`: the value where all sides agree; a long row of them hangs on its left.

    The right side runs where the left one holds or, of `or`, does not. That `a and b` does not hold, or that `a or b`
    does, tells nothing of either side.
    """
    right = []
    while node.type == "boolean_operator" and node.children:
        right.append((is_and(state, node), node.children[-1]))
        node = node.children[0]
    value = state.value(node)
    narrowed: dict[str, Value] = {}
    before = right[-1][0] if right else True
    for holds, side in reversed(right):
        narrowed = narrowed | narrowings(state, node, holds=holds) if holds is before else {}
        value = join(value, _where(state, narrowed, side))
        node, before = side, holds
    return value


def _where(state: State, narrowed: dict[str, Value], node: Node) -> Value:
    """Evaluate an expression that is evaluated only where names are what a condition says of them."""
    if not narrowed:
        return state.value(node)
    scope = state.scope
    scope.begin()
    for name_, value in narrowed.items():
        scope.set(name_, value)
    result = state.value(node)
    for name_, value in scope.end().items():
        if value is not narrowed.get(name_):
            scope.set(name_, value)
    return result


def _conditional(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate `a if c else b`: the value where both sides agree."""
    if len(node.children) != 3:
        return _inside(state, node, PLAIN)
    consequence, condition, other = node.children
    state.value(condition)
    value = _where(state, narrowings(state, condition), consequence)
    return join(value, _where(state, narrowings(state, condition, holds=False), other))


def _binary(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate the sides of an operator; a long sum hangs on its left."""
    right = []
    while node.type == "binary_operator" and node.children:
        right += node.children[:0:-1]
        node = node.children[0]
    state.value(node)
    for side in reversed(right):
        state.value(side)
    return UNKNOWN


def _subscript(state: State, node: Node, place: UseForm) -> Value:
    of = node.get("value")
    value = state.value(of, place if place.form is UsageForm.BASE else PLAIN)
    inside = node.all("subscript")
    for child in inside:
        state.value(child)
    if len(inside) != 1:
        return UNKNOWN
    if inside[0].type == "slice":
        return value if isinstance(value, Elements) else UNKNOWN
    if isinstance(value, Mapping):
        return value.of
    if isinstance(value, Instance):
        return state.api.protocol_result(value.path, "__getitem__")
    if isinstance(value, Items) and inside[0].type == "integer":
        number = state.source.text(inside[0])
        return value.of[int(number)] if number.isdigit() and int(number) < len(value.of) else UNKNOWN
    return element_of(value)


def _assignment(state: State, node: Node, _: UseForm) -> Value:
    target = node.get("left") or node.get("name")
    right = node.get("right") or node.get("value")
    value = state.value(right)
    if node.type == "augmented_assignment":
        state.value(target)
        assign(state, target, UNKNOWN)
        return UNKNOWN
    annotation = node.get("type")
    annotated = annotated_value(state, annotation)
    if annotation is None and (comment := state.source.type_comment_after(node)):
        annotated = annotation_value(state, comment)
    if right is None and annotated is UNKNOWN:
        return UNKNOWN
    assign(state, target, value if annotated is UNKNOWN else annotated)
    return value


def _as(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate `value as target` of a with statement."""
    value = entered(state, state.value(node.children[0])) if node.children else UNKNOWN
    for alias in node.children[1:]:
        for child in alias.children:
            assign(state, child, value)
    return value


def _lambda(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate the defaults now and the body later, as Python does."""
    result = parameters(state, node.get("parameters"))
    body = node.get("body")
    if body is None:
        return UNKNOWN
    names = names_of(body.binders)
    names.gives = True
    info = state.functions[node.start] = FunctionInfo(node, state.scope, result, names, 0)
    if state.recording:
        state.waiting.append(lambda: run_body(state, info))
    return LocalFunction(node.start)


def _comprehension(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate a comprehension; its first iterable belongs to the scope around it."""
    outer = state.scope
    inner = Scope(ScopeKind.COMPREHENSION, outer, volatile=outer.volatile, owner=outer.owner)
    body = node.get("body")
    first = True
    for clause in node.children:
        if clause is body:
            continue
        state.scope = outer if first else inner
        if clause.type == "for_in_clause":
            _clause(state, clause, inner)
            first = False
        else:
            state.scope = inner
            state.value(clause)
            for narrowed, value in narrowings(state, clause.children[0] if clause.children else None).items():
                inner.bind(narrowed, value)
    state.scope = inner
    value = state.value(body)
    state.scope = outer
    if node.type == "dictionary_comprehension":
        return value
    return many(value)


def _clause(state: State, clause: Node, inner: Scope) -> None:
    item = iterated(state, state.value(clause.get("right")))
    target = clause.get("left")
    outer, state.scope = state.scope, inner
    _bind_item(state, target, item)
    state.scope = outer


def _bind_item(state: State, target: Node | None, item: Value) -> None:
    """Bind the target of a comprehension in its own scope, where a walrus would not."""
    if target is None:
        return
    if target.type == "identifier":
        state.scope.bind(target.text, item)
    elif target.type in {"pattern_list", "tuple_pattern"}:
        for part, value in zip(target.children, unpacked(item, len(target.children)), strict=True):
            _bind_item(state, part, value)
    else:
        for bound in target_names(target):
            state.scope.bind(bound, UNKNOWN)


def _sequence(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate a list, set or tuple."""
    values = tuple(state.value(child) for child in node.children)
    if not values or all(value is UNKNOWN for value in values):
        return UNKNOWN
    if any("splat" in child.type for child in node.children):
        return UNKNOWN
    if node.type in {"tuple", "expression_list"}:
        return Items(values)
    return many(element_of(Items(values)))


def _dictionary(state: State, node: Node, _: UseForm) -> Value:
    values = [state.value(child) for child in node.children]
    if not values or values[0] is UNKNOWN:
        return UNKNOWN
    value = element_of(Items(tuple(v.of if isinstance(v, Mapping) else UNKNOWN for v in values)))
    return UNKNOWN if value is UNKNOWN else Mapping(value)


def _pair(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate an entry of a dictionary, which is a dictionary of one."""
    values = [state.value(child) for child in node.children]
    return Mapping(values[-1]) if len(values) == 2 and values[-1] is not UNKNOWN else UNKNOWN


def _keyword(state: State, node: Node, _: UseForm) -> Value:
    return state.value(node.get("value"))


def _yield(state: State, node: Node, _: UseForm) -> Value:
    """Evaluate what is yielded; `yield from` gives what its iterable gives."""
    value = state.value(node.children[0]) if node.children else NOTHING
    if node.children and state.source.data[node.start : node.children[0].start].rstrip().endswith(b"from"):
        value = iterated(state, value)
    if len(node.children) < 2:
        state.returned.append(value)
    return UNKNOWN


def _none(state: State, node: Node, _: UseForm) -> Value:
    return NOTHING


def _leaf(state: State, node: Node, _: UseForm) -> Value:
    return UNKNOWN


EXPRESSIONS: dict[str, Evaluate] = {
    "identifier": name,
    "attribute": attribute,
    "dotted_name": dotted_name,
    "call": call,
    "subscript": _subscript,
    "none": _none,
    "keyword_argument": _keyword,
    "as_pattern": _as,
    "lambda": _lambda,
    "yield": _yield,
    "pair": _pair,
    "dictionary": _dictionary,
    "boolean_operator": _either,
    "conditional_expression": _conditional,
    "binary_operator": _binary,
    **dict.fromkeys(("list", "tuple", "set", "expression_list"), _sequence),
    **dict.fromkeys(("type", "parenthesized_expression", "await", "expression_statement"), _inside),
    **dict.fromkeys(("assignment", "augmented_assignment", "named_expression"), _assignment),
    **dict.fromkeys(COMPREHENSIONS, _comprehension),
    **dict.fromkeys(("integer", "float", "true", "false", "ellipsis", "string_start", "string_content"), _leaf),
}
"""What evaluates each kind of expression; of any other kind its parts are evaluated and nothing is known."""
