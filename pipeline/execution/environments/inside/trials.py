"""Calls copies of wrappers with placeholders, in which a recorder stands for what they wrap; for Python 3.6 and newer.

Only the code of the wrapper runs: what it hands on is bound to the parameters of what it wraps, whose body never runs.
"""

import functools
import inspect
import types
import warnings
from typing import Any, Iterator, List  # noqa: UP035 - Python 3.6 cannot subscript the other ones

from .handed_on import UnknownError

_Kind = inspect.Parameter
_POSITIONAL = (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)
_NAMED = (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY)
_DELAYED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_MOST = 80  # names that are tried because the wrapper mentions them
_OTHER = "a_name_that_no_parameter_has"

_Parameters = List[inspect.Parameter]  # noqa: UP006 - Python 3.6


class _Placeholder:
    """An argument of which nothing is known."""


def by_trial(wrapper: Any, wrapped: Any, inner: _Parameters, bound: int) -> _Parameters:
    """Return the parameters that a wrapper accepts, of which `inner` are those of what it wraps.

    Errors: UnknownError where a call raises something, or does not reach what is wrapped.
    """
    trial = _Trial(wrapper, wrapped, inner, bound)
    fixed = [each for each in inner if each.kind in (*_POSITIONAL, *_NAMED)]
    if any(each.kind == _Kind.POSITIONAL_ONLY and each.default is each.empty for each in fixed):
        raise UnknownError  # calls by name alone do not reach it
    required = {each.name for each in fixed if each.default is each.empty}
    if trial.lands(0, required, None) is None:
        raise UnknownError
    by_place = []  # type: list[str]
    for place, each in enumerate(fixed):
        covered = {other.name for other in fixed[: place + 1]}
        lands = trial.lands(place + 1, required - covered, place)
        if lands is None or lands not in {other.name for other in fixed}:
            break
        if lands != each.name:
            raise UnknownError
        by_place.append(lands)
    parameters = []  # type: _Parameters
    for each in fixed:
        by_name = trial.lands(0, required | {each.name}, each.name) == each.name
        needed = each.name in required and trial.lands(0, required - {each.name}, None) is None
        kind = _Kind.POSITIONAL_OR_KEYWORD if each.name in by_place else _Kind.KEYWORD_ONLY
        if not by_name and each.name not in by_place:
            continue
        default = each.empty if needed else ... if each.default is each.empty else each.default
        parameters.append(each.replace(kind=kind if by_name else _Kind.POSITIONAL_ONLY, default=default))
    names = {each.name for each in inner}
    others = [
        name for name in sorted(mentioned(wrapper) - names) if trial.lands(0, required | {name}, name) is not None
    ]
    parameters += [_Kind(name, _Kind.KEYWORD_ONLY, default=...) for name in others]
    if any(each.kind == _Kind.VAR_POSITIONAL for each in inner):
        parameters.append(_Kind("args", _Kind.VAR_POSITIONAL))
    if trial.lands(0, required | {_OTHER}, _OTHER) is not None:
        parameters.append(_Kind("kwargs", _Kind.VAR_KEYWORD))
    return sorted(parameters, key=lambda each: max(each.kind, _Kind.POSITIONAL_OR_KEYWORD))


def mentioned(wrapper: types.FunctionType) -> "set[str]":
    """Return the names that the code of a wrapper has in it, or that it was made with: keywords that it may know."""
    values = [*wrapper.__code__.co_consts, *(each.cell_contents for each in wrapper.__closure__ or ())]
    values += [*(wrapper.__defaults__ or ()), *(wrapper.__kwdefaults__ or {}).values(), *(wrapper.__kwdefaults__ or ())]
    values += wrapper.__code__.co_varnames[: wrapper.__code__.co_argcount]
    names = {text for value in values for text in _texts(value) if text.isidentifier()}
    if len(names) > _MOST:
        raise UnknownError
    return names


def _texts(value: Any) -> "Iterator[str]":
    if type(value) is str:
        yield value
    elif type(value) in (list, tuple, set, frozenset, dict):
        for each in value:
            yield from _texts(each)


class _Trial:
    """Calls of a wrapper that reach a recorder."""

    def __init__(self, wrapper: Any, wrapped: Any, inner: _Parameters, bound: int) -> None:
        cells = list(wrapper.__closure__ or ())
        places = [place for place, each in enumerate(cells) if each.cell_contents is wrapped]
        if type(wrapper) is not types.FunctionType or not places or wrapper.__code__.co_flags & _DELAYED:
            raise UnknownError
        self._calls = []  # type: list[Any]
        recorder = self._recorder(wrapped)
        for place in places:
            cells[place] = (lambda: recorder).__closure__[0]  # type: ignore[index]
        code, defaults = wrapper.__code__, wrapper.__defaults__
        self._call = types.FunctionType(code, wrapper.__globals__, wrapper.__name__, defaults, tuple(cells))
        self._call.__kwdefaults__ = wrapper.__kwdefaults__
        self._own = inspect.signature(self._call)
        filled = list(inspect.signature(wrapped).parameters.values())[:bound]
        self._inner = inspect.Signature([each.replace(default=each.empty) for each in filled] + inner)
        self._bound = bound

    def _recorder(self, wrapped: Any) -> Any:
        @functools.wraps(wrapped)
        def recorder(*args: Any, **kwargs: Any) -> None:
            self._calls.append((args, kwargs))

        return recorder

    def lands(self, positional: int, names: "set[str]", argument: "int | str | None") -> "str | None":
        """Return the parameter at which an argument arrives, "" if none does; None if the call is refused."""
        values = [_Placeholder() for _ in range(self._bound + positional)]
        named = {name: _Placeholder() for name in names}
        try:
            self._own.bind(*values, **named)
        except TypeError:
            return None
        del self._calls[:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._call(*values, **named)
        if len(self._calls) != 1:
            raise UnknownError
        args, kwargs = self._calls[0]
        try:
            arguments = self._inner.bind(*args, **kwargs).arguments
        except TypeError:
            return None
        if [id(each) for each in arguments.values()][: self._bound] != [id(each) for each in values[: self._bound]]:
            raise UnknownError
        if argument is None:
            return ""
        value = named[argument] if isinstance(argument, str) else values[self._bound + argument]
        return next((name for name, each in arguments.items() if each is value), "")
