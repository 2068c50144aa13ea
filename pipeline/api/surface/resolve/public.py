"""Which names of a distribution are public, under which paths, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, LazyName, Mark, ModuleRecord
from pipeline.api.surface.resolve.dependency_keys import bindings_fact, content_fact
from pipeline.api.surface.resolve.resolution import Resolution
from pipeline.api.surface.resolve.resolver import Distribution, own_name
from pipeline.core.vocabularies.surface import PublicBecause, SourceKind


class PublicName(msgspec.Struct, frozen=True):
    """A public path of a module, what it leads to, and why it is public.

    `lazy` if `__getattr__` answers it with what no source shows; `mark` says that access by this path is deprecated.
    """

    path: str
    because: PublicBecause
    resolution: Resolution
    lazy: bool = False
    mark: Mark | None = None


def public_names(module: ModuleRecord, path: str, distribution: Distribution) -> list[PublicName]:
    """Return the public names of a module, in order of name.

    With `__all__` (language reference, 7.11) these are the names that it lists, by the rule for names too where a part
    of it cannot be read statically, and as `unlisted` the others that the module defines; without, see `_by_name`.
    """
    distribution.trace.ask(module.name)
    distribution.trace.ask(bindings_fact(module.name))
    exports = distribution.exports(module)
    listed = exports.names if exports else []
    names = {name: _listed(module, path, name, distribution) for name in listed if _binds(module, name, distribution)}
    if exports is None or not exports.complete:
        for public in _by_name(module, path, distribution):
            names.setdefault(public.path.rpartition(".")[2], public)
    else:
        for public in _defined(module, path, distribution, PublicBecause.UNLISTED):
            # a value of another module is there for the module's own use, as an import is
            if public.resolution.kind == "definition" and public.resolution.module is module:
                names.setdefault(public.path.rpartition(".")[2], public)
    for public in _answered(module, path, distribution):
        names[public.path.rpartition(".")[2]] = public
    return [_with_twin(names[name], module, distribution) for name in sorted(names)]


def _with_twin(public: PublicName, module: ModuleRecord, distribution: Distribution) -> PublicName:
    """Add the mark that the Python twin of a compiled definition has: stubs rarely say that something warns."""
    compiled = public.resolution
    if public.mark or compiled.definition is None or compiled.module is None or compiled.definition.deprecation:
        return public
    if compiled.module.source is not SourceKind.PYI:
        return public
    twin = distribution.twin(module, public.path.rpartition(".")[2])
    if twin is None or twin.definition is None:
        return public
    distribution.trace.ask(content_fact(twin))
    mark = twin.definition.deprecation
    return public if mark is None else msgspec.structs.replace(public, mark=mark)


def names_by_maker(module: ModuleRecord, distribution: Distribution) -> Mapping[str, LazyName] | None:
    """Return the names that the maker of a module's `__getattr__` answers; None if it has none, or one not read."""
    maker = distribution.within(module, module.getattr_maker) if module.getattr_maker else None
    if maker is None or maker.module is None or maker.definition is None:
        return None
    distribution.trace.ask(maker.module.name)
    answers = maker.module.makers.get(maker.definition.name)
    return None if answers is None else answers.get(module.name, answers.get("", {}))


def _answered_names(module: ModuleRecord, distribution: Distribution) -> Mapping[str, LazyName]:
    """Return the names that the `__getattr__` of a module answers: its own come before those of its maker."""
    of_maker = names_by_maker(module, distribution)
    if of_maker is None:
        return module.lazy
    own = {name: lazy for name, lazy in module.lazy.items() if not lazy.by_maker}
    # the module may warn of a name before it passes it on
    marked = {
        name: msgspec.structs.replace(of_maker[name], mark=lazy.mark)
        for name, lazy in module.lazy.items()
        if lazy.by_maker and lazy.mark is not None and name in of_maker
    }
    return {**of_maker, **marked, **own}


def _answered(module: ModuleRecord, path: str, distribution: Distribution) -> Iterator[PublicName]:
    """Yield the names that the `__getattr__` of a module answers: those that the module does not bind (PEP 562).

    What type checkers alone see bound tells what the answer is.
    """
    answers = _answered_names(module, distribution)
    starred = {name for star in module.stars for name in distribution.brought(module, star)} if answers else ()
    for name, lazy in answers.items():
        if name.startswith("_") or name in starred:
            continue
        because, public = PublicBecause.GETATTR, f"{path}.{name}"
        bound = module.definitions.get(name)
        if bound is None:
            resolution = (
                distribution.follow(lazy.target) if lazy.target else Resolution("outside", f"{module.name}.{name}")
            )
            if resolution.kind == "definition" or (resolution.kind == "module" and lazy.mark is None):
                yield PublicName(public, because, resolution, mark=lazy.mark)
            else:
                resolution = Resolution("missing", f"{module.name}.{name}")
                yield PublicName(public, because, resolution, lazy=True, mark=lazy.mark)
        elif not bound.runtime and lazy.mark is None:
            yield PublicName(public, because, distribution.lookup(module, name))


def _listed(module: ModuleRecord, path: str, name: str, distribution: Distribution) -> PublicName:
    resolution = distribution.lookup(module, name)
    return PublicName(f"{path}.{name}", PublicBecause.DUNDER_ALL, resolution)


def _binds(module: ModuleRecord, name: str, distribution: Distribution) -> bool:
    """Return whether a module has a name that its `__all__` lists, or may have it without our seeing it."""
    if {name, name + ALTERNATIVE} & module.definitions.keys() or module.dynamic:
        return True
    if name in _answered_names(module, distribution):
        return True
    unobservable = any(_brings_unobservable(star, distribution) for star in module.stars)
    return unobservable or distribution.lookup(module, name).kind != "missing"


def _brings_unobservable(star: str, distribution: Distribution) -> bool:
    """Return whether a star import may bring names that we do not see: not where `__all__` says which."""
    record = distribution.modules.get(star)
    return record is None or (record.dynamic and not distribution.lists_all(record))


def _by_name(module: ModuleRecord, path: str, distribution: Distribution) -> Iterator[PublicName]:
    """Yield what is public without `__all__`: what the module defines, and what a package's `__init__` imports.

    A star import from inside passes on all that it brings, in plain modules too, of other distributions' what `__all__`
    lists there; so does an import under its own name, `from x import name as name` (typing specification, "Library
    interface"), and all of a module that only imports. Of other imports from other distributions only those of a
    top-level package count.
    """
    yield from _defined(module, path, distribution, PublicBecause.NAME)
    for name, definition in _own_names(module):
        resolution = distribution.lookup(module, name)
        if definition.kind == "import" and _reexported(module, definition, resolution, distribution):
            yield PublicName(f"{path}.{name}", PublicBecause.REEXPORT, resolution)
    if module.is_package:
        yield from _unobservable_parts(module, path, distribution)
    yield from _starred(module, path, distribution)


def _defined(
    module: ModuleRecord, path: str, distribution: Distribution, because: PublicBecause
) -> Iterator[PublicName]:
    """Yield what a module defines itself under names without an underscore, but for what only serves annotations."""
    for name, definition in _own_names(module):
        if definition.kind != "import" and not _for_annotations(definition, distribution):
            yield PublicName(f"{path}.{name}", because, distribution.lookup(module, name))


def _own_names(module: ModuleRecord) -> Iterator[tuple[str, Definition]]:
    for bound, definition in module.definitions.items():
        name = own_name(bound, definition, module)
        if name is not None and not name.startswith("_") and definition.runtime:
            yield name, definition


def _for_annotations(definition: Definition, distribution: Distribution) -> bool:
    """Return whether an attribute only serves annotations: a TypeVar, an alias of a type."""
    if definition.kind != "attribute" or definition.value is None or definition.docstring:
        return False
    is_alias = (definition.returns or "").endswith("TypeAlias")
    return is_alias or bool(distribution.rules.typing_only_values.search(definition.value))


def _reexported(
    module: ModuleRecord, definition: Definition, resolution: Resolution, distribution: Distribution
) -> bool:
    if definition.passed_on:
        return True
    if definition.plain_import or not module.is_package:
        return False
    return resolution.kind != "outside" or ("." not in module.name and not distribution.standard(resolution.path))


def _unobservable_parts(module: ModuleRecord, path: str, distribution: Distribution) -> Iterator[PublicName]:
    """Yield the submodules that a package imports and no source shows: compiled ones."""
    for name in module.parts:
        resolution = distribution.lookup(module, name)
        if resolution.kind == "missing" and not name.startswith("_") and distribution.rules.in_scope(name):
            yield PublicName(f"{path}.{name}", PublicBecause.REEXPORT, resolution)


def _starred(module: ModuleRecord, path: str, distribution: Distribution) -> Iterator[PublicName]:
    for star in module.stars:
        listed = _lists(star, distribution)
        for name in distribution.brought(module, star):
            if not name.startswith("_") and name not in module.definitions:
                resolution = distribution.lookup(module, name)
                unobservable = resolution.kind == "missing" and star not in distribution.modules
                if not unobservable and (resolution.kind != "outside" or name in listed):
                    yield PublicName(f"{path}.{name}", PublicBecause.REEXPORT, resolution)


def _lists(module: str, distribution: Distribution) -> Collection[str]:
    record = distribution.modules.get(module)
    exports = distribution.exports(record) if record is not None else None
    return exports.names if exports is not None else ()


def importable_names(module: ModuleRecord, path: str, distribution: Distribution) -> Iterator[PublicName]:
    """Yield what a public module has at run time without making it public: it can be imported all the same.

    So it is with names like `__version__`, which are public only where `__all__` lists them, and with what a star
    import brings, the modules among it that the other package imported itself.
    """
    distribution.trace.ask(module.name)
    distribution.trace.ask(bindings_fact(module.name))
    resolutions = {name: distribution.lookup(module, name) for name in _bound_names(module, distribution)}
    for name, target in _passed_on(module, distribution).items():
        resolutions.setdefault(name, Resolution("module", target, distribution.modules[target]))
    for name, resolution in sorted(resolutions.items()):
        yield PublicName(f"{path}.{name}", PublicBecause.IMPORTED, resolution)


def _bound_names(module: ModuleRecord, distribution: Distribution) -> set[str]:
    names = {name.removesuffix(ALTERNATIVE) for name, bound in module.definitions.items() if bound.runtime}
    names |= {
        name for star in module.stars if star in distribution.modules for name in distribution.brought(module, star)
    }
    return (names | distribution.private_parts(module.name)) - {"__all__"}


def _passed_on(module: ModuleRecord, distribution: Distribution) -> dict[str, str]:
    """Return the modules below star-imported packages without `__all__` that those imported, by their last name.

    Whoever imports `pkg.part` binds `part` in `pkg` (language reference, 5.4.2), and a star import takes it along.
    """
    modules: dict[str, str] = {}
    waiting, visited = [module], {module.name}
    while waiting:
        for star in waiting.pop().stars:
            record = distribution.modules.get(star)
            if record is not None and star not in visited and distribution.exports(record) is None:
                visited.add(star)
                waiting.append(record)
                modules = {name: f"{star}.{name}" for name in _imported_parts(record, distribution)} | modules
    return modules


def _imported_parts(package: ModuleRecord, distribution: Distribution) -> set[str]:
    """Return the public submodules that a package's `__init__` imports something from."""
    distribution.trace.ask(bindings_fact(package.name))
    below = f"{package.name}."
    targets = [definition.target or "" for definition in package.definitions.values()]
    imported = [t.removeprefix(below).split(".")[0] for t in [*targets, *package.stars] if t.startswith(below)]
    names = {name for name in [*package.parts, *imported] if not name.startswith("_")}
    return {name for name in names if package.is_package and below + name in distribution.modules}
