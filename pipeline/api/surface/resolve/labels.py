"""Labels of what the sources of a release do not show: where it may have names that have no row."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence

from pipeline.api.surface.extract.uses import ABSTRACT, FROZEN, INHERITED, REFUSED, SLOTTED, UNHASHABLE, USE
from pipeline.api.surface.parse.module_model import (
    BY_METACLASS,
    INSTEAD,
    PATCHED_BY,
    UNSEEN_MEMBERS,
    Definition,
    ModuleRecord,
)
from pipeline.api.surface.resolve.public import names_by_maker
from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.resolver import Distribution

OPAQUE = "opaque"
"""Label of a name that is there, but whose definition no source shows."""

DYNAMIC = "dynamic"
"""Label of a class that answers names in its `__getattr__`, or in that of its metaclass, and of a module that answers
names and does not tell which."""

UNPARSED = "unparsed"
"""Label of a module whose file does not parse: nothing is known of what is below it."""

UNPARSED_MODULE = "unparsed:"
"""Prefix of the labels of a top module that name each module, private ones too, whose file does not parse."""

EXTENDS = "extends:"
"""Prefix of the label that names a base from outside, whose members a class has without our seeing them."""

STARS = "stars:"
"""Prefix of labels of a module that name modules whose unobservable names it has: by star imports, or as it runs."""

_ANSWER = frozenset({"__getattr__", "__getattribute__"})


def class_labels(owners: Sequence[Resolution], distribution: Distribution) -> Iterator[str]:
    """Yield labels of what gives a class, the first of the owners, members that are not among its rows."""
    for owner in owners:
        metaclass = _metaclass(owner, distribution)
        if _answers(owner) or any(map(_answers, metaclass)):
            yield DYNAMIC
        for above in metaclass:
            yield from (
                BY_METACLASS + name for name in (above.definition.members if above.definition else ()) if name[0] != "_"
            )
        if owner.definition and UNSEEN_MEMBERS in owner.definition.labels:
            # what a base is given in a loop as a rule stays: scipy's sparse classes have much else that comes and goes
            yield UNSEEN_MEMBERS if owner.path == owners[0].path else DYNAMIC
        if owner.definition:
            yield from (label for label in owner.definition.labels if label.startswith(PATCHED_BY))
        for base in distribution.bases(owner):
            plain = base.path.rpartition(".")[2] in distribution.rules.plain_bases
            # an attribute stands for a class that something else made
            if not base.is_class and not plain:
                yield EXTENDS + _written_in(owner.module, base.path, distribution)


def use_labels(owners: Sequence[Resolution], is_public: Callable[[str], bool]) -> list[str]:
    """Return labels of what a class, the first of the owners, supports by itself and by its bases.

    What a public base has, it says itself: there such labels have the prefix INHERITED.
    """
    labels: dict[str, str] = {}
    definitions = [(owner, owner.definition) for owner in owners if owner.definition]
    is_abstract = any(_is_abstract_base(definition) for _, definition in definitions)
    decided: set[str] = set()
    for owner, definition in definitions:
        prefix = "" if owner.path == owners[0].path or not is_public(owner.path) else INHERITED
        own = [
            label for label in definition.labels if label in {FROZEN, UNHASHABLE} or label.startswith((USE, REFUSED))
        ]
        # the first class that defines a special method decides whether it refuses
        own = [label for label in own if _opposite(label) not in labels]
        if not {UNHASHABLE, USE + "__hash__"}.isdisjoint(labels):
            # the first class that says whether it can be hashed decides
            own = [label for label in own if label not in {UNHASHABLE, USE + "__hash__"}]
        for name, member in definition.members.items() if is_abstract else ():
            # as the first that has a method does; most private methods are not read
            if name[0] != "_" and name not in decided:
                decided.add(name)
                own += [ABSTRACT + name] if "abstractmethod" in member.labels else []
        for label in own:
            labels.setdefault(label, prefix)
    if all(SLOTTED in definition.labels for _, definition in definitions):
        labels[SLOTTED] = ""
    return [prefix + label for label, prefix in labels.items()]


def _opposite(label: str) -> str:
    """Return the label that says of a special method that it is supported where this one says that it refuses."""
    if label.startswith(USE):
        return REFUSED + label.removeprefix(USE)
    return USE + label.removeprefix(REFUSED) if label.startswith(REFUSED) else label


def _is_abstract_base(definition: Definition) -> bool:
    """Return whether a class refuses instances as long as a method is abstract (PEP 3119)."""
    named = [definition.metaclass or "", *definition.bases]
    return any(name.rpartition(".")[2] in {"ABC", "ABCMeta"} for name in named)


def _answers(class_: Resolution) -> bool:
    return class_.definition is not None and not _ANSWER.isdisjoint(class_.definition.members)


def _metaclass(class_: Resolution, distribution: Distribution) -> list[Resolution]:
    """Return the metaclass that a class names and the bases of that, as far as they are of this distribution."""
    if class_.definition is None or class_.module is None or class_.definition.metaclass is None:
        return []
    metaclass = distribution.within(class_.module, class_.definition.metaclass)
    return distribution.ancestry(metaclass) if metaclass.is_class else []


def _written_in(module: ModuleRecord | None, base: str, distribution: Distribution) -> str:
    """Return the path of a base, below the unobservable module that it is star-imported from where there is one."""
    complete = "." in base or hasattr(builtins, base)
    stars = [] if module is None or complete else unobservable_stars(module, distribution)
    return f"{stars[0]}.{base}" if stars else base


def module_labels(module: ModuleRecord, distribution: Distribution, *, top: bool) -> list[str]:
    """Return the labels of a module; `top` if no public module is above it."""
    labels = {STARS + star for star in unobservable_stars(module, distribution)}
    labels |= {f"{INSTEAD}{name}={other}" for name, other in _advice(module, distribution).items()}
    if module.answers_any and names_by_maker(module, distribution) is None:
        labels.add(DYNAMIC)
    if module.binds_more:
        labels.add(STARS + module.name)
    if module.problem is not None:
        labels.add(UNPARSED)
    if top:
        labels |= {UNPARSED_MODULE + name for name in distribution.unparsed}
    return sorted(labels)


def _advice(module: ModuleRecord, distribution: Distribution) -> dict[str, str]:
    """Return what a module, or one that it imports a mapping from, says to use instead of names that it lacks."""
    advice = dict(module.advice)
    for definition in module.definitions.values():
        place, _, mapping = (definition.target or "").rpartition(".")
        # a mapping is named in capitals or with underscores; most imports are none
        if place and (mapping.startswith("_") or mapping.isupper()) and (record := distribution.modules.get(place)):
            advice = record.advice | advice
    return {name: other for name, other in advice.items() if name not in module.definitions}


def unobservable_stars(module: ModuleRecord, distribution: Distribution) -> list[str]:
    """Return the modules whose unobservable names a module star-imports, itself or through others.

    They are compiled, do not parse, are out of scope or of another distribution, or bind names as they run.
    """
    stars: set[str] = set()
    distribution.trace.ask(module.name)
    waiting, visited = [module], {module.name}
    while waiting:
        for star in waiting.pop().stars:
            record = distribution.modules.get(star)
            if record is None or record.binds_more or record.problem is not None:
                stars |= set() if distribution.standard(star) else {star}
            if record is not None and star not in visited and not distribution.lists_all(record):
                visited.add(star)
                waiting.append(record)
    return sorted(stars)
