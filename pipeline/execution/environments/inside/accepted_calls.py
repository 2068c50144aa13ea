"""Finds which calls an object accepts, by the code that a call runs; for Python 3.6 and newer.

A signature states more than it holds: behind `**kwargs` any keyword binds, and a wrapper states the parameters of what
it wraps. Both are followed:

- Code that forwards `*args` and `**kwargs` to one callee accepts what that callee accepts. It is only read
  (`forwarded_arguments`).
- Of a wrapper a copy is called, in which a recorder replaces what it wraps (`trials`). So the code of the wrapper runs,
  and what it calls besides.
"""

import ast
import builtins
import dis
import functools
import inspect
import types
from typing import Any, Iterator, List, NamedTuple  # noqa: UP035 - Python 3.6 cannot subscript the other ones

from .forwarded_arguments import UnknownError, forwarding
from .trials import by_trial

_Kind = inspect.Parameter
_POSITIONAL = (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)
_NAMED = (_Kind.POSITIONAL_OR_KEYWORD, _Kind.KEYWORD_ONLY)
_VARIADIC = (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD)
_DEPTH = 12
# Wrappers by module and name that forward the arguments as they are.
_TRANSPARENT = (("contextlib", "helper"), ("typing_extensions", "wrapper"), ("warnings", "wrapper"))
# Errors of reading sources, names and signatures; others are reported (`unfollowed`).
_UNFOLLOWED = (UnknownError, TypeError, ValueError, LookupError, AttributeError, SyntaxError)
_CACHED = type(functools.lru_cache(maxsize=1)(len))

_ANY = (_Kind("args", _Kind.VAR_POSITIONAL), _Kind("kwargs", _Kind.VAR_KEYWORD))
_Parameters = List[inspect.Parameter]  # noqa: UP006 - Python 3.6


class _Callee(NamedTuple):
    value: Any
    bound: int
    class_: Any


def accepted(value: Any, bound: int, class_: Any) -> _Parameters:
    """Return the parameters that calls of an object must fit.

    `bound` of its first parameters are filled by the object that it is taken from, an instance of `class_`.

    Errors: UnknownError where that cannot be found out; of any kind where the code of a wrapper raises them.
    """
    return _accepted(_Callee(value, bound, class_), 0)


def constructor(class_: type) -> Any:
    """Return the one function that takes the arguments of a class, or None."""
    if _static(type(class_), "__call__") is not type.__dict__["__call__"]:
        return None
    functions = _constructors(class_)
    return functions[0] if len(functions) == 1 and isinstance(functions[0], types.FunctionType) else None


def _constructors(class_: type) -> "list[Any]":
    """Return those of `__new__` and `__init__` that choose arguments."""
    new, init = (_static(class_, name) for name in ("__new__", "__init__"))
    return [each for each in (getattr(new, "__func__", new), init) if not _takes_anything(each)]


def _takes_anything(value: Any) -> bool:
    """Say whether it makes objects in Python's own way, which leaves the arguments to the other one."""
    of = getattr(value, "__self__", None)  # of a `__new__` that is not written in Python
    if value in (object.__new__, object.__init__) or not isinstance(of, type) or value is not of.__new__:
        return value in (object.__new__, object.__init__)
    is_error = issubclass(of, BaseException) and of.__module__ == "builtins" and "Group" not in of.__name__
    return is_error or of in (dict, list, set)


def _static(owner: Any, name: str) -> Any:
    return inspect.getattr_static(owner, name, None)


def _accepted(callee: _Callee, depth: int) -> _Parameters:
    """Return the parameters that remain to be given to a callee."""
    value, bound, _ = callee
    if depth > _DEPTH:
        raise UnknownError
    if type(value) is types.MethodType:
        instance = value.__self__
        of = instance if isinstance(instance, type) else type(instance)
        return _accepted(_Callee(value.__func__, 1, of), depth + 1)
    if isinstance(value, type):
        return _of_class(value, depth)
    if value is object.__init__:
        return []
    call = _static(type(value), "__call__")
    if type(call) is types.FunctionType:
        return _accepted(_Callee(call, 1, type(value)), depth + 1)
    if _static(value, "__wrapped__") is not None:
        return _of_wrapper(callee, depth)
    if type(value) is types.FunctionType:
        return _of_function(callee, depth)
    is_partial = type(value) is functools.partial
    if len(list(below_wrappers(value))) > 1 or (is_partial and not _follows_signature(value.func, depth)):
        raise UnknownError  # its signature is that of what is wrapped
    return _unbound(_signature_parameters(value), bound)


def _of_wrapper(callee: _Callee, depth: int) -> _Parameters:
    value, bound, class_ = callee
    wrapped = _static(value, "__wrapped__")
    inner = _accepted(_Callee(wrapped, bound, class_), depth + 1)
    if hasattr(value, "dispatch") and hasattr(value, "registry"):
        return _dispatched(value, inner, bound, depth)
    is_cached = type(value) is _CACHED
    if is_cached or (value.__globals__.get("__name__"), value.__code__.co_name) in _TRANSPARENT:
        return inner
    return by_trial(value, wrapped, inner, bound)


def _of_class(class_: type, depth: int) -> _Parameters:
    function = constructor(class_)
    if function is not None:
        return _accepted(_Callee(function, 1, class_), depth + 1)
    call = _static(type(class_), "__call__")
    if type(call) is types.FunctionType:
        return _accepted(_Callee(call, 1, type(class_)), depth + 1)
    if call is not type.__dict__["__call__"]:
        raise UnknownError
    functions = _constructors(class_)
    if len(functions) == 2 and all(type(each) is types.FunctionType for each in functions):
        return _of_both(class_, functions, depth)
    if not functions:
        return []
    if any(isinstance(each, types.FunctionType) or _static(each, "__wrapped__") is not None for each in functions):
        raise UnknownError
    return _signature_parameters(class_)


def _of_both(class_: type, functions: "list[Any]", depth: int) -> _Parameters:
    """Return the parameters of `__new__` and `__init__` if they are the same; else it is open which calls both take."""
    try:
        new, init = (_accepted(_Callee(each, 1, class_), depth + 1) for each in functions)
    except _UNFOLLOWED:  # a signature would be that of one of them
        return list(_ANY)
    return (
        init
        if [each.replace(default=...) for each in new] == [each.replace(default=...) for each in init]
        else list(_ANY)
    )


def _follows_signature(value: Any, depth: int) -> bool:
    """Say whether an object accepts what its signature states."""
    return _accepted(_Callee(value, 0, None), depth + 1) == _signature_parameters(value)


def _signature_parameters(value: Any) -> _Parameters:
    """Return the parameters of a signature that Python reads from the code, or a compiled library has for its own."""
    if _static(value, "__signature__") is not None:
        raise UnknownError
    return list(inspect.signature(value).parameters.values())


def _dispatched(value: Any, inner: _Parameters, bound: int, depth: int) -> _Parameters:
    """Return the parameters of a `functools.singledispatch`, which needs an argument by position to choose by."""
    others = [_accepted(_Callee(each, bound, None), depth + 1) for each in value.registry.values()]
    shapes = [[(each.name, each.kind, each.default is each.empty) for each in parameters] for parameters in others]
    if bound or not inner or any(shape != shapes[0] for shape in shapes) or inner[0].kind not in _POSITIONAL:
        raise UnknownError
    return [inner[0].replace(kind=_Kind.POSITIONAL_ONLY), *inner[1:]]


def below_wrappers(value: Any) -> "Iterator[Any]":
    """Yield an object, what runs when it is called, what that wraps (`__wrapped__`), and so on."""
    visited = []  # type: list[Any]
    while value is not None and not any(value is each for each in visited) and len(visited) < 20:
        visited.append(value)
        yield value
        while type(value) in (types.MethodType, functools.partial):
            value = value.__func__ if type(value) is types.MethodType else value.func
        value = _static(value, "__wrapped__")


def _of_function(callee: _Callee, depth: int) -> _Parameters:
    own = _unbound(_own(callee.value), callee.bound)
    if not any(each.kind in _VARIADIC for each in own):
        return own
    try:
        return _followed(callee.value, own, callee.class_, depth)
    except _UNFOLLOWED:  # the callee is not known, and so they take anything
        return own


def _own(function: types.FunctionType) -> _Parameters:
    """Return the parameters of the code, whatever signature the function states."""
    code, defaults = function.__code__, function.__defaults__
    bare = types.FunctionType(code, function.__globals__, function.__name__, defaults, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return list(inspect.signature(bare).parameters.values())


def _unbound(parameters: _Parameters, bound: int) -> _Parameters:
    if len([each for each in parameters[:bound] if each.kind in _POSITIONAL]) < bound:
        raise UnknownError
    return parameters[bound:]


def _followed(function: types.FunctionType, own: _Parameters, class_: Any, depth: int) -> _Parameters:
    """Return parameters with those of the callee in the place of the `*args` and `**kwargs` that it gets."""
    rest, keywords = ("".join(each.name for each in own if each.kind == kind) for kind in _VARIADIC)
    forwarded = forwarding(function.__code__, rest, keywords)
    parameters = _accepted(_resolved(forwarded.call.func, function, class_), depth + 1)
    positional = len([each for each in forwarded.call.args if not isinstance(each, ast.Starred)])
    own_arguments = {each.arg: None for each in forwarded.call.keywords if each.arg is not None}
    put_in = forwarded.filled | forwarded.unsure
    # TypeError if it refuses what the function itself gives, whatever is forwarded
    inspect.Signature(parameters).bind_partial(*range(positional), **own_arguments, **dict.fromkeys(put_in))
    by_place = [each for each in parameters if each.kind in _POSITIONAL]
    if forwarded.rest and any(each.name in own_arguments for each in by_place):
        raise UnknownError
    names = {each.name for each in _own(function) if each.kind in _NAMED}
    changed = put_in | forwarded.popped
    passed_on = []  # type: _Parameters
    has_place = forwarded.rest  # up to the first that the function puts in under its name
    for each in parameters:
        if each in by_place[:positional] or each.name in own_arguments:
            continue
        has_place = has_place and each.name not in put_in
        is_placed = has_place and each.kind in (*_POSITIONAL, _Kind.VAR_POSITIONAL)
        is_named = forwarded.keywords and each.kind in (*_NAMED, _Kind.VAR_KEYWORD) and each.name not in names
        if each.kind in _VARIADIC:
            passed_on += [each] if is_placed or is_named else []
        elif is_placed or is_named:
            kind = _Kind.POSITIONAL_OR_KEYWORD if is_placed and is_named else _Kind.KEYWORD_ONLY
            if each.name in changed - forwarded.filled and each.default is each.empty:
                raise UnknownError
            default = each.empty if each.name in forwarded.needed else ... if each.name in changed else each.default
            passed_on.append(each.replace(kind=kind if is_named else _Kind.POSITIONAL_ONLY, default=default))
        elif each.default is each.empty and each.name not in forwarded.filled:
            raise UnknownError
    names |= {each.name for each in passed_on}
    for name in sorted(forwarded.popped - names):
        default = inspect.Parameter.empty if name in forwarded.needed else ...
        passed_on.append(_Kind(name, _Kind.KEYWORD_ONLY, default=default))
    replaced = {rest if forwarded.rest else "", keywords if forwarded.keywords else ""}
    return ordered([each for each in own if each.name not in replaced] + passed_on)


def ordered(parameters: _Parameters) -> _Parameters:
    """Return parameters in the order of their kinds; ValueError if no function could have them."""
    by_kind = sorted(parameters, key=lambda each: max(each.kind, _Kind.POSITIONAL_OR_KEYWORD))
    return list(inspect.Signature(by_kind).parameters.values())


def _resolved(expression: ast.AST, function: types.FunctionType, class_: Any) -> _Callee:
    """Return what an expression in the code of a function stands for, when the function is called on a `class_`."""
    first = function.__code__.co_varnames[0] if function.__code__.co_argcount else None
    if isinstance(expression, ast.Name):
        if expression.id == first == "cls":
            return _Callee(class_, 0, None)
        return _Callee(_variable(expression.id, function), 0, None)
    if not isinstance(expression, ast.Attribute):
        raise UnknownError
    base = expression.value
    if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
        start = _resolved(base.args[0], function, class_).value if base.args else _variable("__class__", function)
        above = class_.__mro__[class_.__mro__.index(start) + 1 :]
        owner = next((each for each in above if expression.attr in vars(each)), object)
        return _bound(vars(owner)[expression.attr], class_)
    if isinstance(base, ast.Name) and base.id == first and class_ is not None:
        is_plain = _static(class_, "__getattribute__") is object.__getattribute__
        if not is_plain or any(_stores(each, expression.attr) for of in class_.__mro__ for each in vars(of).values()):
            raise UnknownError  # instances may have another one
        return _bound(_static(class_, expression.attr), class_)
    owner = _resolved(base, function, class_).value
    member = _static(owner, expression.attr)
    if isinstance(owner, types.ModuleType) and member is not None:
        return _Callee(member, 0, None)
    if not isinstance(owner, type):
        raise UnknownError
    if type(member) is not types.FunctionType:
        return _bound(member, owner)
    return _Callee(member, 0, class_ if class_ is not None and issubclass(class_, owner) else None)


def _stores(function: Any, name: str) -> bool:
    """Say whether the code of a function sets an attribute of that name."""
    code = getattr(function, "__code__", None)
    return type(code) is types.CodeType and any(
        each.opname == "STORE_ATTR" and each.argval == name
        for each in (dis.get_instructions(code) if name in code.co_names else ())
    )


def _variable(name: str, function: types.FunctionType) -> Any:
    """Return the value of a name that is no local one."""
    code = function.__code__
    if name in code.co_freevars:
        return function.__closure__[code.co_freevars.index(name)].cell_contents  # type: ignore[index]
    if name in code.co_varnames or name in code.co_cellvars:
        raise UnknownError
    return function.__globals__[name] if name in function.__globals__ else getattr(builtins, name)


def _bound(raw: Any, class_: Any) -> _Callee:
    """Return what taking an attribute of an instance of a class gives."""
    if raw is object.__init__:
        return _Callee(raw, 0, class_)
    if type(raw) in (staticmethod, classmethod):
        takes_class = type(raw) is classmethod or getattr(raw.__func__, "__name__", "") == "__new__"
        return _Callee(raw.__func__, int(type(raw) is classmethod), class_ if takes_class else None)
    if type(raw) is not types.FunctionType and type(raw) is not _CACHED:
        raise UnknownError
    return _Callee(raw, 1, class_)
