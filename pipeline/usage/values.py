"""What is known about the value of an expression, as far as a library's API is concerned."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.terms import Access


@dataclass(frozen=True, slots=True)
class Reference:
    """A module, class, function or attribute of the library, by its dotted path."""

    path: str
    access: Access = Access.DIRECT


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a public class of the library."""

    path: str


@dataclass(frozen=True, slots=True)
class Elements:
    """Something to iterate over, made of objects of a public class."""

    path: str


@dataclass(frozen=True, slots=True)
class Receiver:
    """The first parameter of a method of a class that the snippet itself defines; `owner` tells classes apart."""

    owner: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else: nothing of the library is claimed about it."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """The value None, which code puts in place of what it fills in later or could not import."""


Value = Reference | Instance | Elements | Receiver | Unknown | Nothing

UNKNOWN = Unknown()
NOTHING = Nothing()


def join(one: Value, other: Value) -> Value:
    """Return what is known of a name that has one value or the other: nothing, unless they agree or one is None."""
    if one == other or other == NOTHING:
        return one
    return other if one == NOTHING else UNKNOWN


def merge(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """Return the names after two branches of which either may have run."""
    merged = dict(one)
    for name, value in other.items():
        merged[name] = join(merged[name], value) if name in merged else value
    return merged


def element_of(value: Value) -> Value:
    """Return what a loop over the value gives."""
    return Instance(value.path) if isinstance(value, Elements) else UNKNOWN
