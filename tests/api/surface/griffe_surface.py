"""What griffe gives when it loads a release: its tree, turned into one state per path that a user can write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import griffe

Signature = tuple[tuple[str, str, str | None, str | None], ...]
"""Name, kind, default and annotation of each parameter, without self and cls."""

LOST = (griffe.AliasResolutionError, griffe.CyclicAliasError)
_VARIADIC = (griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword)
_POSITIONAL = (griffe.ParameterKind.positional_only, griffe.ParameterKind.positional_or_keyword)


@dataclass(frozen=True, slots=True)
class State:
    """What griffe says of a path; `public` by its own `is_public`, `made` is what it found there.

    `kind` is unresolved where the path leads out of the release or nowhere; then only `canonical_path` is known.
    `line` is that of what binds the name at the path, or in the class that it inherits it from.
    """

    path: str
    canonical_path: str
    kind: str
    public: bool
    made: griffe.Object | None
    line: int | None = None
    parameters: Signature = ()
    returns: str | None = None
    value: str | None = None
    bases: tuple[str, ...] = ()


def load_release(folder: Path, import_names: Iterable[str]) -> list[griffe.Module]:
    """Load the packages of an unpacked release as griffe does by itself, without running any of it.

    What griffe cannot load at all (its `__init__` does not parse) is left out.
    """
    loader = griffe.GriffeLoader(search_paths=[folder], allow_inspection=False, store_source=False)
    modules: list[griffe.Module] = []
    for name in import_names:
        try:
            module = loader.load(name, try_relative_path=False)
        except (griffe.LoadingError, ModuleNotFoundError):
            continue
        assert isinstance(module, griffe.Module)
        modules.append(module)
    loader.resolve_aliases(implicit=True, external=False)
    return modules


def module_states(path: str, module: griffe.Module) -> Iterator[State]:
    """Yield the states of a module at a path, of what it holds, and of the modules below it that are not private."""
    yield State(path, module.path, "module", True, module)
    for name, member in module.members.items():
        if isinstance(member, griffe.Module):
            if not name.startswith("_"):
                yield from module_states(f"{path}.{name}", member)
            elif member.is_exported:
                yield state_of(f"{path}.{name}", member)
        elif "/" not in name:
            # a star import that leads out of the release stays a member with the module's name, dots as slashes
            yield state_of(f"{path}.{name}", member)


def class_states(path: str, class_: griffe.Class) -> Iterator[State]:
    """Yield the states of the members of a class, inherited ones among them, at the path of the class."""
    for name, member in class_.all_members.items():
        yield state_of(f"{path}.{name}", member)


def state_of(path: str, member: griffe.Object | griffe.Alias) -> State:
    """Return the state of one member of a module or class."""
    # `__version__` and `__eq__` are public for griffe, and for us reached otherwise than by name
    public = bool(member.is_exported if member.is_special else member.is_public)
    try:
        made = member.final_target if isinstance(member, griffe.Alias) else member
    except LOST:
        assert isinstance(member, griffe.Alias)
        return State(path, _lost(member), "unresolved", public, None, _line(member))
    assert isinstance(made, griffe.Object)
    return replace(_state(path, made, public), line=_line(member))


def _line(member: griffe.Object | griffe.Alias) -> int | None:
    return member.alias_lineno if isinstance(member, griffe.Alias) else member.lineno


def _lost(alias: griffe.Alias) -> str:
    """Return the path at which the way of an alias through the release ends."""
    try:
        target = alias.modules_collection.get_member(alias.target_path)
    except (KeyError, *LOST):
        return alias.target_path
    return _lost(target) if isinstance(target, griffe.Alias) and target is not alias else alias.target_path


def _state(path: str, made: griffe.Object, public: bool) -> State:
    match made:
        case griffe.Class():
            bases = tuple(str(base) for base in made.bases)
            return State(path, made.path, "class", public, made, None, _of_class(made), bases=bases)
        case griffe.Function():
            method = isinstance(made.parent, griffe.Class) and "staticmethod" not in made.labels
            signature = _signature(made.parameters, bound=method)
            return State(path, made.path, "function", public, made, None, signature, written(made.returns))
        case griffe.Attribute():
            kind = "property" if "property" in made.labels else "attribute"
            return State(path, made.path, kind, public, made, None, (), written(made.annotation), written(made.value))
    return State(path, made.path, made.kind.value, public, made)


def _of_class(class_: griffe.Class) -> Signature:
    try:
        init = class_.all_members.get("__init__")
        made = init.final_target if isinstance(init, griffe.Alias) else init
    except LOST:
        return ()
    return _signature(made.parameters, bound=True) if isinstance(made, griffe.Function) else ()


def _signature(parameters: griffe.Parameters, *, bound: bool) -> Signature:
    told = [_parameter(parameter) for parameter in parameters]
    if bound and told and parameters[0].kind in _POSITIONAL:
        return tuple(told[1:])
    return tuple(told)


def _parameter(parameter: griffe.Parameter) -> tuple[str, str, str | None, str | None]:
    kind = (parameter.kind or griffe.ParameterKind.positional_or_keyword).name
    # griffe gives `()` and `{}` as defaults of *args and **kwargs
    default = None if parameter.kind in _VARIADIC else written(parameter.default)
    return parameter.name.lstrip("*"), kind, default, written(parameter.annotation)


def written(expression: str | griffe.Expr | None) -> str | None:
    """Return an expression as text."""
    return str(expression) if expression is not None else None
