"""What is known about the value of an expression, as far as a library's API is concerned."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.core.vocabularies.samples import Access


@dataclass(frozen=True, slots=True)
class Reference:
    """A module, class, function or attribute of the library, by its dotted path.

    `assigned`: a variable has it, not an import.
    """

    path: str
    access: Access = Access.DIRECT
    assigned: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a public class of the library."""

    path: str


@dataclass(frozen=True, slots=True)
class Elements:
    """Something to iterate over, or a context manager that gives, what `of` says."""

    of: Value


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping whose values are what `of` says."""

    of: Value


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple of so many values."""

    of: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Calling:
    """Something that gives a value when it is called."""

    result: Value


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A function that the source itself defines, by where it starts."""

    key: int


@dataclass(frozen=True, slots=True)
class LocalClass:
    """A class that the source itself defines, by where it starts."""

    owner: int


@dataclass(frozen=True, slots=True)
class LocalObject:
    """An object of such a class; `above`: as `super()` sees it."""

    owner: int
    above: bool = False


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of Python or of another library, by its dotted path."""

    path: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else: nothing of the library is claimed about it."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value None, which code puts in place of what it fills in later or could not import."""


Value = (
    Reference
    | Instance
    | Elements
    | Mapping
    | Items
    | Calling
    | LocalFunction
    | LocalClass
    | LocalObject
    | Foreign
    | Unknown
    | Nothing
)

UNKNOWN = Unknown()
NOTHING = Nothing()


def join(value: Value, other: Value) -> Value:
    """Return what is known of a name that has one value or the other: nothing, unless they agree or one is None."""
    if value is other or value == other or other is NOTHING:
        return value
    return other if value is NOTHING else UNKNOWN


def element_of(value: Value) -> Value:
    """Return what a loop over the value gives."""
    if isinstance(value, Elements):
        return value.of
    if isinstance(value, Items) and value.of:
        joined = value.of[0]
        for other in value.of[1:]:
            joined = join(joined, other)
        return joined
    return UNKNOWN


def many(value: Value) -> Value:
    """Return what is known of several of a value together."""
    return UNKNOWN if value is UNKNOWN else Elements(value)


def unpacked(value: Value, count: int) -> list[Value]:
    """Return what each of `count` targets gets of a value."""
    if isinstance(value, Items) and len(value.of) == count:
        return list(value.of)
    return [element_of(value)] * count
