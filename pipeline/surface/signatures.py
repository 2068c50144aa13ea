"""What a class or method can be called with: without self and cls, from its `__init__`, or made out of its fields."""

from __future__ import annotations

from pipeline.lake import Row
from pipeline.surface.records import Definition, Field, Parameter
from pipeline.surface.resolve import Distribution, Found
from pipeline.terms import ParameterKind, ParameterSource


def method_parameters(definition: Definition) -> list[Parameter]:
    """Return the parameters of a method as a caller sees them: without the first, unless it is static."""
    if definition.kind != "function" or "staticmethod" in definition.labels or not definition.called:
        return definition.called
    positional = definition.called[0]["kind"] in {
        ParameterKind.POSITIONAL_ONLY,
        ParameterKind.POSITIONAL_OR_KEYWORD,
    }
    return definition.called[1:] if positional else definition.called


def class_parameters(class_: Found, distribution: Distribution) -> Row:
    """Return the `parameters` of a class, and the label of its convention if they are made out of fields.

    They are those of the first `__init__` in the order of inheritance, or else of `__new__`; a dataclass, attrs or
    NamedTuple class (PEP 557, attrs, PEP 526) that writes no `__init__` of its own has those of its fields.
    """
    owners = distribution.ancestry(class_)
    for name in ("__init__", "__new__"):
        for owner in owners:
            assert owner.definition is not None
            made = owner.definition.members.get(name)
            if made is not None and made.kind == "function":
                return {"parameters": method_parameters(made)}
            if owner.definition.synthesised:
                return _from_fields(owners, owner)
    return {}


def _from_fields(owners: list[Found], owner: Found) -> Row:
    """Make parameters of the fields of a class and of the classes that it inherits fields from, oldest first."""
    fields: dict[str, Field] = {}
    convention = owner.definition.synthesised if owner.definition else None
    start = next(n for n, other in enumerate(owners) if other.path == owner.path)
    for other in reversed(owners[start:]):
        if other.definition and other.definition.synthesised == convention:
            for field in other.definition.fields:
                fields[field.name] = field
    # keyword-only fields go last, as the decorators put them
    ordered = sorted(fields.values(), key=lambda field: field.keyword_only)
    labels = [*(owner.definition.labels if owner.definition else []), str(convention)]
    return {"parameters": [_parameter(field) for field in ordered], "labels": sorted(set(labels))}


def _parameter(field: Field) -> Parameter:
    kind = ParameterKind.KEYWORD_ONLY if field.keyword_only else ParameterKind.POSITIONAL_OR_KEYWORD
    return {
        "name": field.name,
        "kind": kind,
        "default": field.default,
        "annotation": field.annotation,
        "known_from": ParameterSource.SYNTHESISED,
        "deprecation": None,
    }
