"""Where a name leads, and the order in which Python looks a member up in the bases of a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

import griffe
import msgspec

from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, ModuleRecord


class Resolution(msgspec.Struct, frozen=True):
    """Where a name leads: a module, a definition in it, or out of the distribution.

    `kind` is module, definition, outside (another distribution or the standard library) or missing (inside this
    one, but no source shows it: compiled, not parsed, or made when it runs).
    """

    kind: str
    path: str
    module: ModuleRecord | None = None
    definition: Definition | None = None

    @property
    def is_class(self) -> bool:
        """Whether a class of this distribution stands there."""
        return self.definition is not None and self.definition.kind == "class"

    @property
    def place(self) -> str:
        """The dotted name of a definition inside its module."""
        assert self.module is not None
        assert self.definition is not None
        inside = self.path.removeprefix(f"{self.module.name}.").rpartition(".")[0]
        return f"{inside}.{self.definition.name}" if inside else self.definition.name

    @property
    def line(self) -> int:
        """The line in which the docstring of a definition begins."""
        assert self.module is not None
        return self.module.lines.get(self.place, 1)

    def renewed(self, modules: Mapping[str, ModuleRecord]) -> Resolution:
        """Return the same with what the definition says in the modules of this release, which bind the same names."""
        if self.module is None:
            return self
        module = modules[self.module.name]
        if module is self.module:
            return self
        definition = definition_at(module, self.place) if self.definition is not None else None
        return Resolution(self.kind, self.path, module, definition)


def definition_at(module: ModuleRecord, place: str) -> Definition | None:
    """Return the definition at a dotted name inside a module."""
    members = module.definitions
    *parents, last = place.split(".")
    for parent in parents:
        above = members.get(parent) or members.get(parent + ALTERNATIVE)
        members = above.members if above is not None else {}
    return members.get(last)


def in_order(
    class_: Resolution, bases_of: Callable[[Resolution], list[Resolution]], visited: frozenset[str] = frozenset()
) -> list[Resolution]:
    """Return a class and all that it derives from, in Python's own order.

    That is C3 ("The Python 2.3 Method Resolution Order"). Bases outside have their place in it, what they inherit from
    has none. Where the bases cannot be ordered so, one of them is not what it seems here, and a shared base comes after
    all that derive from it. A class among its own bases is left out there.
    """
    bases = [base for base in bases_of(class_) if base.path not in visited]
    above = visited | {class_.path}
    lines = [in_order(base, bases_of, above) if base.is_class else [base] for base in bases]
    if len(lines) < 2:
        return [class_, *chain(*lines)]
    places = {resolution.path: resolution for resolution in chain(*lines)}
    try:
        paths = griffe.c3linear_merge(*([resolution.path for resolution in line] for line in [*lines, bases]))
    except ValueError:
        paths = [*dict.fromkeys(resolution.path for resolution in reversed([*chain(*lines)]))][::-1]
    return [class_, *(places[path] for path in paths)]
