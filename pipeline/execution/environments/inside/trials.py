"""Calls copies of wrappers with placeholders, in which a recorder stands for what they wrap; for Python 3.6 and newer.

Only the code of the wrapper runs, and what it calls besides: what it hands on is bound to the parameters of what it
wraps, whose body never runs. A copy has variables of its own, and is stopped before it waits, forks, exits or the like.
"""

import functools
import inspect
import sys
import time
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

_MOST_CALLS = 20000  # that a wrapper makes for one of it
_MOST_SECONDS = 2.0  # of all calls of a wrapper
# Compiled functions that wait, start or end something, or reach out; of `posix` some are harmless.
_FORBIDDEN_MODULES = ("posix", "nt", "select", "_socket", "_posixsubprocess", "_signal")
_HARMLESS = ("fspath", "getcwd", "getpid", "lstat", "stat")
_FORBIDDEN_NAMES = ("input", "open", "sleep", "start_new_thread", "start_joinable_thread")

_Parameters = List[inspect.Parameter]  # noqa: UP006 - Python 3.6


class _Placeholder:
    """An argument of which nothing is known."""


class _RefusedError(TypeError):
    """What is wrapped does not take these arguments."""


class _StopError(BaseException):
    """A wrapper is about to do what a trial must not do."""


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
    filled = trial.arrived() - required
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
        by_name = trial.lands_as_itself(required, each.name)
        needed = each.name in required and trial.lands(0, required - {each.name}, None) is None
        kind = _Kind.POSITIONAL_OR_KEYWORD if each.name in by_place else _Kind.KEYWORD_ONLY
        if not by_name and each.name not in by_place:
            continue
        is_unknown = each.default is each.empty or each.name in filled
        default = each.empty if needed else ... if is_unknown else each.default
        parameters.append(each.replace(kind=kind if by_name else _Kind.POSITIONAL_ONLY, default=default))
    names = {each.name for each in inner}
    others = [name for name in sorted(mentioned(wrapper) - names) if trial.takes(required, name)]
    parameters += [_Kind(name, _Kind.KEYWORD_ONLY, default=...) for name in others]
    if any(each.kind == _Kind.VAR_POSITIONAL for each in inner):
        parameters.append(_Kind("args", _Kind.VAR_POSITIONAL))
    if trial.lands(0, required | {_OTHER}, _OTHER) is not None:
        parameters.append(_Kind("kwargs", _Kind.VAR_KEYWORD))
    return sorted(parameters, key=lambda each: max(each.kind, _Kind.POSITIONAL_OR_KEYWORD))


def mentioned(wrapper: types.FunctionType) -> "set[str]":
    """Return the names that the code of a wrapper has in it, or that it was made with: keywords that it may know."""
    values = list(_values(wrapper.__code__, wrapper.__globals__))
    for each in wrapper.__closure__ or ():
        value = each.cell_contents
        attributes = vars(value) if hasattr(value, "__dict__") else {}
        values += [value, *(attributes[name] for name in wrapper.__code__.co_names if name in attributes)]
    values += [*(wrapper.__defaults__ or ()), *(wrapper.__kwdefaults__ or {}).values(), *(wrapper.__kwdefaults__ or ())]
    values += wrapper.__code__.co_varnames[: wrapper.__code__.co_argcount]
    for helper in [value for value in values if type(value) is types.FunctionType]:
        values += _values(helper.__code__, helper.__globals__)
    names = {text for value in values for text in _texts(value) if text.isidentifier()}
    if len(names) > _MOST:
        raise UnknownError
    return names


def _values(code: types.CodeType, variables: "dict[str, Any]") -> "Iterator[Any]":
    """Yield the constants in code, and what its global names and attributes of them stand for."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _values(each, variables)
        else:
            yield each
    for value in [variables[name] for name in code.co_names if name in variables]:
        yield value
        if isinstance(value, type):
            yield from [vars(value)[name] for name in code.co_names if name in vars(value)]


def _texts(value: Any) -> "Iterator[str]":
    if type(value) is str:
        yield value
    elif type(value) in (list, tuple, set, frozenset, dict):
        for each in value:
            yield from _texts(each)


class _Trial:
    """Calls of a wrapper that reach a recorder."""

    def __init__(self, wrapper: Any, wrapped: Any, inner: _Parameters, bound: int) -> None:
        values = [each.cell_contents for each in wrapper.__closure__ or ()]
        is_plain = type(wrapper) is types.FunctionType and not wrapper.__code__.co_flags & _DELAYED
        if not is_plain or not any(each is wrapped for each in values):
            raise UnknownError
        self._calls, self._refused, self._is_stopped, self._made = [], 0, False, 0  # type: list[Any], int, bool, int
        self._end = time.monotonic() + _MOST_SECONDS
        self._bodies = set(_codes(wrapped))
        recorder, (itself, put) = self._recorder(wrapped), _later()
        # its own variables, so that nothing is changed for what is described afterwards
        cells = [itself if each is wrapper else _cell(recorder if each is wrapped else each) for each in values]
        variables = dict(wrapper.__globals__)
        code, defaults = wrapper.__code__, wrapper.__defaults__
        self._call = types.FunctionType(code, variables, wrapper.__name__, defaults, tuple(cells))
        self._call.__kwdefaults__ = wrapper.__kwdefaults__
        put(self._call)
        self._own = inspect.signature(self._call)
        self._call.__dict__.update(wrapper.__dict__, __wrapped__=recorder)
        filled = list(inspect.signature(wrapped).parameters.values())[:bound]
        self._inner = inspect.Signature([each.replace(default=each.empty) for each in filled] + inner)
        self._bound = bound

    def _recorder(self, wrapped: Any) -> Any:
        @functools.wraps(wrapped)
        def recorder(*args: Any, **kwargs: Any) -> None:
            try:
                self._calls.append(self._inner.bind(*args, **kwargs).arguments)
            except TypeError as error:
                self._refused += 1
                raise _RefusedError(*error.args) from None

        return recorder

    def arrived(self) -> "set[str]":
        """Return the parameters that the last call reached."""
        return set(self._calls[-1])

    def takes(self, required: "set[str]", name: str) -> bool:
        """Say whether the wrapper takes a keyword that what it wraps does not have."""
        return self.lands(0, required | {name}, name) not in (None, "**")

    def lands_as_itself(self, required: "set[str]", name: str) -> bool:
        """Say whether a keyword arrives under its name; UnknownError if the wrapper takes it for itself."""
        lands = self.lands(0, required | {name}, name)
        if lands == "":
            raise UnknownError
        return lands == name

    def lands(self, positional: int, names: "set[str]", argument: "int | str | None") -> "str | None":
        """Return the parameter at which an argument arrives, "" if none does; None if the call is refused.

        Of one that only `**kwargs` takes it returns "**".
        """
        values = [_Placeholder() for _ in range(self._bound + positional)]
        named = {name: _Placeholder() for name in names}
        try:
            self._own.bind(*values, **named)
        except TypeError:
            return None
        del self._calls[:]
        self._refused = self._made = 0
        try:
            self._guarded(values, named)
        except _RefusedError:
            return None
        if len(self._calls) != 1 or self._refused or self._is_stopped:
            raise UnknownError
        arguments = self._calls[0]
        if [id(each) for each in arguments.values()][: self._bound] != [id(each) for each in values[: self._bound]]:
            raise UnknownError
        if argument is None:
            return ""
        value = named[argument] if isinstance(argument, str) else values[self._bound + argument]
        if any(each is value for among in arguments.values() if type(among) is dict for each in among.values()):
            return "**"
        return next((name for name, each in arguments.items() if each is value), "")

    def _guarded(self, values: "list[Any]", named: "dict[str, Any]") -> None:
        before = sys.getprofile()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.setprofile(self._watch)
            try:
                self._call(*values, **named)
            finally:
                sys.setprofile(before)

    def _watch(self, frame: types.FrameType, event: str, argument: Any) -> None:
        """Stop before a call that a trial must not make; sys.setprofile calls it."""
        self._made += 1
        is_forbidden = event == "call" and (
            frame.f_code in self._bodies
            or (frame.f_globals.get("__name__") == "threading" and frame.f_code.co_name in ("join", "wait"))
        )
        if event == "c_call" and argument is not sys.setprofile:
            name, module = getattr(argument, "__name__", ""), getattr(argument, "__module__", None)
            is_forbidden = (module in _FORBIDDEN_MODULES and name not in _HARMLESS) or (
                module is not None and name in _FORBIDDEN_NAMES
            )
        if is_forbidden or self._made > _MOST_CALLS or time.monotonic() > self._end:
            self._is_stopped = True
            raise _StopError


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


def _later() -> "tuple[Any, Any]":
    """Return a cell, and what puts a value into it: Python 3.6 cannot set a cell's."""
    value = None  # type: Any

    def put(given: Any) -> None:
        nonlocal value
        value = given

    return put.__closure__[0], put  # type: ignore[index]


def _codes(wrapped: Any) -> "Iterator[types.CodeType]":
    """Yield the code of what is wrapped, and of what that wraps."""
    for _ in range(20):
        wrapped = getattr(wrapped, "__func__", wrapped)
        if isinstance(wrapped, types.FunctionType):
            yield wrapped.__code__
        wrapped = inspect.getattr_static(wrapped, "__wrapped__", None)
