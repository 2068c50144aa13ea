"""What changed between two lists of parameters."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.lake import Row
from pipeline.lifecycle.rules import LifecycleRules
from pipeline.lifecycle.written import literal, same_annotation, same_value
from pipeline.terms import ChangeKind, ParameterKind

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_NAMED = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
_VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between two states of an API; `breaking` is None where the rules' answer stands."""

    kind: ChangeKind
    old: str | None = None
    new: str | None = None
    parameter: str | None = None
    breaking: bool | None = None
    replacement: str | None = field(default=None)


def compare_parameters(old: Sequence[Row], new: Sequence[Row], rules: LifecycleRules) -> Iterator[Difference]:
    """Yield what differs between the parameters of a callable, in the order of the old ones.

    `*args` and `**kwargs` are compared by kind: their names are nobody's business.
    """
    left, right = _by_key(old), _by_key(new)
    renamed = {a: b for a, b in _same_place(old, new, left, right) if _names_agree(left[a], b, rules)}
    for key, parameter in left.items():
        other = renamed.get(key, key)
        if other not in right:
            yield _removed(parameter, right)
        else:
            if other != key:
                yield _rename(parameter, right[other])
            yield from _same(parameter, right[other], old, new, rules)
    for key, parameter in right.items():
        if key not in left and key not in renamed.values():
            yield _added(parameter, left)


def show(parameter: Row) -> str:
    """Write a parameter as it stands in a signature."""
    stars = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}.get(parameter["kind"], "")
    annotation = f": {parameter['annotation']}" if parameter["annotation"] else ""
    equals = " = " if annotation else "="
    default = f"{equals}{parameter['default']}" if parameter["default"] is not None else ""
    return f"{stars}{parameter['name']}{annotation}{default}"


def _by_key(parameters: Sequence[Row]) -> dict[str, Row]:
    return {str(p["kind"]) if p["kind"] in _VARIADIC else p["name"]: p for p in parameters}


def _positions(parameters: Sequence[Row]) -> dict[str, int]:
    return {p["name"]: n for n, p in enumerate(q for q in parameters if q["kind"] in _POSITIONAL)}


def _names_agree(before: Row, after: str, rules: LifecycleRules) -> bool:
    ratio = difflib.SequenceMatcher(None, before["name"], after).ratio()
    return before["default"] is None or ratio >= rules.similar_parameter_names


def _same_place(
    old: Sequence[Row], new: Sequence[Row], left: dict[str, Row], right: dict[str, Row]
) -> Iterator[tuple[str, str]]:
    """Pair a positional parameter that went with one that came in its place: same position and default."""
    there = {n: name for name, n in _positions(new).items()}
    for name, position in _positions(old).items():
        other = there.get(position)
        if other is None or name in right or other in left:
            continue
        before, after = left[name], right[other]
        same_default = same_value(before["default"], after["default"])
        unsure = before["annotation"] is None or after["annotation"] is None
        if same_default and (unsure or same_annotation(before["annotation"], after["annotation"])):
            yield name, other


def _rename(before: Row, after: Row) -> Difference:
    breaking = None if before["kind"] != ParameterKind.POSITIONAL_ONLY else False
    return Difference(ChangeKind.PARAMETER_RENAMED, before["name"], after["name"], before["name"], breaking)


def _removed(parameter: Row, right: dict[str, Row]) -> Difference:
    takes_names = parameter["kind"] == ParameterKind.KEYWORD_ONLY and ParameterKind.VAR_KEYWORD in right
    takes_places = parameter["kind"] == ParameterKind.POSITIONAL_ONLY and ParameterKind.VAR_POSITIONAL in right
    takes_both = parameter["kind"] in _POSITIONAL and all(str(kind) in right for kind in _VARIADIC)
    breaking = False if takes_names or takes_places or takes_both else None
    return Difference(ChangeKind.PARAMETER_REMOVED, show(parameter), None, parameter["name"], breaking)


def _added(parameter: Row, left: dict[str, Row]) -> Difference:
    required = parameter["default"] is None and parameter["kind"] not in _VARIADIC
    kind = ChangeKind.PARAMETER_ADDED_REQUIRED if required else ChangeKind.PARAMETER_ADDED_OPTIONAL
    return Difference(kind, None, show(parameter), parameter["name"])


def _same(
    before: Row, after: Row, old: Sequence[Row], new: Sequence[Row], rules: LifecycleRules
) -> Iterator[Difference]:
    name = before["name"]
    if before["kind"] in _VARIADIC:
        yield from _types(before, after, rules)
        return
    if before["kind"] != after["kind"]:
        freer = after["kind"] == ParameterKind.POSITIONAL_OR_KEYWORD
        kinds = str(before["kind"]), str(after["kind"])
        yield Difference(ChangeKind.PARAMETER_KIND, *kinds, name, False if freer else None)
    was, is_ = _positions(old).get(name), _positions(new).get(after["name"])
    if was is not None and is_ is not None and was != is_:
        yield Difference(ChangeKind.PARAMETER_MOVED, f"position {was + 1}", f"position {is_ + 1}", name)
    yield from _defaults(before, after)
    yield from _types(before, after, rules)


def _defaults(before: Row, after: Row) -> Iterator[Difference]:
    name, was, is_ = before["name"], before["default"], after["default"]
    if was is None and is_ is not None:
        yield Difference(ChangeKind.PARAMETER_OPTIONAL, None, is_, name)
    elif was is not None and is_ is None:
        yield Difference(ChangeKind.PARAMETER_REQUIRED, was, None, name)
    elif not same_value(was, is_):
        # of two expressions nobody can say without running whether their values differ
        sure = literal(was) is not None and literal(is_) is not None
        yield Difference(ChangeKind.PARAMETER_DEFAULT, was, is_, name, None if sure else False)


def _types(before: Row, after: Row, rules: LifecycleRules) -> Iterator[Difference]:
    if annotations_differ(before["annotation"], after["annotation"], rules):
        yield Difference(ChangeKind.PARAMETER_TYPE, before["annotation"], after["annotation"], before["name"])


def annotations_differ(old: str | None, new: str | None, rules: LifecycleRules) -> bool:
    """Return whether an annotation changed; one that came or went counts only if the rules say so."""
    if (old is None or new is None) and not rules.count_first_annotations:
        return False
    return not same_annotation(old, new)
