"""A type stub beside its source, merged: the source is what runs, the stub says what it leaves open (PEP 484, 561).

Where `griffe.merge_stubs` does otherwise, the reason is that the stub is a claim about the source:

- it replaces annotations and return types that the source has, and an object of another kind by the stub's;
- it leaves out parameters that only the stub has: behind `*args, **kwargs` they are all that a caller can know of;
- it joins the annotations of overloads into unions: ours are kept as the signatures that they are;
- it replaces `__all__`: ours does so only where the source builds it in a way that cannot be read;
- it keeps all names that only the stub has: most are there for typing alone (`_T`, protocols, imports);
- it merges into the target of an import: ours does that with the stub of the module where the definition stands, and
  takes another's word only for what no source shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from pipeline.api.surface.parse.module_model import ALTERNATIVE, Definition, Exports, ModuleRecord, Parameter
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource

STUB_ONLY = "stub-only"
"""Label of what the stub declares and the source does not show."""

STUB_MEMBER = "stub-member"
"""Label of a member of a class that the stub declares and the source does not show."""

_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
_FOR_TYPING = re.compile(r"^(?:\w+\.)*(?:(?:TypeVar|ParamSpec|TypeVarTuple|NewType)\(|[A-Z]\w*\[)")
_TYPING_BASES = frozenset({"Protocol", "TypedDict"})


def merge_stub(source: ModuleRecord, stub: ModuleRecord) -> ModuleRecord:
    """Return what source and stub together say of a module; neither of them is changed.

    Names, kinds and defaults are the source's. A name that only the stub has is kept where the source binds names as
    it runs; elsewhere only if it is public and no help for typing, with the label STUB_ONLY.
    """
    merged = _merge_all(source.definitions, stub.definitions)
    dynamic = source.dynamic or source.binds_more or source.answers_any
    listed = {name for action, name in (stub.exports.parts if stub.exports else ()) if action == "add"}
    for name, only in _public(stub.definitions).items():
        if name in source.definitions and source.definitions[name].kind == "import":
            # what is imported may be compiled: then the stub alone says what it is (numpy.ndarray since 2.0)
            other = name + ALTERNATIVE
            merged.setdefault(other, msgspec.structs.replace(_labelled(only), name=other))
        elif name not in source.definitions and name not in source.lazy and source.stars:
            # a star import may bring it, and its source shows what runs (numpy.iinfo before 2.0)
            merged[name + ALTERNATIVE] = msgspec.structs.replace(_labelled(only), name=name + ALTERNATIVE)
        elif name not in source.definitions and name not in source.lazy:
            merged[name] = only if dynamic else _labelled(only)
    merged |= _private_bases(merged, stub.definitions)
    if source.stars:
        # the module that a star import names may be compiled; what the stub passes on tells what it has
        passed_on = {name: only for name, only in stub.definitions.items() if only.kind == "import" and only.passed_on}
        for name, only in passed_on.items():
            if name not in source.definitions:
                merged.setdefault(name + ALTERNATIVE, msgspec.structs.replace(only, name=name + ALTERNATIVE))
    if dynamic:
        # an import of a stub is for its own use, unless `__all__` lists it (PEP 484)
        imports = {name: only for name, only in stub.definitions.items() if only.kind == "import" and name in listed}
        merged = {**imports, **merged}
    return msgspec.structs.replace(
        source,
        definitions=merged,
        exports=_exports(source.exports, stub.exports),
        docstring=source.docstring or stub.docstring,
        docstring_line=source.docstring_line if source.docstring else stub.docstring_line,
        deprecation=source.deprecation or stub.deprecation,
        lines=stub.lines | source.lines,
    )


def _merge_all(source: Mapping[str, Definition], stub: Mapping[str, Definition]) -> dict[str, Definition]:
    return {name: _merge(own, stub[name]) if name in stub else own for name, own in source.items()}


def _exports(source: Exports | None, stub: Exports | None) -> Exports | None:
    """Return the source's `__all__`, or the stub's where the source's cannot be read."""
    unread = source is not None and not source.complete
    return stub if unread and stub is not None else source


def _public(stub: Mapping[str, Definition]) -> dict[str, Definition]:
    """Return what a stub itself defines for others: no imports, private names, nor helps for typing."""
    shapes = set(_TYPING_BASES)
    for only in stub.values():
        # a base stands before what derives from it in most stubs
        if shapes & {base.split("[")[0].rpartition(".")[2] for base in only.bases}:
            shapes.add(only.name)
    hidden = {name for name, only in stub.items() if name in shapes or _is_alias(only) or not only.runtime}
    return {
        name: only
        for name, only in stub.items()
        if only.kind != "import" and not name.startswith("_") and name not in hidden
    }


def _private_bases(merged: Mapping[str, Definition], stub: Mapping[str, Definition]) -> dict[str, Definition]:
    """Return the private classes of a stub that its other classes inherit from: not there as a module runs.

    What compiled classes have in common stands in such ones: `numpy.ndarray` has most of its methods from one.
    """
    bases: dict[str, Definition] = {}
    names = {name.removesuffix(ALTERNATIVE) for name in merged}
    waiting = [only for name, only in stub.items() if name in names and only.kind == "class"]
    while waiting:
        for base in waiting.pop().bases:
            name = base.split("[")[0]
            if name.startswith("_") and name in stub and name not in merged and name not in bases:
                bases[name] = msgspec.structs.replace(_with_members(stub[name]), runtime=False)
                waiting.append(stub[name])
    return bases


def _is_alias(only: Definition) -> bool:
    """Return whether a name of a stub is a type variable or an alias of a type."""
    named = (only.returns or "").rpartition(".")[2] == "TypeAlias"
    return only.kind == "attribute" and (named or bool(_FOR_TYPING.match(only.value or "")))


def _labelled(only: Definition) -> Definition:
    """Return a definition that only the stub has, with its label; members of a class have another one."""
    return msgspec.structs.replace(_with_members(only), labels=sorted({*only.labels, STUB_ONLY}))


def _with_members(class_: Definition) -> Definition:
    """Return a class of a stub whose members have the label that the stub alone shows them."""
    members = {
        name: msgspec.structs.replace(member, labels=sorted({*member.labels, STUB_MEMBER}))
        for name, member in class_.members.items()
    }
    return msgspec.structs.replace(class_, members=members) if members else class_


def _merge(own: Definition, stub: Definition) -> Definition:
    """Return a definition with what the stub's of that name adds; an import leads to where it is told."""
    if own.kind == "import" or stub.kind == "import":
        return own
    shared = {
        "deprecation": own.deprecation or stub.deprecation,
        "docstring": own.docstring or stub.docstring,
    }
    if own.kind == stub.kind == "class":
        only = {name: _labelled(m) for name, m in _public(stub.members).items() if name not in own.members}
        members = {**_merge_all(own.members, stub.members), **only}
        return msgspec.structs.replace(own, members=members, **shared)
    if own.kind == stub.kind == "function":
        return msgspec.structs.replace(own, **_signature(own, stub), **shared)
    if {own.kind, stub.kind} <= {"attribute", "property"}:
        return msgspec.structs.replace(own, returns=own.returns or stub.returns, **shared)
    return msgspec.structs.replace(own, **shared)


def _signature(own: Definition, stub: Definition) -> dict[str, object]:
    """Return parameters, return type and overloads of a function; of overloads none speaks for all."""
    overloads = own.overloads or stub.overloads
    if stub.overloads:
        return {"overloads": overloads}
    annotations = {p["name"]: p["annotation"] for p in stub.called}
    called = [p | {"annotation": p["annotation"] or annotations.get(p["name"])} for p in own.called]
    names = {p["name"] for p in called}
    return {
        "called": _with(called, [p for p in stub.called if p["name"] not in names]),
        "returns": own.returns or stub.returns,
        "overloads": overloads,
    }


def _with(called: Sequence[Parameter], only: Sequence[Parameter]) -> list[Parameter]:
    """Return parameters with those that only the stub has, as far as `*args` and `**kwargs` take them."""
    kinds = {p["kind"] for p in called}
    takes_places, takes_names = (kind in kinds for kind in _VARIADIC)
    places: list[Parameter] = []
    names: list[Parameter] = []
    for parameter in only:
        # PEP 484 writes positional-only parameters as `__x`, whatever their name is
        if parameter["kind"] in _VARIADIC or parameter["name"].startswith("__"):
            continue
        typed = parameter | {"known_from": ParameterSource.STUB}
        if parameter["kind"] in _POSITIONAL and takes_places:
            kind = parameter["kind"] if takes_names else ParameterKind.POSITIONAL_ONLY
            places.append(typed | {"kind": kind})
        elif takes_names:
            names.append(typed | {"kind": ParameterKind.KEYWORD_ONLY})
    start = sum(p["kind"] in _POSITIONAL for p in called)
    end = len(called) - takes_names
    return [*called[:start], *places, *called[start:end], *names, *called[end:]]
