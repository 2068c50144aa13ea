"""Names across the modules of one distribution: what a dotted path leads to, `__all__`, star imports, inheritance."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from pipeline.api.surface.extract.stubs import STUB_ONLY
from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, ModuleRecord
from pipeline.api.surface.parse.roots import Roots
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.api.surface.resolve.ancestry import in_order
from pipeline.api.surface.resolve.dependency_keys import binding_fact, bindings_fact, private_fact, shape_fact
from pipeline.api.surface.resolve.resolution import Found
from pipeline.api.surface.resolve.resolution_cache import Answers, Exports, Names
from pipeline.api.surface.resolve.trace import Memory, Traced

Value = TypeVar("Value")

_DOTTED = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


def _knows_better(stub: Definition, found: Found) -> bool:
    """Return whether a stub says of what is made as it runs, `generic = types['generic']`, that it is a class."""
    made = found.definition is not None and found.definition.kind == "attribute"
    return made and stub.kind == "class" and STUB_ONLY in stub.labels


def deprecators(modules: Mapping[str, ModuleRecord]) -> frozenset[str]:
    """Return the names of the decorators of a release that deprecate what they decorate."""
    return frozenset(name for module in modules.values() for name in module.deprecators)


class Distribution:
    """The modules of one release, by dotted name; answers what names lead to."""

    def __init__(
        self, modules: Mapping[str, ModuleRecord], rules: SurfaceRules, answers: Answers | None = None
    ) -> None:
        self.answers = answers or Answers()
        self.trace = self.answers.trace
        self.modules: Mapping[str, ModuleRecord] = Traced(modules, self.trace)
        self.rules = rules
        self.roots = Roots.of(modules)
        self.deprecators = deprecators(modules)
        self.unparsed = sorted(name for name, module in modules.items() if module.problem is not None)
        self._private: dict[str, set[str]] = {}
        for name in modules:
            parent, _, last = name.rpartition(".")
            if last.startswith("_"):
                self._private.setdefault(parent, set()).add(last)
        self._known = modules
        self._reading: set[str] = set()
        self._circles = 0

    def standard(self, path: str) -> bool:
        """Return whether a path belongs to the standard library, or to what stands in for it."""
        top = path.split(".")[0]
        return top in sys.stdlib_module_names or top in self.rules.like_standard_library

    def private_parts(self, module: str) -> set[str]:
        """Return the names of the private modules right below a package."""
        self.trace.ask(private_fact(module))
        return self._private.get(module, set())

    def lists_all(self, module: ModuleRecord) -> bool:
        """Return whether a module has an `__all__` of which every part was understood."""
        exports = self.exports(module)
        return exports is not None and exports.complete

    def follow(self, path: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what an absolute dotted path leads to, through any number of imports."""
        if not self.roots.reach(path):
            return Found("outside", path)
        if path in seen:
            # `from pkg import part` in pkg itself: the name leads back to itself, and is the submodule
            return self._module(path)
        # `from a.b import c` first looks for a name c in a.b, then for a module a.b.c
        package, _, last = path.rpartition(".")
        names = [last]
        while package and package not in self.modules:
            package, _, last = package.rpartition(".")
            names.append(last)
        if not package:
            return self._module(path)
        here = Found("module", package, self._known[package])
        seen = seen | {path}
        for name in reversed(names):
            here = self._step(here, name, seen)
        return here

    def _module(self, path: str) -> Found:
        module = self.modules.get(path)
        return Found("missing", path) if module is None else Found("module", path, module)

    def _step(self, here: Found, name: str, seen: frozenset[str]) -> Found:
        if here.what == "module" and here.module:
            return self.lookup(here.module, name, seen)
        if here.is_class:
            for owner in self.ancestry(here):
                if owner.definition and name in owner.definition.members:
                    return Found("definition", f"{owner.path}.{name}", owner.module, owner.definition.members[name])
        return Found("outside" if here.what == "outside" else "missing", f"{here.path}.{name}")

    def lookup(self, module: ModuleRecord, name: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what a name means in a module: defined, imported, star-imported, or a submodule."""
        if seen:
            return self._lookup(module, name, seen)
        key = module.name, name
        return self._answer(self.answers.found, key, lambda: self._lookup(module, name, seen), self._renewed)

    def _renewed(self, found: Found) -> Found:
        return found.renewed(self._known)

    def _answer(
        self,
        memory: Memory[Value],
        key: Hashable,
        make: Callable[[], Value],
        renew: Callable[[Value], Value] | None = None,
    ) -> Value:
        """Return what is known already, or make it; what was cut short in a circle of `__all__` is not kept."""
        circles = self._circles
        value = memory.get(key, self.trace, make, renew)
        if self._circles != circles and self._reading:
            memory.drop(key)
        return value

    def _lookup(self, module: ModuleRecord, name: str, seen: frozenset[str]) -> Found:
        self.trace.ask(module.name)
        self.trace.ask(binding_fact(module.name, name))
        if name in module.definitions:
            found = self._bound(module, name, seen)
            other = module.definitions.get(name + ALTERNATIVE)
            if other is None or (found.what != "missing" and not _knows_better(other, found)):
                return found
            return self._bound(module, name + ALTERNATIVE, seen)
        unknown: Found | None = None
        for star in reversed(module.stars):
            # a module is also what a name may lead to: as a star it is noted by another name
            if seen.isdisjoint({f"{star}.*", f"{star}.{name}"}) and name in self.brought(module, star):
                found = self.follow(f"{star}.{name}", seen | {f"{star}.*"})
                if found.what != "missing":
                    return found
                # it may have the name from here, as submodules do that import from their package
                unknown = unknown or found
        submodule = f"{module.name}.{name}"
        if module.is_package and submodule in self.modules:
            return Found("module", submodule, self.modules[submodule])
        if name + ALTERNATIVE in module.definitions:
            return self._bound(module, name + ALTERNATIVE, seen)
        return unknown or Found("missing", submodule)

    def _bound(self, module: ModuleRecord, name: str, seen: frozenset[str]) -> Found:
        definition = module.definitions[name]
        if definition.kind == "import":
            if self._still_part(module, definition):
                return Found("module", definition.target or "", self.modules[definition.target or ""])
            return self.follow(definition.target or "", seen | {f"{module.name}.{name}"})
        path = f"{module.name}.{name.removesuffix(ALTERNATIVE)}"
        if definition.kind == "attribute" and (other := self._assigned(module, definition, seen | {path})):
            return other
        return Found("definition", path, module, definition)

    def _still_part(self, module: ModuleRecord, definition: Definition) -> bool:
        """Return whether `from . import part as other` stands above what binds `part` to something else."""
        package, _, part = (definition.target or "").rpartition(".")
        if package != module.name or part not in module.definitions or definition.target not in self.modules:
            return False
        self.trace.ask(bindings_fact(module.name))
        order = list(module.definitions)
        return order.index(part) > order.index(definition.name)

    def _assigned(self, module: ModuleRecord, definition: Definition, seen: frozenset[str]) -> Found | None:
        """Return the class, function or module that `name = other` gives a second name, if it is one."""
        if not definition.value or not _DOTTED.match(definition.value) or definition.returns:
            return None
        found = self.within(module, definition.value, seen)
        shared = found.definition is not None and found.definition.kind in {"class", "function"}
        return found if shared or found.what == "module" else None

    def within(self, module: ModuleRecord, dotted: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what a dotted name means, written inside a module."""
        first, _, rest = dotted.partition(".")
        self.trace.ask(module.name)
        self.trace.ask(binding_fact(module.name, first))
        if first not in module.definitions and not module.stars and f"{module.name}.{first}" not in self.modules:
            return Found("outside", dotted)
        if f"{module.name}.{first}" in seen:
            return Found("missing", dotted)
        here = self.lookup(module, first, seen)
        for segment in rest.split(".") if rest else ():
            if here.what in {"module", "outside"}:
                # what is outside may be a namespace package around this very distribution
                here = self.follow(f"{here.path}.{segment}", seen)
            else:
                here = self._step(here, segment, seen)
        if here.what == "missing" and first not in module.definitions:
            return Found("outside", dotted)
        return here

    def star_names(self, module: str, seen: frozenset[str] = frozenset()) -> Names:
        """Return the names that `from module import *` binds: its `__all__`, else those without underscore."""
        if module in seen:
            return {}
        if seen:
            return self._star_names(module, seen)
        return self._answer(self.answers.stars, module, lambda: self._star_names(module, seen))

    def brought(self, module: ModuleRecord, star: str, seen: frozenset[str] = frozenset()) -> Names:
        """Return the names that a module has of one of its star imports: all but those that it deletes after it."""
        names = self.star_names(star, seen)
        return {name: None for name in names if name not in module.deleted} if module.deleted else names

    def _star_names(self, module: str, seen: frozenset[str]) -> Names:
        record = self.modules.get(module)
        if record is None:
            return {}
        exports = self.exports(record)
        if exports is not None and exports.possible is not None:
            return dict.fromkeys([*exports.names, *exports.possible])
        self.trace.ask(bindings_fact(module))
        # a module that lists what it offers lists its own: an `__all__` that is made as it runs is of definitions
        own_only = exports is not None and not record.is_package
        names = [
            name
            for name, definition in record.definitions.items()
            if definition.runtime and ALTERNATIVE not in name and not (own_only and definition.kind == "import")
        ]
        names.extend(record.parts)
        for star in record.stars:
            names.extend(self.brought(record, star, seen | {module}))
        listed = exports.names if exports is not None else []
        return dict.fromkeys([*listed, *(n for n in names if not n.startswith("_"))])

    def exports(self, record: ModuleRecord) -> Exports | None:
        """Return the names of a module's `__all__` and whether all of it was understood; None without one."""
        if record.name in self._reading:
            self._circles += 1
            return None
        return self._answer(self.answers.exports, record.name, lambda: self._exports(record))

    def _exports(self, record: ModuleRecord) -> Exports | None:
        self.trace.ask(record.name)
        self._reading.add(record.name)
        try:
            return self._read_exports(record)
        finally:
            self._reading.remove(record.name)

    def _read_exports(self, record: ModuleRecord) -> Exports | None:
        if record.exports is None:
            return None
        names: list[str] = []
        possible: list[str] | None = [] if record.exports.complete else None
        complete = record.exports.complete
        for action, value in record.exports.parts:
            if action == "add":
                names.append(value)
            elif action == "remove":
                names = [name for name in names if name != value]
            else:
                other = self._exports_of(record, value)
                names.extend(other.names if other else ())
                complete = complete and other is not None and other.complete
                if possible is not None:
                    possible = None if other is None or other.possible is None else [*possible, *other.possible]
        return Exports(list(dict.fromkeys(names)), complete, possible)

    def _exports_of(self, record: ModuleRecord, dotted: str) -> Exports | None:
        """Return the `__all__` of a module by the name that it has in another one; None without one."""
        self.trace.ask(binding_fact(record.name, dotted))
        imported = record.definitions.get(dotted)
        if imported is not None and (imported.target or "").endswith(".__all__"):
            found = self.follow((imported.target or "").removesuffix(".__all__"))
        else:
            found = self.within(record, dotted)
        if found.what != "module" or found.module is None:
            return None
        exports = self.exports(found.module)
        if exports is None or exports.possible is not None:
            return exports
        return exports._replace(possible=list(self.star_names(found.module.name)))

    def ancestry(self, class_: Found) -> list[Found]:
        """Return a class and its bases inside the distribution, in the order in which members are looked up."""
        return [found for found in in_order(class_, self.bases) if found.is_class]

    def bases(self, class_: Found) -> list[Found]:
        """Return what the bases of a class lead to; one that is no dotted name is missing."""
        if class_.definition is None or class_.module is None:
            return []
        self.trace.ask(shape_fact(class_.module.name, class_.path[len(class_.module.name) + 1 :]))
        found = []
        for base in class_.definition.bases:
            plain = base.split("[")[0]
            known = _DOTTED.match(plain)
            found.append(self._base(class_, plain) if known else Found("missing", base))
        return found

    def _base(self, class_: Found, name: str) -> Found:
        assert class_.module is not None
        parent = class_.path.rpartition(".")[0]
        if parent != class_.module.name and "." not in name:
            # a nested class may derive from its sibling
            sibling = self.follow(f"{parent}.{name}")
            if sibling.what == "definition":
                return sibling
        return self.within(class_.module, name, frozenset({class_.path}))
