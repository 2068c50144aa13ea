"""Runs the inputs of tests beside an answer and writes down what each gives; nothing here knows what it should give.

Results leave in a closed form: types that Python has built in, as tagged JSON, and for all others their name alone.
An answer that forges them has to know the right ones, which never come into this process.
"""

import inspect
import json
import linecache
import operator
import os
import sys
import warnings

from .execute import as_bytes, enter_main, run, written
from .outcomes import Failed, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Items and characters of all values of a case; of more the type alone is told, since what tests expect is far smaller.
_ITEMS, _CHARACTERS, _DEPTH = 50000, 1 << 19, 40
_TEXT = 2000
_BASES = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)


def observe_tests(spec: "dict[str, Any]", traced: "Any" = None) -> str:
    """Run the steps of each test and return, as JSON, a list of observations for each."""
    names, tests = spec["import_names"], spec["tests"]
    namespace = _module(spec, traced) if spec["as_module"] else _script(spec, traced)
    _show("<test>", tests["preamble"])
    run(as_bytes(tests["preamble"]), "<test>", namespace, names)
    observed: list[Any] = [[] for _ in tests["tests"]]
    budget = [_ITEMS, _CHARACTERS]
    order = list(range(len(observed)))
    for number in reversed(order) if spec["backwards"] else order:
        own = namespace if not spec["as_module"] else dict(namespace)
        for kind, source in tests["tests"][number]:
            # Whether a step is to raise is not known here, so that one which did ends nothing.
            observed[number].append(_step(kind, source, own, names, budget))
    return json.dumps(observed)


def _module(spec: "dict[str, Any]", traced: "Any") -> "dict[str, Any]":
    """Write the code as a module that can be imported, and return the namespace of another that tests it."""
    module = spec["module"].split(".")
    for depth in range(1, len(module)):
        os.mkdir(os.path.join(*module[:depth]))
        written("/".join(module[:depth]) + "/__init__.py", "")
    path = written("/".join(module) + ".py", spec["preamble"] + spec["code"])
    sys.argv = ["pytest"]
    if traced:
        traced.start(path)
    return {"__name__": "test_" + module[-1]}


def _script(spec: "dict[str, Any]", traced: "Any") -> "dict[str, Any]":
    """Run the code as a script and return its namespace."""
    path, main = enter_main(spec)
    if traced:
        traced.start(path)
    run(as_bytes(spec["code"]), path, main.__dict__, spec["import_names"])
    return main.__dict__


def _show(name: str, source: str) -> None:
    """Let tracebacks show the lines of a source that is no file."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)


def _step(
    kind: str, source: str, namespace: "dict[str, Any]", names: "list[str]", budget: "list[int]"
) -> "dict[str, Any]":
    """Run one step: statements, statements with what they warn of, or an expression with its value."""
    _show("<test>", source)
    try:
        if kind == "value":
            code = compile(source, "<test>", "eval", 0, True)
            value = eval(code, namespace)  # noqa: S307 - what the sandbox is for
            encoded = encode(value, budget)
            return {"value": ["other", _truth(value), *encoded[2:]] if encoded[0] == "other" else encoded}
        code = compile(source, "<test>", "exec", 0, True)
        if kind == "run":
            exec(code, namespace)  # noqa: S102 - what the sandbox is for
            return {}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(code, namespace)  # noqa: S102 - what the sandbox is for
        return {"warned": [_classes(each.category) for each in caught[:100]]}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the result
        outcome, message = _failed(names).args
        return {"raised": _classes(type(error)), "outcome": outcome, "message": message[-_TEXT:]}


def _truth(value: "Any") -> "bool | None":
    """Return whether a value counts as true; None where it cannot say, and of a coroutine that nobody awaited."""
    try:
        return None if inspect.iscoroutine(value) else bool(value)
    except Exception:  # noqa: BLE001 - of the value's own methods
        return None


def _failed(names: "list[str]") -> Failed:
    """Classify the exception that is being handled, which may itself raise when it is looked at."""
    try:
        return failure(names)
    except BaseException:  # noqa: BLE001 - of the exception's own methods
        return Failed("wrong_exception", "an exception that cannot be shown")


def _classes(kind: type) -> "list[str]":
    """Return a class and its bases by their full names."""
    return [_name(each) for each in type.mro(kind)[:50]]


def _name(kind: type) -> str:
    module = type.__getattribute__(kind, "__module__")
    return "{}.{}".format(module, type.__getattribute__(kind, "__qualname__"))[:500]


def encode(value: "Any", budget: "list[int]") -> "Any":
    """Return a value in the closed form, `[tag, content]` with the name of the type behind it where it is another.

    An instance of a subclass of a built-in type has the content of that, as the type itself tells it.
    """
    try:
        return _encoded(value, budget, 0)
    except _TooMuch:
        return ["other", None, _name(type(value))]


class _TooMuch(Exception):
    """A value is larger or deeper than anything that a test expects."""


def _encoded(value: "Any", budget: "list[int]", depth: int) -> "Any":
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEPTH:
        raise _TooMuch
    if value is None:
        return ["none", None]
    kind = type(value)
    base = kind if kind in _BASES else next((each for each in _BASES if each in type.mro(kind)), None)
    if base is None and value is os.environ:
        return ["dict", _content(dict(value), dict, budget, depth), _name(kind)]
    if base is None:
        return _number(value, kind) or ["other", None, _name(kind)]
    content = _content(value, base, budget, depth)
    return [base.__name__, content] if base is kind else [base.__name__, content, _name(kind)]


def _content(value: "Any", base: "Any", budget: "list[int]", depth: int) -> "Any":
    """Return the content of an instance of a built-in type, asked of that type and not of a subclass."""
    if base is bool:
        return value is True
    if base is int:
        _take(budget, int.bit_length(value) // 4)
        return int.__format__(value, "x")
    if base is float:
        return float.hex(value)
    if base is complex:
        return [float.hex(complex.__getattribute__(value, part)) for part in ("real", "imag")]
    if base is str:
        _take(budget, str.__len__(value))
        return str.__str__(value)
    if base in (bytes, bytearray):
        _take(budget, 2 * base.__len__(value))
        return bytes.hex(bytes(memoryview(value)))
    if base is dict:
        return [[_encoded(part, budget, depth + 1) for part in pair] for pair in dict.items(value)]
    return [_encoded(item, budget, depth + 1) for item in base.__iter__(value)]


def _take(budget: "list[int]", size: int) -> None:
    budget[1] -= size
    if budget[1] < 0:
        raise _TooMuch


def _number(value: "Any", kind: type) -> "Any":
    """Return a number of another type, such as numpy's or a Decimal, as the built-in or exact one that it equals."""
    module, _, name = _name(kind).rpartition(".")
    if module in ("decimal", "fractions") and name in ("Decimal", "Fraction"):
        return [name.lower(), str(value)[:_TEXT], _name(kind)]
    if module.split(".")[0] != "numpy" or not hasattr(value, "item") or getattr(value, "ndim", 1) != 0:
        return None
    try:
        item = value.item()
        if type(item) in (bool, float, complex):
            return [type(item).__name__, _content(item, type(item), [1, 1], 0), _name(kind)]
        return ["int", format(operator.index(value), "x"), _name(kind)]
    except Exception:  # noqa: BLE001 - whatever else of numpy it is
        return None
