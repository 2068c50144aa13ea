"""Names across the modules of one distribution: what a dotted path leads to, `__all__`, star imports, inheritance."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.surface.records import ALTERNATIVE, Definition, ModuleRecord
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.trace import Trace, Traced

_DOTTED = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a name leads: a module, a definition in it, or out of the distribution.

    `what` is module, definition, outside (another distribution or the standard library) or missing (inside this
    one, but no source shows it: compiled, not parsed, or made when it runs).
    """

    what: str
    path: str
    module: ModuleRecord | None = None
    definition: Definition | None = None


def _below(package: str) -> str:
    return f"{package}._*"


class Distribution:
    """The modules of one release, by dotted name; answers what names lead to."""

    def __init__(self, modules: Mapping[str, ModuleRecord], rules: SurfaceRules, trace: Trace | None = None) -> None:
        self.trace = trace or Trace()
        self.modules: Mapping[str, ModuleRecord] = Traced(modules, self.trace)
        self.rules = rules
        self.tops = frozenset(name.split(".")[0] for name in modules)
        self.unparsed = sorted(name for name, module in modules.items() if module.problem is not None)
        self._private: dict[str, set[str]] = {}
        for name in modules:
            parent, _, last = name.rpartition(".")
            if last.startswith("_"):
                self._private.setdefault(parent, set()).add(last)
        self._stars: dict[str, tuple[list[str], set[str]]] = {}
        self._found: dict[tuple[str, str], tuple[Found, set[str]]] = {}
        self._exports: dict[str, tuple[tuple[list[str], bool] | None, set[str]]] = {}

    def standard(self, path: str) -> bool:
        """Return whether a path belongs to the standard library, or to what stands in for it."""
        top = path.split(".")[0]
        return top in sys.stdlib_module_names or top in self.rules.like_standard_library

    @property
    def facts(self) -> dict[str, Any]:
        """What of the set of modules itself is asked for: which private ones stand below which package."""
        return {_below(package): frozenset(names) for package, names in self._private.items()}

    def private_parts(self, module: str) -> set[str]:
        """Return the names of the private modules right below a package."""
        self.trace.ask(_below(module))
        return self._private.get(module, set())

    def lists_all(self, module: ModuleRecord) -> bool:
        """Return whether a module has an `__all__` of which every part was understood."""
        exports = self.exports(module)
        return exports is not None and exports[1]

    def follow(self, path: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what an absolute dotted path leads to, through any number of imports."""
        if path.split(".")[0] not in self.tops:
            return Found("outside", path)
        if path in seen:
            # `from pkg import part` in pkg itself: the name leads back to itself, and is the submodule
            return Found("module", path, self.modules[path]) if path in self.modules else Found("missing", path)
        segments = path.split(".")
        # `from a.b import c` first looks for a name c in a.b, then for a module a.b.c
        start = next((n for n in range(len(segments) - 1, 0, -1) if ".".join(segments[:n]) in self.modules), 0)
        if start == 0:
            return Found("module", path, self.modules[path]) if path in self.modules else Found("missing", path)
        here = Found("module", ".".join(segments[:start]), self.modules[".".join(segments[:start])])
        for segment in segments[start:]:
            here = self._step(here, segment, seen | {path})
        return here

    def _step(self, here: Found, name: str, seen: frozenset[str]) -> Found:
        if here.what == "module" and here.module:
            return self.lookup(here.module, name, seen)
        if here.definition and here.definition.kind == "class" and here.module:
            for owner in self.ancestry(here):
                if owner.definition and name in owner.definition.members:
                    return Found("definition", f"{owner.path}.{name}", owner.module, owner.definition.members[name])
        return Found("outside" if here.what == "outside" else "missing", f"{here.path}.{name}")

    def lookup(self, module: ModuleRecord, name: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what a name means in a module: defined, imported, star-imported, or a submodule."""
        if seen:
            return self._lookup(module, name, seen)
        key = module.name, name
        if key not in self._found:
            with self.trace.noting() as asked:
                found = self._lookup(module, name, seen)
            self._found[key] = found, asked
        found, asked = self._found[key]
        self.trace.ask_all(asked)
        return found

    def _lookup(self, module: ModuleRecord, name: str, seen: frozenset[str]) -> Found:
        self.trace.ask(module.name)
        if name in module.definitions:
            found = self._bound(module, name, seen)
            if found.what != "missing" or name + ALTERNATIVE not in module.definitions:
                return found
            return self._bound(module, name + ALTERNATIVE, seen)
        for star in reversed(module.stars):
            # a module is also what a name may lead to: as a star it is noted by another name
            if f"{star}.*" not in seen and name in self.star_names(star):
                return self.follow(f"{star}.{name}", seen | {f"{star}.*"})
        submodule = f"{module.name}.{name}"
        if module.is_package and submodule in self.modules:
            return Found("module", submodule, self.modules[submodule])
        if name + ALTERNATIVE in module.definitions:
            return self._bound(module, name + ALTERNATIVE, seen)
        return Found("missing", submodule)

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
        order = list(module.definitions)
        return order.index(part) > order.index(definition.name)

    def _assigned(self, module: ModuleRecord, definition: Definition, seen: frozenset[str]) -> Found | None:
        """Return the class or function that `name = other` gives a second name, if it is one."""
        if not definition.value or not _DOTTED.match(definition.value) or definition.returns:
            return None
        found = self.within(module, definition.value, seen)
        shared = found.definition is not None and found.definition.kind in {"class", "function"}
        return found if shared else None

    def within(self, module: ModuleRecord, dotted: str, seen: frozenset[str] = frozenset()) -> Found:
        """Return what a dotted name means, written inside a module."""
        first, _, rest = dotted.partition(".")
        if first not in module.definitions and not module.stars and f"{module.name}.{first}" not in self.modules:
            return Found("outside", dotted)
        if f"{module.name}.{first}" in seen:
            return Found("missing", dotted)
        here = self.lookup(module, first, seen)
        for segment in rest.split(".") if rest else ():
            if here.what == "module":
                here = self.follow(f"{here.path}.{segment}", seen)
            else:
                here = self._step(here, segment, seen)
        if here.what == "missing" and first not in module.definitions:
            return Found("outside", dotted)
        return here

    def binds(self, module: ModuleRecord, name: str) -> bool:
        """Return whether a module has a name that its `__all__` lists, or may have it without our seeing it."""
        if {name, name + ALTERNATIVE} & module.definitions.keys() or name in module.lazy or module.dynamic:
            return True
        unseen = any(self._brings_unseen(star) for star in module.stars)
        return unseen or self.lookup(module, name).what != "missing"

    def _brings_unseen(self, star: str) -> bool:
        """Return whether a star import may bring names that we do not see: not where `__all__` says which."""
        record = self.modules.get(star)
        return record is None or (record.dynamic and not self.lists_all(record))

    def star_names(self, module: str, seen: frozenset[str] = frozenset()) -> list[str]:
        """Return the names that `from module import *` binds: its `__all__`, else those without underscore."""
        if module in seen:
            return []
        if seen:
            return self._star_names(module, seen)
        if module not in self._stars:
            with self.trace.noting() as asked:
                names = self._star_names(module, seen)
            self._stars[module] = names, asked
        names, asked = self._stars[module]
        self.trace.ask_all(asked)
        return names

    def _star_names(self, module: str, seen: frozenset[str]) -> list[str]:
        record = self.modules.get(module)
        if record is None:
            return []
        exports = self.exports(record)
        if exports is not None and exports[1]:
            return exports[0]
        # a module that lists what it offers lists its own: an `__all__` that is made as it runs is of definitions
        own_only = exports is not None and not record.is_package
        names = [
            name
            for name, definition in record.definitions.items()
            if definition.runtime and ALTERNATIVE not in name and not (own_only and definition.kind == "import")
        ]
        names.extend(record.parts)
        for star in record.stars:
            names.extend(self.star_names(star, seen | {module}))
        listed = exports[0] if exports is not None else []
        return list(dict.fromkeys([*listed, *(n for n in names if not n.startswith("_"))]))

    def exports(self, record: ModuleRecord) -> tuple[list[str], bool] | None:
        """Return the names of a module's `__all__` and whether all of it was understood; None without one."""
        if record.name not in self._exports:
            self._exports[record.name] = None, set()
            with self.trace.noting() as asked:
                read = self._read_exports(record)
            self._exports[record.name] = read, asked
        read, asked = self._exports[record.name]
        self.trace.ask_all(asked)
        return read

    def _read_exports(self, record: ModuleRecord) -> tuple[list[str], bool] | None:
        if record.exports is None:
            return None
        names: list[str] = []
        complete = record.exports.complete
        for action, value in record.exports.parts:
            if action == "add":
                names.append(value)
            elif action == "remove":
                names = [name for name in names if name != value]
            else:
                other = self._exports_of(record, value)
                names.extend(other or [])
                complete = complete and other is not None
        return list(dict.fromkeys(names)), complete

    def _exports_of(self, record: ModuleRecord, dotted: str) -> list[str] | None:
        imported = record.definitions.get(dotted)
        if imported is not None and (imported.target or "").endswith(".__all__"):
            found = self.follow((imported.target or "").removesuffix(".__all__"))
        else:
            found = self.within(record, dotted)
        if found.what != "module" or found.module is None:
            return None
        exports = self.exports(found.module)
        return exports[0] if exports and exports[1] else None

    def ancestry(self, class_: Found) -> list[Found]:
        """Return a class and its bases inside the distribution, in the order in which members are looked up."""
        order: list[Found] = []
        for found in self._depth_first(class_, frozenset()):
            if any(other.path == found.path for other in order):
                # the last place counts: a shared base comes after all that derive from it
                order = [other for other in order if other.path != found.path]
            order.append(found)
        return order

    def _depth_first(self, class_: Found, seen: frozenset[str]) -> Iterator[Found]:
        yield class_
        for base in self.bases(class_):
            if base.definition and base.definition.kind == "class" and base.path not in seen:
                yield from self._depth_first(base, seen | {class_.path})

    def bases(self, class_: Found) -> list[Found]:
        """Return what the bases of a class lead to; one that is no dotted name is missing."""
        if class_.definition is None or class_.module is None:
            return []
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
