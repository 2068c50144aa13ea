"""Calls copies of wrappers with placeholders, in which a recorder stands for what they wrap; for Python 3.6 and newer.

The code of the wrapper runs, and what it calls besides. What it forwards is bound to the parameters of what it wraps,
whose body does not run. A copy has variables of its own, but shares the objects that they hold. It is stopped before it
waits, forks, exits or the like.
"""

import functools
import inspect
import os
import sys
import time
import types
import warnings
from typing import Any, Iterable, Iterator, List  # noqa: UP035 - Python 3.6 cannot subscript the other ones

from .forwarded_arguments import UnknownError

_Kind = inspect.Parameter
_POSITIONAL = (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)
_NAMED = (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY)
_DELAYED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_MOST = 300  # names that are tried because the wrapper mentions them
_OTHER = "a_name_that_no_parameter_has"
# Where an argument lands that no parameter of its own takes; other places are names of parameters.
_NOWHERE, _REST, _KEYWORDS = "", "*", "**"

_MOST_CALLS = 20000  # that a wrapper makes for one of it
_MOST_EVENTS = 500000  # calls and returns while a wrapper is tried: about a second, and the same on any machine
_MOST_SECONDS = 20.0  # for compiled code that takes long, of which events say nothing
# Compiled functions that wait, start or end something, or reach out; of `posix` some are harmless.
_FORBIDDEN_MODULES = ("posix", "nt", "select", "_socket", "_posixsubprocess", "_signal")
_HARMLESS = ("fspath", "getcwd", "getpid", "lstat", "stat")
# The recorder has others than what it stands for.
_OF_CODE = {"__code__", "__defaults__", "__kwdefaults__", "func_code"}
# What they do with a name of an argument is not seen.
_OF_ATTRIBUTES = (hasattr, getattr, setattr, dir, vars)
_STANDARD = os.path.dirname(inspect.__file__) + os.sep  # noqa: PTH120 - a module less to load
_FORBIDDEN_NAMES = ("input", "open", "sleep", "start_new_thread", "start_joinable_thread")

_Parameters = List[inspect.Parameter]  # noqa: UP006 - Python 3.6


class _RefusedError(TypeError):
    """What is wrapped does not take these arguments."""


class _StopError(BaseException):
    """A wrapper is about to do what a trial must not do, or what depends on types of values or letters of names."""


def _stop(*_: Any, **__: Any) -> Any:
    raise _StopError


class _Placeholder:
    """An argument of which nothing is known, that is all true and equal to everything, or neither."""

    def __init__(self, answer: bool) -> None:
        self._answer = answer

    def __bool__(self) -> bool:
        return self._answer

    def __eq__(self, other: object) -> bool:
        return self._answer

    __hash__ = object.__hash__


def by_trial(wrapper: Any, wrapped: Any, inner: _Parameters, bound: int) -> _Parameters:
    """Return the parameters that a wrapper accepts, of which `inner` are those of what it wraps.

    Errors: UnknownError where a call does not reach what is wrapped, or it depends on values what is accepted; of any
    kind where a call raises them.
    """
    parameters, others = (_tried(_Trial(wrapper, wrapped, inner, bound, answer), inner) for answer in (True, False))
    shapes = [[(each.name, each.kind, id(each.default)) for each in by] for by in (parameters, others)]
    if shapes[0] != shapes[1]:
        raise UnknownError
    return parameters


def _tried(trial: "_Trial", inner: _Parameters) -> _Parameters:
    fixed = [each for each in inner if each.kind in (*_POSITIONAL, *_NAMED)]
    if any(each.kind == _Kind.POSITIONAL_ONLY and each.default is each.empty for each in fixed):
        raise UnknownError  # calls by name alone do not reach it
    required = {each.name for each in fixed if each.default is each.empty}
    if trial.lands(0, required, None) is None:
        raise UnknownError
    filled = trial.arrived() - required
    by_place, takes_more = _places(trial, [each.name for each in fixed], required)
    parameters = []  # type: _Parameters
    for each in fixed:
        lands = trial.lands(0, required | {each.name}, each.name)
        if lands not in (each.name, None):
            raise UnknownError  # the wrapper takes it for itself
        needed = each.name in required and trial.lands(0, required - {each.name}, None) is None
        kind = _Kind.POSITIONAL_OR_KEYWORD if each.name in by_place else _Kind.KEYWORD_ONLY
        if lands is None and each.name not in by_place:
            continue
        is_unknown = each.default is each.empty or each.name in filled
        default = each.empty if needed else ... if is_unknown else each.default
        parameters.append(each.replace(kind=kind if lands else _Kind.POSITIONAL_ONLY, default=default))
    is_open = trial.lands(0, required | {_OTHER}, _OTHER) is not None
    others = sorted(trial.mentioned() - {each.name for each in inner})
    accepted_names = [name for name in others if trial.lands(0, required | {name}, name) not in (None, _KEYWORDS)]
    parameters += [_Kind(name, _Kind.KEYWORD_ONLY, default=...) for name in accepted_names]
    parameters += [_Kind("args", _Kind.VAR_POSITIONAL)] if takes_more else []
    parameters += [_Kind("kwargs", _Kind.VAR_KEYWORD)] if is_open else []
    return sorted(parameters, key=lambda each: max(each.kind, _Kind.POSITIONAL_OR_KEYWORD))


def _places(trial: "_Trial", names: "list[str]", required: "set[str]") -> "tuple[list[str], bool]":
    """Return the parameters that arguments by position reach, and whether more arguments are taken."""
    by_place = []  # type: list[str]
    for place in range(len(names) + 1):
        lands = trial.lands(place + 1, required - set(names[: place + 1]), place)
        if lands is None and trial.lands(place + 1, required - set(by_place), place) is not None:
            raise UnknownError  # the wrapper takes it for itself
        if lands is None:
            break
        if lands == _REST or (lands in (_NOWHERE, _KEYWORDS) and place == len(names)):
            return by_place, True
        if place == len(names) or lands != names[place]:
            raise UnknownError
        by_place.append(lands)
    return by_place, False


def _texts_in(code: types.CodeType, variables: "dict[str, Any]", values: "list[Any]") -> "Iterator[str]":
    """Yield the texts among the constants of code, in what its names stand for, and in attributes of these."""
    constants, names = _constants(code), set(code.co_names)
    for inner in [each for each in constants if isinstance(each, types.CodeType)]:
        names.update(inner.co_names)
    values = [*values, *(variables[name] for name in names if name in variables)]
    yield from code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for value in constants + values + _attributes(_attributes(values, names), names):
        yield from _texts(value)


def _attributes(values: "list[Any]", names: "set[str]") -> "list[Any]":
    """Return values with those of their attributes that have one of the names."""
    members = [inspect.getattr_static(value, name, None) for value in values for name in names]
    return values + [each for each in members if each is not None]


def _constants(code: types.CodeType) -> "list[Any]":
    """Return the constants of code, and of code within it."""
    within = [
        each for constant in code.co_consts if isinstance(constant, types.CodeType) for each in _constants(constant)
    ]
    return [*code.co_consts, *within]


def _texts(value: Any) -> "Iterator[str]":
    if type(value) is str:
        yield value
    elif type(value) in (list, tuple, set, frozenset):
        for each in value:
            yield from _texts(each)
    elif type(value) in (dict, types.MappingProxyType):
        yield from _texts([*value, *value.values()])
    elif type(value) is inspect.Signature:
        yield from value.parameters


_TEXT = [name for name in dir(str) if not name.startswith("__")] + ["__getitem__", "__iter__", "__contains__"]
_TEXT += ["__add__", "__radd__", "__mod__", "__rmod__", "__mul__", "__str__", "__format__"]
_Name = type("_Name", (str,), dict.fromkeys(_TEXT, _stop))
"""The name of an argument. What a wrapper makes of the letters is not known, and so it stops when it reads them."""


class _Trial:
    """Calls of a wrapper that reach a recorder."""

    def __init__(self, wrapper: Any, wrapped: Any, inner: _Parameters, bound: int, answer: bool) -> None:
        values = [each.cell_contents for each in wrapper.__closure__ or ()]
        is_plain = type(wrapper) is types.FunctionType and not wrapper.__code__.co_flags & _DELAYED
        if not is_plain or not any(each is wrapped for each in values):
            raise UnknownError
        self._calls, self._refused, self._is_stopped, self._call_count = [], 0, False, 0  # type: list[Any], int, bool, int
        self._end, self._events = time.monotonic() + _MOST_SECONDS, 0
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
        self._texts = set()  # type: set[str]
        self._read_codes = set()  # type: set[tuple[str, types.CodeType]]
        self._wrapped, self._answer = wrapped, answer
        within = [each for each in _constants(code) if isinstance(each, types.CodeType)]
        self._own_codes = {code, *within}

    def _recorder(self, wrapped: Any) -> Any:
        @functools.wraps(wrapped)
        def recorder(*args: Any, **kwargs: Any) -> None:
            sys.setprofile(None)  # nothing here has to be watched, and that would cost most of the time
            try:
                self._calls.append(self._inner.bind(*args, **kwargs).arguments)
            except TypeError as error:
                self._refused += 1
                raise _RefusedError(*error.args) from None
            finally:
                sys.setprofile(self._watch)

        recorder.__signature__ = inspect.signature(wrapped)  # type: ignore[attr-defined]
        return recorder

    def arrived(self) -> "set[str]":
        """Return the parameters that the last call reached."""
        return set(self._calls[-1])

    def mentioned(self) -> "set[str]":
        """Return the names that code has in it which the calls ran: keywords that it may know.

        Errors: UnknownError for too many.
        """
        names = {text for text in self._texts if text.isidentifier()}
        if len(names) > _MOST:
            raise UnknownError
        return names

    def lands(self, positional: int, names: "set[str]", argument: "int | str | None") -> "str | None":
        """Return the parameter at which an argument arrives, or _NOWHERE; None if the call is refused.

        Of one that only `*args` or `**kwargs` takes it returns _REST or _KEYWORDS.
        """
        values = [_Placeholder(self._answer) for _ in range(self._bound + positional)]
        named = {_Name(name): _Placeholder(self._answer) for name in names}
        try:
            self._own.bind(*values, **named)
        except TypeError:
            return None
        del self._calls[:]
        self._refused = self._call_count = 0
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
            return _NOWHERE
        value = named[argument] if isinstance(argument, str) else values[self._bound + argument]
        for stars, among in ((_KEYWORDS if type(each) is dict else _REST, each) for each in arguments.values()):
            if any(each is value for each in _parts(among)):
                return stars
        return next((name for name, each in arguments.items() if each is value), _NOWHERE)

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
        self._call_count += 1
        self._events += 1
        if (
            event in ("call", "return")
            and (event, frame.f_code) not in self._read_codes
            and _is_of_library(frame.f_code)
        ):
            self._read_codes.add((event, frame.f_code))
            self._read(frame, argument)
        if event == "return" and type(argument) is inspect.Signature:
            self._texts.update(argument.parameters)
        is_forbidden = event == "call" and (
            frame.f_code in self._bodies
            or (_is_of_re(frame) and any(type(each) is _Name for each in frame.f_locals.values()))
            or (frame.f_globals.get("__name__") == "threading" and frame.f_code.co_name in ("join", "wait"))
        )
        if event == "c_call" and argument is not sys.setprofile:
            is_forbidden = self._is_forbidden(frame, argument)
        is_long = self._call_count > _MOST_CALLS or self._events > _MOST_EVENTS
        if is_forbidden or is_long or time.monotonic() > self._end:
            self._is_stopped = True
            raise _StopError

    def _is_forbidden(self, frame: types.FrameType, compiled: Any) -> bool:
        """Say whether a compiled function does what a trial must not do, or would do otherwise for other arguments."""
        name, module = getattr(compiled, "__name__", ""), getattr(compiled, "__module__", None)
        return (
            compiled is self._wrapped
            # a function that the wrapper calls may convert arguments, the wrapper itself may forward them elsewhere
            or (compiled is isinstance and frame.f_code in self._own_codes)
            or (compiled in _OF_ATTRIBUTES and any(type(each) is _Name for each in frame.f_locals.values()))
            or ("Pattern" in type(getattr(compiled, "__self__", 0)).__name__ and not _is_of_re(frame))
            or (module in _FORBIDDEN_MODULES and name not in _HARMLESS)
            or (module is not None and name in _FORBIDDEN_NAMES)
        )

    def _read(self, frame: types.FrameType, returned: Any) -> None:
        """Note the texts that code knows as it is called, and what it knows and returns at its end."""
        values = [value for value in [*frame.f_locals.values(), returned] if type(value) is not _Placeholder]
        self._texts.update(_texts_in(frame.f_code, frame.f_globals, values))
        names = {name for each in (frame.f_code, *_constants(frame.f_code)) for name in _names(each)}
        if names & _OF_CODE or ("type" in names and frame.f_code in self._own_codes):
            self._is_stopped = True
            raise _StopError


def _is_of_re(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "re"


def _names(code: Any) -> "tuple[str, ...]":
    return code.co_names if isinstance(code, types.CodeType) else ()


def _is_of_library(code: types.CodeType) -> bool:
    """Say whether code is neither of Python's own modules nor of the recorder."""
    file = code.co_filename
    return file != _stop.__code__.co_filename and (not file.startswith(_STANDARD) or "-packages" in file)


def _parts(among: Any) -> "Iterable[Any]":
    return among.values() if type(among) is dict else among if type(among) is tuple else ()


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


def _later() -> "tuple[Any, Any]":
    """Return a cell, and what puts a value into it: Python 3.6 cannot set a cell's."""
    value = None  # type: Any

    def put(content: Any) -> None:
        nonlocal value
        value = content

    return put.__closure__[0], put  # type: ignore[index]


def _codes(wrapped: Any) -> "Iterator[types.CodeType]":
    """Yield the code of what is wrapped, and of what that wraps."""
    for _ in range(20):
        wrapped = getattr(wrapped, "__func__", wrapped)
        if isinstance(wrapped, types.FunctionType):
            yield wrapped.__code__
        wrapped = inspect.getattr_static(wrapped, "__wrapped__", None)
