"""What changed between two states of one API: its kind, parameters, annotations, value, bases, deprecation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from operator import itemgetter

from pipeline.api.history.index import Index, standard_members
from pipeline.api.history.normalize import base_names, literal, same_overloads, same_value
from pipeline.api.history.parameters import Difference, annotations_differ, compare_parameters, written
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.uses import compare_uses, deprecated_uses
from pipeline.api.surface.extract.attributes import SET_OUTSIDE_INIT
from pipeline.api.surface.extract.uses import REFUSES
from pipeline.api.surface.parse.conditional import CONDITIONAL
from pipeline.api.surface.parse.module_model import (
    ARGS_HANDED_ON,
    ASYNC_GENERATOR,
    DEFAULT_VALUE,
    KWARGS_UNSEEN,
    SENTINEL_DEFAULT,
    UNSEEN_SIGNATURE,
)
from pipeline.api.surface.resolve.labels import EXTENDS, OPAQUE, UNPARSED
from pipeline.core.vocabularies.change_words import CONDITIONALLY
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import PublicBecause, SymbolKind
from pipeline.lake.rows import SymbolParameter, SymbolState

_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_ATTRIBUTES = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.PROPERTY})
_OBSERVABLE = _CALLABLE | _ATTRIBUTES | {SymbolKind.MODULE}
_DECLARE = frozenset({"Protocol", "TypedDict"})
_COMPARED = itemgetter("kind", "parameters", "returns", "value", "bases", "labels", "overloads", "deprecation")


def compare_states(old: SymbolState, new: SymbolState, new_index: Index, rules: LifecycleRules) -> Iterator[Difference]:
    """Yield what differs between two states of one path; nothing where one of them cannot be seen."""
    if _COMPARED(old) == _COMPARED(new):
        # most rows differ in their docstring or decorators only
        return
    yield from compare_deprecation(old, new)
    if not _is_observable(old) or not _is_observable(new):
        return
    yield from _kind(old, new)
    if old["kind"] in _CALLABLE and new["kind"] in _CALLABLE:
        yield from _callable(old, new, rules)
    if old["kind"] in _ATTRIBUTES and new["kind"] in _ATTRIBUTES:
        yield from _attribute(old, new, rules)
        if _lost_value(old, new, new_index, rules):
            yield Difference(ChangeKind.USE, f"C.{new['path'].rpartition('.')[2]}", None, breaking=True)
    if old["kind"] == new["kind"] == SymbolKind.CLASS:
        yield from _bases(old, new, new_index)
    yield from compare_uses(old, new, rules)
    yield from deprecated_uses(old, new)


def compare_alike(row: SymbolState, other: SymbolState) -> bool:
    """Return whether two rows come to the same in `compare_states`; of a class, what it stands among counts too."""
    if row is other:
        return True
    same_name = row["path"].rpartition(".")[2] == other["path"].rpartition(".")[2]
    return same_name and row["kind"] != SymbolKind.CLASS and bool(_COMPARED(row) == _COMPARED(other))


def compare_deprecation(old: SymbolState, new: SymbolState) -> Iterator[Difference]:
    """Yield the mark of deprecation that came or was taken back between two rows of one path."""
    was, is_ = old["deprecation"], new["deprecation"]
    if _hidden(old) or _hidden(new):
        return
    if is_ and not was:
        yield Difference(ChangeKind.DEPRECATED, None, is_["message"], replacement=is_["replacement"])
    elif was and not is_:
        yield Difference(ChangeKind.UNDEPRECATED, was["message"], None)


def _is_observable(row: SymbolState) -> bool:
    return row["kind"] in _OBSERVABLE and not _hidden(row)


def _hidden(row: SymbolState) -> bool:
    return OPAQUE in row["labels"] or UNPARSED in row["labels"]


def _kind(old: SymbolState, new: SymbolState) -> Iterator[Difference]:
    if old["kind"] == new["kind"]:
        return
    for row, other in ((old, new), (new, old)):
        # what a call, a lambda or another name gives may be of any kind, and so may what is only annotated
        untyped = row["kind"] == SymbolKind.ATTRIBUTE and other["kind"] in _CALLABLE | {SymbolKind.PROPERTY}
        if untyped and literal(row["value"]) is None:
            return
    both_attributes = old["kind"] in _ATTRIBUTES and new["kind"] in _ATTRIBUTES
    still_called = old["kind"] in _CALLABLE and new["kind"] == SymbolKind.CLASS
    yield Difference(
        ChangeKind.KIND, str(old["kind"]), str(new["kind"]), breaking=False if both_attributes or still_called else None
    )


def _callable(old: SymbolState, new: SymbolState, rules: LifecycleRules) -> Iterator[Difference]:
    was, is_ = "async" in old["labels"], "async" in new["labels"]
    # nobody could use what only refuses, awaited or not
    refuses = REFUSES in old["labels"] or REFUSES in new["labels"]
    if was != is_ and not refuses and SymbolKind.CLASS not in {old["kind"], new["kind"]}:
        yield Difference(ChangeKind.ASYNC, _awaited(old), _awaited(new))
    if _has_signature(old) and _has_signature(new):
        sentinels = _sentinels(old) & _sentinels(new)
        differences = compare_parameters(_with_values(old, sentinels), _with_values(new, sentinels), rules)
        yield from (_with_doubt(difference, old, new) for difference in differences)
    if annotations_differ(old["returns"], new["returns"], rules):
        yield Difference(ChangeKind.RETURNS, old["returns"], new["returns"])
    same = same_overloads(old["overloads"], new["overloads"])
    if not same and (old["overloads"] or rules.count_first_annotations):
        yield Difference(ChangeKind.OVERLOADS, _joined(old["overloads"]), _joined(new["overloads"]))


def _with_doubt(difference: Difference, old: SymbolState, new: SymbolState) -> Difference:
    """Return a claim as unsure where `**kwargs` of the release without the parameter may reach what takes it.

    So is the claim that `*args` or `**kwargs` went, if these were handed on: what stands there instead may be all that
    they took.
    For the same reason an optional parameter in their place is unsure, and breaks nothing.
    """
    added = difference.kind in {ChangeKind.PARAMETER_ADDED_OPTIONAL, ChangeKind.PARAMETER_ADDED_REQUIRED}
    if not added and difference.kind != ChangeKind.PARAMETER_REMOVED:
        return difference
    text = difference.old or difference.new or ""
    if text.startswith("*"):
        label = KWARGS_UNSEEN if text.startswith("**") else ARGS_HANDED_ON
        limited = not added and label in old["labels"]
        return replace(difference, unobservable=True) if limited else difference
    optional = difference.kind == ChangeKind.PARAMETER_ADDED_OPTIONAL
    if optional and difference.breaking and ARGS_HANDED_ON in old["labels"]:
        return replace(difference, unobservable=True, breaking=None)
    unobservable = KWARGS_UNSEEN in (old if added else new)["labels"]
    return replace(difference, unobservable=True) if unobservable else difference


def _awaited(row: SymbolState) -> str:
    if ASYNC_GENERATOR in row["labels"]:
        return "async generator"
    return "async" if "async" in row["labels"] else "not async"


def _with_values(row: SymbolState, sentinels: Set[str]) -> Sequence[SymbolParameter]:
    """Return the parameters of a row, with the values of defaults that are written as the names of constants.

    What a sentinel is called does not change what a function does: `sentinels` have one in both.
    """
    labels = (label.removeprefix(DEFAULT_VALUE) for label in row["labels"] if label.startswith(DEFAULT_VALUE))
    values = {name: value for name, _, value in (label.partition("=") for label in labels)}
    values |= dict.fromkeys(sentinels, "object()")
    if not values:
        return row["parameters"]
    return [p | {"default": values[p["name"]]} if p["name"] in values else p for p in row["parameters"]]


def _sentinels(row: SymbolState) -> set[str]:
    return {label.removeprefix(SENTINEL_DEFAULT) for label in row["labels"] if label.startswith(SENTINEL_DEFAULT)}


def _joined(overloads: Sequence[str]) -> str | None:
    return "; ".join(overloads) or None


def _has_signature(row: SymbolState) -> bool:
    """Return whether what the row says is what a caller can give.

    A class without parameters that has bases outside the distribution may take whatever those take.
    """
    if UNSEEN_SIGNATURE in row["labels"]:
        return False
    outside = any(label.startswith(EXTENDS) for label in row["labels"])
    return bool(row["parameters"]) or row["kind"] != SymbolKind.CLASS or not outside


def _attribute(old: SymbolState, new: SymbolState, rules: LifecycleRules) -> Iterator[Difference]:
    if annotations_differ(old["returns"], new["returns"], rules):
        kind = ChangeKind.RETURNS if new["kind"] == SymbolKind.PROPERTY else ChangeKind.ATTRIBUTE_TYPE
        yield Difference(kind, old["returns"], new["returns"])
    name = new["path"].rpartition(".")[2]
    per_instance = "instance-attribute" in new["labels"] and "class-attribute" not in new["labels"]
    if per_instance or rules.values_of_every_release.search(name):
        return
    literals = literal(old["value"]) is not None and literal(new["value"]) is not None
    if literals and not same_value(old["value"], new["value"]):
        yield Difference(ChangeKind.ATTRIBUTE_VALUE, old["value"], new["value"])


def _lost_value(old: SymbolState, new: SymbolState, index: Index, rules: LifecycleRules) -> bool:
    """Return whether a class had a value for an attribute that it only declares now, and no base gives one."""
    if old["kind"] != SymbolKind.ATTRIBUTE or old["value"] is None or old["source"] != new["source"]:
        return False
    if "class-attribute" not in old["labels"] or "class-attribute" in new["labels"] or not only_declared(new, index):
        return False
    parent, _, name = new["path"].rpartition(".")
    class_ = index.find(parent)
    if class_ is None or SET_OUTSIDE_INIT in new["labels"] or new["canonical_path"] != f"{parent}.{name}":
        return False
    outside = (label.removeprefix(EXTENDS) for label in class_["labels"] if label.startswith(EXTENDS))
    if any(name in (standard_members(base, rules.known_bases) or (name,)) for base in outside):
        return False
    inherited = tuple(f".{base}.{name}" for base in _all_bases(class_, index) - {parent.rpartition(".")[2]})
    return not any(path.endswith(inherited) for path in index.rows)


def _bases(old: SymbolState, new: SymbolState, new_index: Index) -> Iterator[Difference]:
    was = {*base_names(old["bases"])} - {"object"}
    is_ = {*base_names(new["bases"])} - {"object"}
    if was == is_:
        return
    above = _all_bases(new, new_index)
    lost = {base for base in was - above if not base.startswith("_") and base not in {"Generic", "Protocol"}}
    breaking = None if lost else False
    yield Difference(
        ChangeKind.BASES, ", ".join(old["bases"]) or None, ", ".join(new["bases"]) or None, breaking=breaking
    )


def _all_bases(row: SymbolState, index: Index) -> set[str]:
    """Return the last names of the bases of a class, and of theirs as far as they can be told.

    The classes that a class inherits members from are above it, whatever they are called where it is written.
    """
    inherited = (r for r in index.below(row["path"]) if r["public_because"] == PublicBecause.INHERITED)
    names: set[str] = set()
    waiting = base_names(row["bases"])
    waiting += [r["canonical_path"].split(".")[-2] for r in inherited]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += base_names(index.bases.get(name) or ())
    return names


def only_declared(row: SymbolState, index: Index) -> bool:
    """Return whether a row is of an attribute that its class annotates, that is no field, and that nothing sets.

    What a protocol or a TypedDict declares is what it is.
    """
    if row["kind"] != SymbolKind.ATTRIBUTE or row["value"] is not None or row["returns"] is None:
        return False
    parent, _, name = row["path"].rpartition(".")
    class_ = index.find(parent)
    if class_ is None or class_["kind"] != SymbolKind.CLASS or name in {p["name"] for p in class_["parameters"]}:
        return False
    return _all_bases(class_, index).isdisjoint(_DECLARE)


def describe_state(row: SymbolState) -> str:
    """Write a symbol row in a line, for people: `function (a, /, b=1, *, c) -> int`."""
    condition = CONDITIONALLY if CONDITIONAL in row["labels"] else ""
    if row["kind"] in _CALLABLE:
        returns = f" -> {row['returns']}" if row["returns"] else ""
        return f"{row['kind']} ({', '.join(written(row['parameters']))}){returns}{condition}"
    annotation = f": {row['returns']}" if row["returns"] else ""
    value = f" = {row['value']}" if row["value"] is not None else ""
    return f"{row['kind']}{annotation}{value}{condition}"
