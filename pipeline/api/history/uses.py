"""Ways to use an API that came or went: by syntax, on the class, by assignment, by making instances or subclasses."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.api.history.index import standard_members
from pipeline.api.history.parameters import Difference
from pipeline.api.history.rules import LifecycleRules
from pipeline.api.surface.extract.uses import (
    ABSTRACT,
    FROZEN,
    INHERITED,
    OF_OBJECTS,
    ONLY_RAISES,
    OPERATORS,
    REFUSED,
    REFUSES,
    SLOTTED,
    SYNTAX,
    UNHASHABLE,
    USE,
    WARNS_TO,
)
from pipeline.api.surface.parse.module_model import PATCHED_BY, UNSEEN_MEMBERS
from pipeline.api.surface.resolve.labels import EXTENDS
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import SymbolState

_INSTEAD = {"__iter__": ("__getitem__",), "__contains__": ("__iter__", "__getitem__"), "__reversed__": ("__getitem__",)}
"""Special methods that Python uses where another one is lacking (language reference, 3.3.7 and 6.10.2)."""

_FALLBACKS = {
    **{f"__i{name}__": (f"__{name}__",) for name in OPERATORS},
    "__int__": ("__index__", "__trunc__"),
    "__float__": ("__index__",),
    "__complex__": ("__float__", "__index__"),
    "__reversed__": ("__getitem__",),
}
"""Further special methods that Python replaces by others: without one of these a class loses no use (3.3.8)."""

_NEW_ATTRIBUTE = "x.new = …"
"""No class promises room for unknown attributes: that they are refused is listed, and is not breaking."""

_BOUND = frozenset({"staticmethod", "classmethod"})
_VALUES = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.PROPERTY})
_CALLED = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})


def compare_uses(old: SymbolState, new: SymbolState, rules: LifecycleRules) -> Iterator[Difference]:
    """Yield one difference of all ways to use an API that only one of two states has.

    In the texts a class is `C`, its instances are `x`, a method is `m` and a function `f`: an API may have several
    names. Sources of another kind, a stub for example, show other special methods: then nothing is compared.
    """
    if old["source"] != new["source"]:
        return
    if old["kind"] == new["kind"] == SymbolKind.CLASS:
        if not _shows_members(old, new, rules) or not _shows_members(new, old, rules):
            return
        lost, gained = _of_class(old, new, rules), _of_class(new, old, rules)
    else:
        was, is_ = _ways(old, new), _ways(new, old)
        lost, gained = was - is_, is_ - was
    if lost or gained:
        texts = [", ".join(sorted(ways)) or None for ways in (lost, gained)]
        yield Difference(ChangeKind.USE, texts[0], texts[1], breaking=bool(lost - {_NEW_ATTRIBUTE}))


def deprecated_uses(old: SymbolState, new: SymbolState) -> Iterator[Difference]:
    """Yield the ways to use an attribute or property of which its accessors warn from now on.

    Where reading warns too, the API as a whole is deprecated, which says it all.
    """
    if not {old["kind"], new["kind"]} <= _VALUES or new["deprecation"]:
        return
    name = new["path"].rpartition(".")[2]
    for prefix, way in ((WARNS_TO["setter"], f"x.{name} = …"), (WARNS_TO["deleter"], f"del x.{name}")):
        warned = any(label.startswith(prefix) for label in old["labels"])
        messages = [label.removeprefix(prefix) for label in new["labels"] if label.startswith(prefix)]
        if messages and not warned and way in _of_value(name, old):
            text = f"{way}: {messages[0]}" if messages[0] else way
            yield Difference(ChangeKind.USE_DEPRECATED, None, text)


def _ways(row: SymbolState, other: SymbolState) -> set[str]:
    """Return the ways to use a function or value, as code shows them."""
    name, labels = row["path"].rpartition(".")[2], set(row["labels"])
    if {row["kind"], other["kind"]} <= _VALUES and SymbolKind.PROPERTY in {row["kind"], other["kind"]}:
        properties = [each for each in (row, other) if each["kind"] == SymbolKind.PROPERTY]
        if any("property" not in each["labels"] for each in properties):
            # a decorator of the library made it, which may take assignments or not
            return set()
        if row["kind"] == other["kind"]:
            return _of_value(name, row)
        attribute = row if row["kind"] == SymbolKind.ATTRIBUTE else other
        of_instances = "instance-attribute" in attribute["labels"] and "class-attribute" not in attribute["labels"]
        # an annotation alone may stand for a property, and a field of a named tuple cannot be assigned
        return set() if attribute["value"] is None or not of_instances else _of_value(name, row) - {f"del x.{name}"}
    if row["kind"] in _CALLED and row["kind"] == other["kind"]:
        if row["kind"] == SymbolKind.FUNCTION:
            return {"f()"} if ONLY_RAISES not in labels else set()
        # one that asks subclasses to define it is called all the same
        called = {"x.m()"} if REFUSES not in labels else set()
        return called | ({"C.m()"} if not _BOUND.isdisjoint(labels) else set())
    return set()


def _of_value(name: str, row: SymbolState) -> set[str]:
    """Return how a value may be used beside being read; only plain properties are known to refuse."""
    labels = set(row["labels"])
    refuses = row["kind"] == SymbolKind.PROPERTY and "cached" not in labels
    ways = {f"x.{name}"} if REFUSES not in labels else set()
    ways |= set() if refuses and "writable" not in labels else {f"x.{name} = …"}
    return ways | (set() if refuses and "deletable" not in labels else {f"del x.{name}"})


def _shows_members(row: SymbolState, other: SymbolState, rules: LifecycleRules) -> bool:
    """Return whether sources show all special methods of a class: none come from unobservable bases, or as it runs."""
    labels = [*row["labels"], *(label for label in other["labels"] if label.startswith(EXTENDS))]
    bases = {label.removeprefix(EXTENDS) for label in labels if label.startswith(EXTENDS)}
    patched = any(label == UNSEEN_MEMBERS or label.startswith(PATCHED_BY) for label in row["labels"])
    return not patched and all(standard_members(base, rules.known_bases) is not None for base in bases)


def _of_class(here: SymbolState, there: SymbolState, rules: LifecycleRules) -> set[str]:
    """Return the ways to use a class in one state that the other state lacks; those of public bases count there."""
    own, every = set(here["labels"]), _all_labels(here, rules)
    own_there, every_there = set(there["labels"]), _all_labels(there, rules)
    special = {label.removeprefix(USE) for label in own if label.startswith(USE)} - {"__hash__"}
    special_there = {label.removeprefix(USE) for label in every_there if label.startswith(USE)}
    # a special method that refuses is not that of a base
    special_there -= {label.removeprefix(REFUSED) for label in every_there if label.startswith(REFUSED)}
    instead = (*_INSTEAD.items(), *_FALLBACKS.items())
    special_there |= {method for method, others in instead if not special_there.isdisjoint(others)}
    refused = {label.removeprefix(REFUSED) for label in every if label.startswith(REFUSED)}
    refused_there = {label.removeprefix(REFUSED) for label in own_there if label.startswith(REFUSED)}
    special |= {method for method, others in _INSTEAD.items() if not special.isdisjoint(others)}
    ways = {SYNTAX[method] for method in special & SYNTAX.keys() - special_there}
    ways |= {OF_OBJECTS[method] for method in refused_there - refused if method in OF_OBJECTS}
    supported = {label.removeprefix(USE) for label in every if label.startswith(USE)} - refused
    ways |= {SYNTAX[method] for method in refused_there & supported & SYNTAX.keys()}
    refusals = {UNHASHABLE: SYNTAX["__hash__"], FROZEN: OF_OBJECTS["__setattr__"], SLOTTED: _NEW_ATTRIBUTE}
    if any(label.startswith(EXTENDS) for label in own | own_there):
        # what a class of the standard library takes decides
        del refusals[SLOTTED]
    ways |= {way for label, way in refusals.items() if label in own_there and label not in every}
    abstract = {label.removeprefix(ABSTRACT) for label in every if label.startswith(ABSTRACT)}
    abstract_there = {label.removeprefix(ABSTRACT) for label in own_there if label.startswith(ABSTRACT)}
    ways |= {"C()"} if abstract_there and not abstract else set()
    return ways | {f"subclasses without {method}" for method in abstract_there - abstract}


def _all_labels(row: SymbolState, rules: LifecycleRules) -> set[str]:
    """Return the labels of a class with those of its bases, also of the standard library."""
    labels = {label.removeprefix(INHERITED) for label in row["labels"]}
    bases = [label.removeprefix(EXTENDS) for label in row["labels"] if label.startswith(EXTENDS)]
    members = {member for base in bases for member in standard_members(base, rules.known_bases) or ()}
    return labels | {USE + member for member in members & SYNTAX.keys()}
