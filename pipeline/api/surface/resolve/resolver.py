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
from pipeline.api.surface.resolve.dependency_keys import binding_fact, bindings_fact, private_fact, shape_fact
from pipeline.api.surface.resolve.resolution import Resolution, in_order
from pipeline.api.surface.resolve.resolution_cache import Exports, Names, ResolutionCache
from pipeline.api.surface.resolve.trace import Memory, Traced

Value = TypeVar("Value")

_DOTTED = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


def _knows_better(stub: Definition, resolution: Resolution) -> bool:
    """Return whether a stub says of what is made as it runs, `generic = types['generic']`, that it is a class."""
    is_attribute = resolution.definition is not None and resolution.definition.kind == "attribute"
    return is_attribute and stub.kind == "class" and STUB_ONLY in stub.labels


def own_name(bound: str, definition: Definition, module: ModuleRecord) -> str | None:
    """Return the name under which a module has a binding; None for one of an `except` branch, which may not be there.

    What only the stub has, where a star import may bring it, is there in either case.
    """
    if ALTERNATIVE not in bound:
        return bound
    name = bound.removesuffix(ALTERNATIVE)
    is_import = definition.kind == "import" or name in module.definitions
    return name if STUB_ONLY in definition.labels and not is_import else None


def deprecators(modules: Mapping[str, ModuleRecord]) -> frozenset[str]:
    """Return the names of the decorators of a release that deprecate what they decorate."""
    return frozenset(name for module in modules.values() for name in module.deprecators)


class Distribution:
    """The modules of one release, by dotted name; answers what names lead to."""

    def __init__(
        self, modules: Mapping[str, ModuleRecord], rules: SurfaceRules, cache: ResolutionCache | None = None
    ) -> None:
        self.cache = cache or ResolutionCache()
        self.trace = self.cache.trace
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
        self._untraced = modules
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

    def follow(self, path: str, visited: frozenset[str] = frozenset()) -> Resolution:
        """Return what an absolute dotted path leads to, through any number of imports."""
        if not self.roots.reach(path):
            return Resolution("outside", path)
        if path in visited:
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
        here = Resolution("module", package, self._untraced[package])
        visited = visited | {path}
        for name in reversed(names):
            here = self._step(here, name, visited)
        return here

    def _module(self, path: str) -> Resolution:
        module = self.modules.get(path)
        return Resolution("missing", path) if module is None else Resolution("module", path, module)

    def _step(self, here: Resolution, name: str, visited: frozenset[str]) -> Resolution:
        if here.kind == "module" and here.module:
            return self.lookup(here.module, name, visited)
        if here.is_class:
            for owner in self.ancestry(here):
                if owner.definition and name in owner.definition.members:
                    return Resolution(
                        "definition", f"{owner.path}.{name}", owner.module, owner.definition.members[name]
                    )
        return Resolution("outside" if here.kind == "outside" else "missing", f"{here.path}.{name}")

    def lookup(self, module: ModuleRecord, name: str, visited: frozenset[str] = frozenset()) -> Resolution:
        """Return what a name means in a module: defined, imported, star-imported, or a submodule."""
        if visited:
            return self._lookup(module, name, visited)
        key = module.name, name
        return self._answer(self.cache.resolution, key, lambda: self._lookup(module, name, visited), self._renewed)

    def _renewed(self, resolution: Resolution) -> Resolution:
        return resolution.renewed(self._untraced)

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

    def _lookup(self, module: ModuleRecord, name: str, visited: frozenset[str]) -> Resolution:
        self.trace.ask(module.name)
        self.trace.ask(binding_fact(module.name, name))
        if name in module.definitions:
            resolution = self._bound(module, name, visited)
            other = module.definitions.get(name + ALTERNATIVE)
            if other is None or (resolution.kind != "missing" and not _knows_better(other, resolution)):
                return resolution
            return self._bound(module, name + ALTERNATIVE, visited)
        missing: Resolution | None = None
        for star in reversed(module.stars):
            # a module is also what a name may lead to: as a star it is noted by another name
            if visited.isdisjoint({f"{star}.*", f"{star}.{name}"}) and name in self.brought(module, star):
                resolution = self.follow(f"{star}.{name}", visited | {f"{star}.*"})
                other = module.definitions.get(name + ALTERNATIVE)
                if other is not None and _knows_better(other, resolution):
                    return self._bound(module, name + ALTERNATIVE, visited)
                if resolution.kind != "missing":
                    return resolution
                # it may have the name from here, as submodules do that import from their package
                missing = missing or resolution
        submodule = f"{module.name}.{name}"
        if module.is_package and submodule in self.modules:
            return Resolution("module", submodule, self.modules[submodule])
        if name + ALTERNATIVE in module.definitions:
            return self._bound(module, name + ALTERNATIVE, visited)
        return missing or Resolution("missing", submodule)

    def _bound(self, module: ModuleRecord, name: str, visited: frozenset[str]) -> Resolution:
        definition = module.definitions[name]
        if definition.kind == "import":
            if self._still_part(module, definition):
                return Resolution("module", definition.target or "", self.modules[definition.target or ""])
            return self.follow(definition.target or "", visited | {f"{module.name}.{name}"})
        path = f"{module.name}.{name.removesuffix(ALTERNATIVE)}"
        if definition.kind == "attribute" and (other := self._assigned(module, definition, visited | {path})):
            return other
        return Resolution("definition", path, module, definition)

    def twin(self, module: ModuleRecord, name: str) -> Resolution | None:
        """Return the definition that an `except ImportError` binds instead of a compiled one, wherever a name is from.

        Packages with a compiled part ship it in Python too: `from ._speedups import f`, else `from ._native import f`.
        """
        visited: set[tuple[str, str]] = set()
        while (module.name, name) not in visited:
            visited.add((module.name, name))
            self.trace.ask(module.name)
            self.trace.ask(binding_fact(module.name, name))
            definition = module.definitions.get(name)
            if definition is None or definition.kind != "import":
                return None
            if name + ALTERNATIVE in module.definitions:
                return self._bound(module, name + ALTERNATIVE, frozenset({f"{module.name}.{name}"}))
            package, _, name = (definition.target or "").rpartition(".")
            imported = self.modules.get(package)
            if imported is None:
                return None
            module = imported
        return None

    def _still_part(self, module: ModuleRecord, definition: Definition) -> bool:
        """Return whether `from . import part as other` stands above what binds `part` to something else."""
        package, _, part = (definition.target or "").rpartition(".")
        if package != module.name or part not in module.definitions or definition.target not in self.modules:
            return False
        self.trace.ask(bindings_fact(module.name))
        order = list(module.definitions)
        return order.index(part) > order.index(definition.name)

    def _assigned(self, module: ModuleRecord, definition: Definition, visited: frozenset[str]) -> Resolution | None:
        """Return the class, function or module that `name = other` gives a second name, if it is one."""
        if not definition.value or not _DOTTED.match(definition.value) or definition.returns:
            return None
        resolution = self.within(module, definition.value, visited)
        shared = resolution.definition is not None and resolution.definition.kind in {"class", "function"}
        return resolution if shared or resolution.kind == "module" else None

    def within(self, module: ModuleRecord, dotted: str, visited: frozenset[str] = frozenset()) -> Resolution:
        """Return what a dotted name means, written inside a module."""
        first, _, rest = dotted.partition(".")
        self.trace.ask(module.name)
        self.trace.ask(binding_fact(module.name, first))
        if first not in module.definitions and not module.stars and f"{module.name}.{first}" not in self.modules:
            return Resolution("outside", dotted)
        if f"{module.name}.{first}" in visited:
            return Resolution("missing", dotted)
        here = self.lookup(module, first, visited)
        for segment in rest.split(".") if rest else ():
            if here.kind in {"module", "outside"}:
                # what is outside may be a namespace package around this very distribution
                here = self.follow(f"{here.path}.{segment}", visited)
            else:
                here = self._step(here, segment, visited)
        if here.kind == "missing" and first not in module.definitions:
            return Resolution("outside", dotted)
        return here

    def star_names(self, module: str, visited: frozenset[str] = frozenset()) -> Names:
        """Return the names that `from module import *` binds: its `__all__`, else those without underscore."""
        if module in visited:
            return {}
        if visited:
            return self._star_names(module, visited)
        return self._answer(self.cache.stars, module, lambda: self._star_names(module, visited))

    def brought(self, module: ModuleRecord, star: str, visited: frozenset[str] = frozenset()) -> Names:
        """Return the names that a module has of one of its star imports: all but those that it deletes after it."""
        names = self.star_names(star, visited)
        return {name: None for name in names if name not in module.deleted} if module.deleted else names

    def _star_names(self, module: str, visited: frozenset[str]) -> Names:
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
            for bound, definition in record.definitions.items()
            if (name := own_name(bound, definition, record)) is not None
            and definition.runtime
            and not (own_only and definition.kind == "import")
        ]
        names.extend(record.parts)
        for star in record.stars:
            names.extend(self.brought(record, star, visited | {module}))
        listed = exports.names if exports is not None else []
        return dict.fromkeys([*listed, *(n for n in names if not n.startswith("_"))])

    def exports(self, record: ModuleRecord) -> Exports | None:
        """Return the names of a module's `__all__` and whether all of it was understood; None without one."""
        if record.name in self._reading:
            self._circles += 1
            return None
        return self._answer(self.cache.exports, record.name, lambda: self._exports(record))

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
            resolution = self.follow((imported.target or "").removesuffix(".__all__"))
        else:
            resolution = self.within(record, dotted)
        if resolution.kind != "module" or resolution.module is None:
            return None
        exports = self.exports(resolution.module)
        if exports is None or exports.possible is not None:
            return exports
        return exports._replace(possible=list(self.star_names(resolution.module.name)))

    def ancestry(self, class_: Resolution) -> list[Resolution]:
        """Return a class and its bases inside the distribution, in the order in which members are looked up."""
        return [resolution for resolution in in_order(class_, self.bases) if resolution.is_class]

    def bases(self, class_: Resolution) -> list[Resolution]:
        """Return what the bases of a class lead to; one that is no dotted name is missing."""
        if class_.definition is None or class_.module is None:
            return []
        self.trace.ask(shape_fact(class_.module.name, class_.path[len(class_.module.name) + 1 :]))
        resolutions = []
        for base in class_.definition.bases:
            plain = base.split("[")[0]
            match = _DOTTED.match(plain)
            resolutions.append(self._base(class_, plain) if match else Resolution("missing", base))
        return resolutions

    def _base(self, class_: Resolution, name: str) -> Resolution:
        assert class_.module is not None
        parent = class_.path.rpartition(".")[0]
        if parent != class_.module.name and "." not in name:
            # a nested class may derive from its sibling
            sibling = self.follow(f"{parent}.{name}")
            if sibling.kind == "definition":
                return sibling
        return self.within(class_.module, name, frozenset({class_.path}))
