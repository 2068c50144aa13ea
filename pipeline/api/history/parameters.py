"""What changed between two lists of parameters.

A parameter may be known from more than the signature (`known_from`): what only became explicit, or is only described,
is no parameter that came or went; an old name that a helper still accepts makes a rename that breaks nothing.
"""

from __future__ import annotations

import bisect
import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.api.history.normalize import literal, same_annotation, same_value
from pipeline.api.history.rules import LifecycleRules
from pipeline.core.vocabularies.change_words import one_line
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import ParameterDeprecation, ParameterKind, ParameterSource
from pipeline.lake.rows import SymbolParameter, SymbolParameterDeprecation

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
_LOOSE = frozenset(
    {
        *(ParameterSource.KWARGS, ParameterSource.DOCSTRING, ParameterSource.STUB, ParameterSource.HELPER),
        *(ParameterSource.UNPACKED, ParameterSource.PASSED_ON, ParameterSource.ARGS),
    }
)
_NOT_WRITTEN = frozenset({ParameterSource.HELPER, ParameterSource.PASSED_ON})
_READ_FROM_KWARGS = _LOOSE - {ParameterSource.PASSED_ON, ParameterSource.ARGS}

UNKNOWN = "..."
"""A default that is there, of which nobody says what it is."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between two states of an API; `breaking` is None where the rules' answer stands.

    `guessed` if it is a rename that nobody states, `unobservable` if a parameter vanished behind `**kwargs`.
    """

    kind: ChangeKind
    old: str | None = None
    new: str | None = None
    parameter: str | None = None
    breaking: bool | None = None
    replacement: str | None = field(default=None)
    guessed: bool = False
    unobservable: bool = False


def compare_parameters(
    old: Sequence[SymbolParameter], new: Sequence[SymbolParameter], rules: LifecycleRules
) -> Iterator[Difference]:
    """Yield what differs between the parameters of a callable, in the order of the old ones.

    `*args` and `**kwargs` are compared by kind: their names are nobody's business. Nor is the old name of what could
    be given by position only.
    """
    if old == new:
        return
    left, right = _by_key(old), _by_key(new)
    accepted = dict(_still_accepted(left, right))
    guessed = {a: b for a, b in _same_place(old, new, left, right) if _names_agree(left[a], right[b], rules)}
    renamed = {**guessed, **accepted}
    moved = _out_of_order(old, new, renamed)
    for key, parameter in left.items():
        other = renamed.get(key, key)
        if other not in right:
            yield from _removed(parameter, old, new)
            continue
        is_named = (
            parameter["kind"] != ParameterKind.POSITIONAL_ONLY or right[other]["kind"] == ParameterKind.KEYWORD_ONLY
        )
        if other != key and is_named:
            yield _rename(parameter, right[other], accepted=key in accepted)
        yield from _same(parameter, right[other], old, new, rules)
        if key in moved:
            yield _moved(parameter, right[other], old, new)
    for key, parameter in right.items():
        if key not in left and key not in renamed.values():
            yield from _added(parameter, old, new)


_STARS: Mapping[str, str] = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}


def show(parameter: SymbolParameter) -> str:
    """Write a parameter as it stands in a signature."""
    stars = _STARS.get(parameter["kind"], "")
    annotation = f": {parameter['annotation']}" if parameter["annotation"] else ""
    equals = " = " if annotation else "="
    default = f"{equals}{parameter['default']}" if parameter["default"] is not None else ""
    return f"{stars}{parameter['name']}{annotation}{default}"


def written(parameters: Sequence[SymbolParameter]) -> list[str]:
    """Write parameters as they stand between brackets, with `/` and `*` where they belong.

    Names that a helper still accepts for a while are left out: they are no part of what one should write. So are those
    of a base, for which `**kwargs` stands.
    """
    listed = [p for p in parameters if p["known_from"] not in _NOT_WRITTEN]
    kinds = [p["kind"] for p in listed]
    parts: list[str] = []
    for at, parameter in enumerate(listed):
        before = kinds[at - 1] if at else None
        if before == ParameterKind.POSITIONAL_ONLY != kinds[at]:
            parts.append("/")
        if kinds[at] == ParameterKind.KEYWORD_ONLY and not {before} & {
            ParameterKind.KEYWORD_ONLY,
            ParameterKind.VAR_POSITIONAL,
        }:
            parts.append("*")
        parts.append(one_line(show(parameter)))
    return [*parts, "/"] if kinds[-1:] == [ParameterKind.POSITIONAL_ONLY] else parts


def _by_key(parameters: Sequence[SymbolParameter]) -> dict[str, SymbolParameter]:
    return {str(p["kind"]) if p["kind"] in _VARIADIC else p["name"]: p for p in parameters}


def _positions(parameters: Sequence[SymbolParameter]) -> dict[str, int]:
    return {p["name"]: n for n, p in enumerate(q for q in parameters if q["kind"] in _POSITIONAL)}


def _names_agree(before: SymbolParameter, after: SymbolParameter, rules: LifecycleRules) -> bool:
    ratio = difflib.SequenceMatcher(None, before["name"], after["name"]).ratio()
    is_certain = before["default"] is None and after["kind"] in _POSITIONAL
    return is_certain or ratio >= rules.similar_parameter_names


def _same_place(
    old: Sequence[SymbolParameter],
    new: Sequence[SymbolParameter],
    left: dict[str, SymbolParameter],
    right: dict[str, SymbolParameter],
) -> Iterator[tuple[str, str]]:
    """Pair a positional parameter that went with one that came in its place: same position and default.

    What must be given by name now stands behind the positional ones. There the order tells if one went and one came.
    """
    gone, added = ([name for name in one if name not in other] for one, other in ((left, right), (right, left)))
    is_single = len(gone) == len(added) == 1 and right[added[0]]["known_from"] == ParameterSource.SIGNATURE
    names = [p["name"] for p in new if p["kind"] in _POSITIONAL or (is_single and p["kind"] not in _VARIADIC)]
    there = dict(enumerate(names))
    for name, position in _positions(old).items():
        other = there.get(position)
        if other is None or name in right or other in left:
            continue
        before, after = left[name], right[other]
        same_default = same_value(before["default"], after["default"])
        unsure = before["annotation"] is None or after["annotation"] is None
        if same_default and (unsure or same_annotation(before["annotation"], after["annotation"])):
            yield name, other


def _still_accepted(
    left: Mapping[str, SymbolParameter], right: Mapping[str, SymbolParameter]
) -> Iterator[tuple[str, str]]:
    """Pair a parameter with the new name that a helper gives for it, where that name came with it."""
    for name, parameter in left.items():
        mark = right[name]["deprecation"] if name in right else None
        if mark is None or parameter["known_from"] == ParameterSource.HELPER:
            continue
        by_helper = right[name]["known_from"] == ParameterSource.HELPER and mark["what"] == ParameterDeprecation.NAME
        other = mark["replacement"]
        if by_helper and other is not None and other in right and other not in left:
            yield name, other


def _rename(before: SymbolParameter, after: SymbolParameter, *, accepted: bool) -> Difference:
    breaking = False if accepted or _positional_both_times(before, after) else None
    names = before["name"], after["name"]
    return Difference(
        ChangeKind.PARAMETER_RENAMED,
        *names,
        before["name"],
        breaking,
        replacement=after["name"],
        guessed=not accepted,
    )


def _removed(
    parameter: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]
) -> Iterator[Difference]:
    if _typed_elsewhere(parameter, new) or _absorbed_elsewhere(parameter, new) or _is_of_base(parameter):
        return
    mark, source = parameter["deprecation"], parameter["known_from"]
    # what a helper made of its value nobody makes any more, whatever **kwargs takes
    absorbed = source != ParameterSource.HELPER and _absorbed(parameter, old, new)
    unused = absorbed or source == ParameterSource.DOCSTRING or _is_private(parameter, old)
    breaking = False if unused else None
    replacement = mark["replacement"] if mark else None
    yield Difference(
        ChangeKind.PARAMETER_REMOVED, show(parameter), None, parameter["name"], breaking, replacement=replacement
    )


def _is_private(parameter: SymbolParameter, among: Sequence[SymbolParameter]) -> bool:
    """Return whether callers have no business with a parameter: an optional one with an underscore, behind all others.

    One that other positional parameters follow takes their places with it when it goes.
    """
    if not parameter["name"].startswith("_") or parameter["default"] is None:
        return False
    behind = itertools.dropwhile(lambda p: p["name"] != parameter["name"], among)
    return all(p["name"].startswith("_") for p in behind if p["kind"] in _POSITIONAL)


def _absorbed(parameter: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]) -> bool:
    """Return whether `*args` and `**kwargs` take a parameter in every way in which it could be given."""
    kind, kinds = parameter["kind"], {p["kind"] for p in new}
    by_name = kind == ParameterKind.POSITIONAL_ONLY or ParameterKind.VAR_KEYWORD in kinds
    # its place must be behind the last one that still has a name
    free = ParameterKind.VAR_POSITIONAL in kinds and _positions(old).get(parameter["name"], -1) >= len(_positions(new))
    return kind not in _VARIADIC and by_name and (kind == ParameterKind.KEYWORD_ONLY or free)


def _typed_elsewhere(parameter: SymbolParameter, there: Sequence[SymbolParameter]) -> bool:
    """Return whether a parameter of a stub or TypedDict is not seen on the other side because that has none."""
    source, sources = parameter["known_from"], {p["known_from"] for p in there}
    open_ = any(p["kind"] == ParameterKind.VAR_KEYWORD for p in there)
    return source in {ParameterSource.STUB, ParameterSource.UNPACKED} and source not in sources and open_


def _is_of_base(parameter: SymbolParameter) -> bool:
    """Return whether a parameter is one of a base: what happens to it there is told of the base."""
    return parameter["known_from"] == ParameterSource.PASSED_ON


def _absorbed_elsewhere(parameter: SymbolParameter, there: Sequence[SymbolParameter]) -> bool:
    """Return whether a parameter that the body took out of `**kwargs` may be taken where these are passed on to.

    So it is where nothing is seen of what the other side takes out of them (sympy 1.14 has it done by another method).
    """
    sources, kinds = {p["known_from"] for p in there}, {p["kind"] for p in there}
    explicit = not _READ_FROM_KWARGS.isdisjoint(sources)
    return parameter["known_from"] == ParameterSource.KWARGS and ParameterKind.VAR_KEYWORD in kinds and not explicit


def _added(
    parameter: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]
) -> Iterator[Difference]:
    name, source = parameter["name"], parameter["known_from"]
    if source == ParameterSource.HELPER:
        yield from _deprecated(None, parameter, name)
        return
    if _typed_elsewhere(parameter, old) or _is_of_base(parameter):
        return
    required = parameter["default"] is None and parameter["kind"] not in _VARIADIC
    kind = ChangeKind.PARAMETER_ADDED_REQUIRED if required else ChangeKind.PARAMETER_ADDED_OPTIONAL
    described = source == ParameterSource.DOCSTRING
    breaking = False if described else True if _shifts(parameter, old, new) else None
    yield Difference(kind, None, show(parameter), name, breaking)


def _shifts(parameter: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]) -> bool:
    """Return whether a new parameter takes the place of what was given by position before."""
    was, is_ = _positions(old), _positions(new)
    place = is_.get(parameter["name"])
    if place is None:
        return False
    collects = any(p["kind"] == ParameterKind.VAR_POSITIONAL for p in old)
    return collects or any(name in was for name, position in is_.items() if position > place)


def _out_of_order(
    old: Sequence[SymbolParameter], new: Sequence[SymbolParameter], renamed: Mapping[str, str]
) -> set[str]:
    """Return the fewest positional parameters of the old order that must move to give the new one.

    What remains is a longest increasing subsequence of new positions, so that what was inserted moves nobody.
    """
    there = _positions(new)
    shared = [(name, there[renamed.get(name, name)]) for name in _positions(old) if renamed.get(name, name) in there]
    ends: list[int] = []
    chains: list[list[str]] = []
    for name, position in shared:
        length = bisect.bisect_left(ends, position)
        chain = [*(chains[length - 1] if length else []), name]
        ends[length : length + 1], chains[length : length + 1] = [position], [chain]
    return {name for name, _ in shared} - set(chains[-1] if chains else [])


def _moved(
    before: SymbolParameter, after: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]
) -> Difference:
    was, is_ = _positions(old)[before["name"]], _positions(new)[after["name"]]
    return Difference(ChangeKind.PARAMETER_MOVED, f"position {was + 1}", f"position {is_ + 1}", before["name"])


def _same(
    before: SymbolParameter,
    after: SymbolParameter,
    old: Sequence[SymbolParameter],
    new: Sequence[SymbolParameter],
    rules: LifecycleRules,
) -> Iterator[Difference]:
    if _is_of_base(before) and _is_of_base(after):
        return
    yield from _deprecated(before["deprecation"], after, before["name"])
    if before["kind"] not in _VARIADIC:
        yield from _kinds(before, after, old, new)
        yield from _defaults(before, after)
    if not (_is_of_base(before) or _is_of_base(after)):
        yield from _types(before, after, rules)


def _deprecated(was: SymbolParameterDeprecation | None, after: SymbolParameter, name: str) -> Iterator[Difference]:
    """Yield the mark of deprecation that came upon a parameter, or upon another way of giving it."""
    is_ = after["deprecation"]
    if is_ and (was is None or was["what"] != is_["what"]):
        states = (str(was["what"]) if was else None), str(is_["what"])
        yield Difference(ChangeKind.PARAMETER_DEPRECATED, *states, name, replacement=is_["replacement"])


def _kinds(
    before: SymbolParameter, after: SymbolParameter, old: Sequence[SymbolParameter], new: Sequence[SymbolParameter]
) -> Iterator[Difference]:
    if before["kind"] == after["kind"]:
        return
    freer = after["kind"] == ParameterKind.POSITIONAL_OR_KEYWORD
    hidden = after["known_from"] in _LOOSE and _absorbed(before, old, new)
    if hidden or (freer and _LOOSE & {before["known_from"], after["known_from"]}):
        # it became explicit, or ceased to be
        return
    kinds = str(before["kind"]), str(after["kind"])
    breaking = False if freer or _positional_both_times(before, after) else None
    yield Difference(ChangeKind.PARAMETER_KIND, *kinds, before["name"], breaking)


def _positional_both_times(before: SymbolParameter, after: SymbolParameter) -> bool:
    """Return whether code gives a parameter by position, and still can: nobody writes a name with an underscore."""
    return before["name"].startswith("_") and {before["kind"], after["kind"]} <= set(_POSITIONAL)


def _defaults(before: SymbolParameter, after: SymbolParameter) -> Iterator[Difference]:
    name, was, is_ = before["name"], before["default"], after["default"]
    if any(p["default"] == UNKNOWN and p["known_from"] in _LOOSE for p in (before, after)):
        return
    if was is None and is_ is not None:
        yield Difference(ChangeKind.PARAMETER_OPTIONAL, None, is_, name)
    elif was is not None and is_ is None:
        yield Difference(ChangeKind.PARAMETER_REQUIRED, was, None, name)
    elif UNKNOWN not in {was, is_} and not same_value(was, is_):
        # of two expressions nobody can say without running whether their values differ
        sure = literal(was) is not None and literal(is_) is not None
        yield Difference(ChangeKind.PARAMETER_DEFAULT, was, is_, name, None if sure else False)


def _types(before: SymbolParameter, after: SymbolParameter, rules: LifecycleRules) -> Iterator[Difference]:
    if annotations_differ(before["annotation"], after["annotation"], rules):
        yield Difference(ChangeKind.PARAMETER_TYPE, before["annotation"], after["annotation"], before["name"])


def annotations_differ(old: str | None, new: str | None, rules: LifecycleRules) -> bool:
    """Return whether an annotation changed; one that came or went counts only if the rules say so."""
    if (old is None or new is None) and not rules.count_first_annotations:
        return False
    return not same_annotation(old, new)
