"""What the rows of a release are made from, by name, and which of these facts two releases have otherwise.

Of a module there are its head (all that resolving names looks at but for the bindings), each binding, all of them
together, the shape of each class (its bases, and what its members are), what it says of itself, and what each
definition says; further, what is public where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, ModuleRecord
from pipeline.api.surface.parse.skeleton import binding, head, shape
from pipeline.api.surface.resolve.resolution import Resolution


def binding_fact(module: str, name: str) -> str:
    """Name the fact what a module binds to a name, in an `except` branch too."""
    return f"{module}:{name}"


def bindings_fact(module: str) -> str:
    """Name the fact what a module binds, and in which order."""
    return f"{module}:*"


def shape_fact(module: str, place: str) -> str:
    """Name the fact what the shape of the class at a dotted name in a module is, or of the one that it is nested in."""
    return f"{module}%{place.partition('.')[0]}"


def description_fact(module: str) -> str:
    """Name the fact what a module says of itself: its docstring and its mark of deprecation."""
    return f"{module}!"


def content_fact(resolution: Resolution) -> str:
    """Name the fact what the state of a definition is."""
    assert resolution.module is not None
    return f"{resolution.module.name}!{resolution.place}"


def place_fact(canonical: str) -> str:
    """Name the fact under which path a definition has its state."""
    return f"={canonical}"


def exposed_fact(path: str) -> str:
    """Name the fact which module stands at a public path."""
    return f"@{path}"


def private_fact(package: str) -> str:
    """Name the fact which private modules stand right below a package."""
    return f"{package}._*"


def changed_facts(old: Mapping[str, ModuleRecord], new: Mapping[str, ModuleRecord]) -> Iterator[str]:
    """Yield the facts about modules that two releases have otherwise; a module's name is the fact of its head."""
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if before is after:
            continue
        if before is None or after is None:
            parent, _, last = name.rpartition(".")
            if last.startswith("_"):
                yield private_fact(parent)
        yield from _changed(name, before, after)


def _changed(name: str, old: ModuleRecord | None, new: ModuleRecord | None) -> Iterator[str]:
    if old is None or new is None or old.skeleton != new.skeleton:
        yield bindings_fact(name)
        if old is None or new is None or head(old) != head(new):
            yield name
    if old is None or new is None or _description(old) != _description(new):
        yield description_fact(name)
    before, after = old.definitions if old else {}, new.definitions if new else {}
    everything = old is None or new is None or old.source != new.source
    for bound in before.keys() | after.keys():
        was, is_ = before.get(bound), after.get(bound)
        if everything or (was is not is_ and was != is_):
            if was is None or is_ is None or binding(was) != binding(is_):
                yield binding_fact(name, bound.removesuffix(ALTERNATIVE))
            if was is None or is_ is None or shape(was) != shape(is_):
                yield shape_fact(name, bound.removesuffix(ALTERNATIVE))
            yield from (f"{name}!{place}" for place in _places(bound, "", was, is_, everything=everything))


def _description(module: ModuleRecord) -> tuple[object, ...]:
    return module.file, module.docstring, module.docstring_line, module.deprecation, sorted(module.advice.items())


def _places(
    bound: str, inside: str, was: Definition | None, is_: Definition | None, *, everything: bool
) -> Iterator[str]:
    """Yield the places of definitions that differ: this one, and the members in it that do.

    A private member is nothing that a class says.
    """
    before, after = was.members if was else {}, is_.members if is_ else {}
    within = f"{inside}{bound.removesuffix(ALTERNATIVE)}."
    changed = everything
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if everything or (old is not new and old != new):
            yield from _places(name, within, old, new, everything=everything)
            changed = changed or name[0] != "_" or name.endswith("__")
    if changed or was is None or is_ is None or replace(was, members={}) != replace(is_, members={}):
        yield inside + bound
