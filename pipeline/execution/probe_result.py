"""What a probe saw at an API path, read back from the column `observation` of `verdicts`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

import msgspec

from pipeline.core.vocabularies.surface import ParameterKind, SymbolKind

_KINDS: Mapping[str, inspect._ParameterKind] = {
    kind.name.lower(): kind
    for kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    )
}
# What is described without a signature because nobody calls it.
_NOT_CALLED = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.MODULE, SymbolKind.PROPERTY})

_Parameter = tuple[str, str, bool, str | None]


class Default(msgspec.Struct, frozen=True):
    """A default as its repr, `...` if its value is not known; of one that is no short literal only that is known."""

    text: str | None

    def has_value(self) -> bool:
        """Say whether it can be told what a call without the argument gets."""
        return self.text != "..."

    def __repr__(self) -> str:
        return self.text or "…"


class ProbeResult(msgspec.Struct, frozen=True):
    """What stands at a path: as `pipeline.execution.environments.inside.inspect_program.describe` found it.

    `name` is what a module calls itself; it may be reached under another path, by an import that binds it there.
    A parameter is (name, kind, whether it has a default, the repr of the default if it is a short literal). `accepts`
    are the parameters by the code that a call runs, where it was followed and the signature says otherwise. Where
    neither is known to be what calls must fit, `unfollowed` is the error that ended the search.
    """

    kind: str
    signature: tuple[_Parameter, ...] | None = None
    name: str | None = None
    value: str | None = None
    type: str | None = None
    bases: tuple[str, ...] = ()
    mro: tuple[str, ...] = ()
    is_async: bool = msgspec.field(default=False, name="async")
    wrappers: tuple[str, ...] = ()
    deprecated: bool = False
    undescribed: str | None = None
    accepts: tuple[_Parameter, ...] | None = None
    unfollowed: str = ""

    @classmethod
    def read(cls, text: str) -> ProbeResult:
        """Read the JSON of the column."""
        return _DECODER.decode(text)

    def words(self) -> str:
        """Say it in a line, for people: `class (a, b=1), base B`."""
        parts = [f"async {self.kind}" if self.is_async else self.kind]
        if self.signature is not None:
            parts[0] += f" {_signature(self.signature) or '(…)'}"
        if self.wrappers:
            parts.append(f"wrapped by {', '.join(self.wrappers)}")
        if self.bases:
            parts.append(f"bases {', '.join(self.bases)}")
        if self.value is not None:
            parts.append(f"value {self.value}")
        return ", ".join([*parts, *(["deprecated"] if self.deprecated else [])])

    def has_signature(self) -> bool:
        """Say whether this is all that a caller sees: of many a compiled function the signature cannot be read."""
        return self.signature is not None or self.kind in _NOT_CALLED

    def callable_as(self) -> inspect.Signature | None:
        """Return the signature that calls must fit, or None where it cannot be told.

        So it is of compiled functions, behind `(*args, **kwargs)`, and below a wrapper that may take other arguments
        than what it wraps.
        """
        parameters = self._called()
        return None if parameters is None or _takes_anything(parameters) else _signature(parameters)

    def uncallable(self) -> str:
        """Return why `callable_as` has no signature."""
        if self.wrappers and self.accepts is None:
            return f"a wrapper of {self.wrappers[0]} may take other arguments"
        if self.signature is None and self.accepts is None:
            return "it has no signature that can be read"
        parameters = self._called()
        if parameters is None:
            return "its signature may not be what its code takes"
        if _takes_anything(parameters):
            return "it takes `*args` and `**kwargs`, and where they go cannot be followed"
        return "no function of Python can have its signature"

    def _called(self) -> tuple[_Parameter, ...] | None:
        """Return the parameters that calls must fit, if they are known."""
        if self.accepts is None and (self.wrappers or self.unfollowed):
            return None
        return self.signature if self.accepts is None else self.accepts


_DECODER = msgspec.json.Decoder(ProbeResult)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


def _takes_anything(parameters: Iterable[_Parameter]) -> bool:
    return {kind for _, kind, _, _ in parameters} == {ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD}


def _signature(parameters: Iterable[_Parameter]) -> inspect.Signature | None:
    try:
        return inspect.Signature([_to_parameter(*each) for each in parameters])
    except ValueError:
        # compiled functions may have signatures that no Python function could have
        return None


def _to_parameter(name: str, kind: str, has_default: bool, default: str | None) -> inspect.Parameter:
    value = Default(default) if has_default else inspect.Parameter.empty
    return inspect.Parameter(name, _KINDS[kind], default=value)
