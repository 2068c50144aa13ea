"""Requirements that stand beside a library, as people write them: a list, or one text with commas, spaces or lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pipeline.core.errors import CodedError

_OPERATOR = ("<", ">", "=", "!", "~")


class PinError(CodedError, ValueError):
    """What stands there is no requirement that can be resolved from an index; the message says which and why."""


def pins_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return requirements in their normal form, sorted, each once.

    A text may hold several, parted by lines, commas or spaces (`a==1 b>=2,<3`); one with a marker or an address has
    a line of its own (PEP 508).

    Errors: PinError.
    """
    normal = (_normal(piece) for text in texts for line in text.splitlines() for piece in _pieces(line.strip()))
    return tuple(sorted(set(normal)))


def contradiction(library: str, version: str, pins: Iterable[str]) -> str | None:
    """Return the two requirements that no release can meet both, or None; only exact pins are compared.

    What contradicts itself further down, among dependencies, is for the resolver to find.
    """
    required: dict[str, list[SpecifierSet]] = {library: [SpecifierSet(f"=={version}")]}
    for pin in map(Requirement, pins):
        if pin.marker is None:
            required.setdefault(canonicalize_name(pin.name), []).append(pin.specifier)
    for name, specifiers in required.items():
        for exact, bound in ((version, of) for version in _exact(specifiers) for of in specifiers):
            if not bound.contains(exact, prereleases=True):
                return f"{name}=={exact} and {name}{bound}"
    return None


def loosened(pins: Iterable[str]) -> tuple[str, ...]:
    """Return requirements without their exact versions: what is pinned to go with one release fits no other."""
    requirements = [Requirement(pin) for pin in pins]
    for requirement in requirements:
        if any(True for _ in _exact([requirement.specifier])):
            requirement.specifier = SpecifierSet()
    return tuple(sorted(set(map(str, requirements))))


def _exact(specifiers: Iterable[SpecifierSet]) -> Iterator[Version]:
    """Yield the versions that specifiers pin exactly."""
    for specifier in itertools.chain.from_iterable(specifiers):
        if specifier.operator == "==" and not specifier.version.endswith(".*"):
            yield Version(specifier.version)


def _pieces(line: str) -> list[str]:
    """Part a line into requirements: a comma or a space parts two of them unless a specifier goes on behind it."""
    if not line or line.startswith("#"):
        return []
    if ";" in line or "@" in line:
        return [line]
    pieces: list[str] = []
    for word in re.split(r"[\s,]+", line.strip(", \t")):
        before = pieces[-1] if pieces else ""
        if before.endswith(_OPERATOR):
            pieces[-1] += word
        elif before and word.startswith(_OPERATOR):
            pieces[-1] += ("," if any(sign in before for sign in _OPERATOR) else "") + word
        else:
            pieces.append(word)
    return pieces


def _normal(text: str) -> str:
    try:
        pin = Requirement(text)
    except InvalidRequirement as error:
        problem = str(error).splitlines()[0]
        raise PinError(
            f"{text!r} is no requirement ({problem}); write it like numpy==1.21.6", code="pin_invalid"
        ) from None
    if pin.url:
        raise PinError(
            f"{text!r} comes from an address; only what the package index has can be pinned", code="pin_from_address"
        )
    pin.name = canonicalize_name(pin.name)
    return str(pin)
