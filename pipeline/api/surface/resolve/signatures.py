"""What a class or method can be called with: without self and cls, from its `__init__`, or made out of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import dropwhile

from more_itertools import first
from msgspec.structs import replace

from pipeline.api.surface.extract.fields import specified_fields
from pipeline.api.surface.extract.handed_on import CONSTRUCTORS
from pipeline.api.surface.extract.kwargs import UNKNOWN
from pipeline.api.surface.parse.conditional import CONDITIONAL
from pipeline.api.surface.parse.module_model import (
    DEFAULT_VALUE,
    NOT_TOTAL,
    SENTINEL_DEFAULT,
    Definition,
    Field,
    ModuleRecord,
    Parameter,
    PassedKwargs,
    parameter_row,
)
from pipeline.api.surface.resolve.dependency_keys import content_fact
from pipeline.api.surface.resolve.resolution import Resolution, definition_at
from pipeline.api.surface.resolve.resolver import Distribution
from pipeline.api.surface.resolve.sentinels import is_sentinel
from pipeline.core.syntax_trees import literal_eval
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SourceKind

_RUN = frozenset({SourceKind.PY, SourceKind.PY2})
_POSITIONAL = frozenset({ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD})
_BY_NAME = frozenset({ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY})
_CONSTANT = re.compile(r"(?!(?:None|True|False|Ellipsis)$)(?:[A-Za-z_]\w*\.)*(?!__)[A-Za-z_]\w*")
_UNPACKED = re.compile(r"(?:\w+\.)*Unpack\[([\w.]+)\]")
_REQUIRED = re.compile(r"(?:\w+\.)*(NotRequired|Required)\[(.*)\]")
_SPECIFIERS = re.compile(r"field_specifiers=[(\[]([^)\]]*)")
_NAMES = re.compile(r"[A-Za-z_][\w.]*")

MODEL = "pydantic"
"""Label of a class whose parameters are its annotated fields because of a base, see `model_bases` in the rules."""

TRANSFORMED = "dataclass_transform"
"""Label of a class that a decorator or base of the distribution makes like a dataclass (PEP 681)."""


def method_parameters(definition: Definition) -> list[Parameter]:
    """Return the parameters of a method as a caller sees them: without the first, unless it is static."""
    if definition.kind != "function" or "staticmethod" in definition.labels or not definition.called:
        return definition.called
    positional = definition.called[0]["kind"] in {
        ParameterKind.POSITIONAL_ONLY,
        ParameterKind.POSITIONAL_OR_KEYWORD,
    }
    return definition.called[1:] if positional else definition.called


def takes_unpacked(parameters: list[Parameter]) -> bool:
    """Return whether the parameters of a function depend on a class that its `**kwargs: Unpack[…]` names."""
    return bool(parameters) and "Unpack[" in (parameters[-1]["annotation"] or "")


def named_parameters(
    parameters: list[Parameter], resolution: Resolution, distribution: Distribution
) -> list[Parameter]:
    """Return the parameters of a function or method by the names that can be given.

    Private names of a class are mangled, and the keys that `**kwargs: Unpack[…]` stands for (PEP 692) are among them.
    """
    parameters = _mangled(parameters, resolution)
    if not parameters or parameters[-1]["kind"] != ParameterKind.VAR_KEYWORD or resolution.module is None:
        return parameters
    unpacked = _UNPACKED.fullmatch(parameters[-1]["annotation"] or "")
    if unpacked is None:
        return parameters
    names = {parameter["name"] for parameter in parameters}
    keys = _keys(distribution.within(resolution.module, unpacked[1]), distribution)
    return [*parameters[:-1], *(key for key in keys if key["name"] not in names), parameters[-1]]


def _mangled(parameters: list[Parameter], resolution: Resolution) -> list[Parameter]:
    """Return parameters by the names that they have: `__x` in a class is `_Class__x` (language reference, 6.2.1).

    In a stub it says that the parameter can be given by position only, whatever its name is (PEP 484).
    """
    if (
        not any(_is_private(p["name"]) for p in parameters)
        or resolution.module is None
        or resolution.module.source not in _RUN
    ):
        return parameters
    *_, class_, _ = ["", *resolution.path.removeprefix(resolution.module.name).split(".")]
    prefix = f"_{class_.lstrip('_')}" if class_.strip("_") else ""
    return [p | {"name": prefix + p["name"]} if _is_private(p["name"]) else p for p in parameters]


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _keys(typed: Resolution, distribution: Distribution) -> list[Parameter]:
    """Return the keys of a TypedDict as parameters; those that may be missing have a default (PEP 589, PEP 655)."""
    owners = distribution.ancestry(typed)
    for owner in owners if typed.definition else ():
        distribution.trace.ask(content_fact(owner))
    definitions = [owner.definition for owner in owners if owner.definition]
    partial = {
        field.name for definition in definitions if NOT_TOTAL in definition.labels for field in definition.fields
    }
    return [_key(key, optional=key["name"] in partial) for key in _inherited(definitions)]


def _key(field: Parameter, *, optional: bool) -> Parameter:
    written = _REQUIRED.fullmatch(field["annotation"] or "")
    key = field | {"kind": ParameterKind.KEYWORD_ONLY, "known_from": ParameterSource.UNPACKED}
    if written is not None:
        optional, key["annotation"] = written[1] == "NotRequired", written[2]
    return key | {"default": "..." if optional else None}


def class_parameters(owners: list[Resolution], distribution: Distribution) -> tuple[list[Parameter], list[str] | None]:
    """Return the parameters of a class, and its labels with that of its convention if they are made out of fields.

    They are those of the first `__init__` in the order of inheritance, or else of `__new__`; a dataclass, attrs or
    NamedTuple class (PEP 557, attrs, PEP 526) that writes no `__init__` of its own has those of its fields, and so
    have a model of pydantic and what PEP 681 makes like a dataclass. The owners are the class and its bases, in the
    order in which members are looked up.
    """
    if (signature := assigned_signature(owners)) is not None:
        return signature, None
    if convention := _convention(owners, distribution):
        return _of_model(owners, convention, distribution)
    if called := _called_by_metaclass(owners, distribution):
        return called, None
    for name in ("__init__", "__new__"):
        for owner in owners:
            assert owner.definition is not None
            constructor = owner.definition.members.get(name)
            if constructor is not None and constructor.kind == "function":
                init = Resolution("definition", f"{owner.path}.{name}", owner.module, constructor)
                own = named_parameters(method_parameters(constructor), init, distribution)
                return _with_passed_on(own, owner, constructor.passes_kwargs, owners, distribution), None
            # a named tuple makes its objects by `__new__`, which a class may write for itself
            if owner.definition.synthesised and (name == "__new__" or owner.definition.synthesised != "namedtuple"):
                return _from_fields(owners, owner)
    return [], None


def _called_by_metaclass(owners: list[Resolution], distribution: Distribution) -> list[Parameter]:
    """Return the parameters of the `__call__` of a metaclass: it runs in place of the constructor (PEP 3115).

    There are none where it has `*args` and `**kwargs` alone, which as a rule go to the constructor.
    """
    named = next((owner for owner in owners if owner.definition and owner.definition.metaclass), None)
    if named is None or named.module is None or named.definition is None:
        return []
    metaclass = distribution.within(named.module, str(named.definition.metaclass))
    for owner in distribution.ancestry(metaclass) if metaclass.is_class else ():
        distribution.trace.ask(content_fact(owner))
        call = owner.definition.members.get("__call__") if owner.definition else None
        if call is not None and call.kind == "function":
            parameters = method_parameters(call)
            return parameters if any(p["kind"] in _BY_NAME for p in parameters) else []
    return []


def assigned_signature(owners: list[Resolution]) -> list[Parameter] | None:
    """Return the parameters that a class writes as its `__signature__`, or a base before any constructor."""
    for owner in owners:
        if owner.definition is None:
            continue
        if owner.definition.signature is not None:
            return owner.definition.signature
        if owner.definition.synthesised or not CONSTRUCTORS.isdisjoint(owner.definition.members):
            return None
    return None


def constructor_of(owners: list[Resolution]) -> Resolution | None:
    """Return the first `__init__` in the order of inheritance, or else `__new__`."""
    for name in ("__init__", "__new__"):
        for owner in owners:
            member = owner.definition.members.get(name) if owner.definition else None
            if member is not None and member.kind == "function":
                return Resolution("definition", f"{owner.path}.{name}", owner.module, member)
    return None


def names_constants(parameters: Iterable[Parameter]) -> bool:
    """Return whether a default may be written as the name of a constant."""
    return any(p["default"] is not None and _CONSTANT.fullmatch(p["default"]) for p in parameters)


def default_labels(function: Resolution, distribution: Distribution) -> list[str]:
    """Return labels with the values of the defaults that a function or method writes as names of constants.

    A constant is bound to a literal by the class around the method, or by a module of the distribution. One that is
    bound to an object without content has no value to tell: that it is a sentinel is its label.
    """
    assert function.definition is not None
    labels: list[str] = []
    for parameter in function.definition.called:
        name = parameter["default"]
        located = _constant(name, function, distribution) if name is not None and _CONSTANT.fullmatch(name) else None
        if located is None:
            continue
        constant, module = located
        value = _literal_of(constant)
        if value is not None:
            labels.append(f"{DEFAULT_VALUE}{parameter['name']}={value}")
        elif is_sentinel(constant, module, distribution):
            labels.append(f"{SENTINEL_DEFAULT}{parameter['name']}")
    return sorted(labels)


def _constant(name: str, function: Resolution, distribution: Distribution) -> tuple[Definition, ModuleRecord] | None:
    """Return the attribute that a default names, and the module that binds it."""
    assert function.module is not None
    inside = function.path.removeprefix(f"{function.module.name}.").rpartition(".")[0]
    class_ = definition_at(function.module, inside) if inside else None
    constant = class_.members.get(name) if class_ is not None and "." not in name else None
    module = function.module
    if constant is None:
        target = distribution.within(function.module, name)
        # the value of a member of an enumeration is not what stands at its name
        if target.definition is None or target.module is None or target.path.rpartition(".")[0] != target.module.name:
            return None
        distribution.trace.ask(content_fact(target))
        constant, module = target.definition, target.module
    return (constant, module) if constant.kind == "attribute" else None


def _literal_of(constant: Definition) -> str | None:
    if constant.value is None or CONDITIONAL in constant.labels:
        return None
    try:
        value = literal_eval(constant.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return constant.value if value is None or isinstance(value, bool | int | float | str | bytes) else None


def _with_passed_on(
    own: list[Parameter],
    owner: Resolution,
    passed: PassedKwargs | None,
    owners: list[Resolution],
    distribution: Distribution,
) -> list[Parameter]:
    """Return the parameters of a constructor with those that its `**kwargs` reach the constructor of a base for.

    Whether the call of the base always runs is not asked: none of them is required here.
    """
    if passed is None or not own or own[-1]["kind"] != ParameterKind.VAR_KEYWORD:
        return own
    above = passed_owners(passed, owner.path, owners, distribution)
    if above is None:
        return own
    there = class_parameters(above, distribution)[0] if above else []
    positional = [p["name"] for p in there if p["kind"] in _POSITIONAL]
    excluded = {*(p["name"] for p in own), *passed.names, *positional[: passed.positional]}
    added = [
        p
        | {
            "kind": ParameterKind.KEYWORD_ONLY,
            "default": UNKNOWN if p["default"] is None else p["default"],
            "known_from": ParameterSource.PASSED_ON,
            "deprecation": None,
        }
        for p in there
        if p["name"] not in excluded and p["kind"] in _BY_NAME
    ]
    return [*own[:-1], *added, own[-1]]


def passed_owners(
    passed: PassedKwargs, path: str, owners: list[Resolution], distribution: Distribution
) -> list[Resolution] | None:
    """Return the classes whose constructor gets what that of the class at `path` passes on, None if none is shown.

    They stand in the order in which members are looked up.
    """
    at = [other.path for other in owners].index(path)
    owner, above = owners[at], owners[at + 1 :]
    # a base that no source shows may stand before the others and take them
    if owner.module is None or outside_bases(owner, distribution):
        return None
    if not passed.base:
        return above
    named = distribution.within(owner.module, passed.base)
    return list(dropwhile(lambda other: other.path != named.path, above))


def outside_bases(owner: Resolution, distribution: Distribution) -> bool:
    """Return whether a class has bases that no source of the distribution shows, but for those without parameters."""
    plain = distribution.rules.plain_bases
    bases = distribution.bases(owner)
    return any(not base.is_class and base.path.rpartition(".")[2] not in plain for base in bases)


def class_overloads(owners: list[Resolution]) -> list[str]:
    """Return the overloads of what makes the objects of a class, the first of the owners."""
    members = (owner.definition.members for owner in owners if owner.definition)
    makers = (of_class[name] for of_class in members for name in ("__init__", "__new__") if name in of_class)
    return next((maker.overloads for maker in makers if maker.kind == "function"), [])


def _from_fields(owners: list[Resolution], owner: Resolution) -> tuple[list[Parameter], list[str]]:
    """Make parameters of the fields of a class and of the classes that it inherits fields from, oldest first."""
    convention = owner.definition.synthesised if owner.definition else None
    start = first(n for n, other in enumerate(owners) if other.path == owner.path)
    makers = [o.definition for o in owners[start:] if o.definition and o.definition.synthesised == convention]
    labels = [*(owner.definition.labels if owner.definition else []), str(convention)]
    return _inherited(makers), sorted(set(labels))


def _inherited(definitions: list[Definition]) -> list[Parameter]:
    """Return the parameters of the fields of classes; the last class comes first, and its fields keep their place."""
    fields: dict[str, Field] = {}
    for definition in reversed(definitions):
        for field in definition.fields:
            fields[field.name] = field
    # keyword-only fields go last, as the decorators put them
    return [_parameter(field) for field in sorted(fields.values(), key=lambda field: field.keyword_only)]


def _parameter(field: Field) -> Parameter:
    kind = ParameterKind.KEYWORD_ONLY if field.keyword_only else ParameterKind.POSITIONAL_OR_KEYWORD
    return parameter_row(field.name, kind, field.default, field.annotation, ParameterSource.SYNTHESISED)


def _convention(owners: list[Resolution], distribution: Distribution) -> str | None:
    """Return why the fields of a class are its parameters, if a base or a decorator of the distribution says so."""
    definitions = [owner.definition for owner in owners if owner.definition]
    if any(definition.synthesised for definition in definitions):
        # a decorator of the distribution may make one more of a dataclass
        return TRANSFORMED if not definitions[0].synthesised and _transformer(owners[:1], distribution) else None
    bases = distribution.rules.model_bases | distribution.rules.root_model_bases
    if owners[0].path in bases or not any(d.fields or any("[" in base for base in d.bases) for d in definitions):
        # resolving the bases of all classes once more would be for nothing
        return None
    if any(_derives(owner, bases, distribution) for owner in owners):
        return MODEL
    return TRANSFORMED if _transformer(owners, distribution) else None


def _derives(owner: Resolution, bases: frozenset[str], distribution: Distribution) -> bool:
    """Return whether a class has one of these bases directly, be it of another distribution or of this one."""
    return any(base.path in bases for base in distribution.bases(owner))


def _transformer(owners: list[Resolution], distribution: Distribution) -> str | None:
    """Return the `dataclass_transform(…)`, as written, of a decorator of a class or of a base of it (PEP 681)."""
    pattern = distribution.rules.transform_decorators
    definitions = [owner.definition for owner in owners[1:]]
    if owners[0].module is not None and owners[0].definition is not None:
        names = (decorator.partition("(")[0] for decorator in owners[0].definition.decorators)
        for resolution in (distribution.within(owners[0].module, name) for name in names):
            if resolution.definition is not None:
                distribution.trace.ask(content_fact(resolution))
                definitions.append(resolution.definition)
    decorators = (decorator for definition in definitions if definition for decorator in definition.decorators)
    return next((decorator for decorator in decorators if pattern.search(decorator)), None)


def _of_model(
    owners: list[Resolution], convention: str, distribution: Distribution
) -> tuple[list[Parameter], list[str]]:
    """Return the parameters of a model: those of an `__init__` that it writes, or else its fields.

    An `__init__` with `**kwargs` passes the fields on that it does not name.
    """
    rules = distribution.rules
    models = _models(owners, distribution) if convention == MODEL else _transformed(owners, distribution)
    definitions = [owner.definition for owner in models if owner.definition]
    transformer = (_transformer(owners, distribution) or "") if convention == TRANSFORMED else ""
    if specifiers := _SPECIFIERS.search(transformer):
        names = {name.rpartition(".")[2] for name in _NAMES.findall(specifiers[1])}
        definitions = [replace(d, fields=specified_fields(d.fields, names)) for d in definitions]
    fields = _inherited(definitions)
    if convention == MODEL or "kw_only_default=True" in transformer:
        fields = [field | {"kind": ParameterKind.KEYWORD_ONLY} for field in fields]
    if any(_derives(owner, rules.root_model_bases, distribution) for owner in owners):
        fields = [_root(definitions, fields)]
    written = next((d.members["__init__"] for d in definitions if "__init__" in d.members), None)
    parameters = fields if written is None else _passed_on(method_parameters(written), fields)
    labels = {*(owners[0].definition.labels if owners[0].definition else ()), convention}
    return parameters, sorted(labels)


def _models(owners: list[Resolution], distribution: Distribution) -> list[Resolution]:
    """Return the classes of an ancestry whose fields count: those that a model base of the rules stands behind.

    The model base itself has none, where the distribution is the one that has it.
    """
    bases = distribution.rules.model_bases | distribution.rules.root_model_bases
    models: list[Resolution] = []
    for owner in reversed([owner for owner in owners if owner.path not in bases]):
        model_bases = bases | {other.path for other in models}
        if any(base.path in model_bases for base in distribution.bases(owner)):
            models.insert(0, owner)
    return models


def _transformed(owners: list[Resolution], distribution: Distribution) -> list[Resolution]:
    """Return the classes of an ancestry whose fields count: not the one that passes the behaviour on (PEP 681).

    Among dataclasses these are the ones that a decorator makes.
    """
    pattern = distribution.rules.transform_decorators
    classes = [o for o in owners if o.definition and not any(pattern.search(d) for d in o.definition.decorators)]
    if not any(owner.definition.synthesised for owner in classes if owner.definition):
        return classes
    return [o for o in classes if o.definition and (o.definition.synthesised or _transformer([o], distribution))]


def _root(definitions: list[Definition], fields: list[Parameter]) -> Parameter:
    """Return the one parameter of a root model: its field `root`, or the type that stands in brackets at its base."""
    declared = next((field for field in fields if field["name"] == "root"), None)
    bases = (base for definition in definitions for base in definition.bases if "[" in base)
    annotation = next((base.partition("[")[2].removesuffix("]") for base in bases), None)
    root = declared or _parameter(Field("root", annotation, None, keyword_only=False))
    return root | {"kind": ParameterKind.POSITIONAL_OR_KEYWORD}


def _passed_on(own: Iterable[Parameter], fields: list[Parameter]) -> list[Parameter]:
    own = list(own)
    if not own or own[-1]["kind"] != ParameterKind.VAR_KEYWORD:
        return own
    named = {parameter["name"] for parameter in own}
    more = [field | {"kind": ParameterKind.KEYWORD_ONLY} for field in fields if field["name"] not in named]
    return [*own[:-1], *more]
