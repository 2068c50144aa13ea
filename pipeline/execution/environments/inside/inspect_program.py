"""Describes what stands at API paths and in modules, inside the sandbox, for Python 3.6 and newer.

It reads `.wanted.json` in its folder and reports on standard output. The report is `started`, lines for each request,
and at the end the nonce, which lies unread on standard input until then. The lines of a request are written before it
is tried, when it is described, and when its accepted calls are known.

Modules are imported, attributes of modules and classes are taken, and signatures are read. Copies of wrappers around
functions are called (`trials`), and so is other code that they call. No other function that a library offers is called.
"""

import functools
import importlib
import inspect
import json
import os
import re
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any, Callable  # noqa: UP035 - Python 3.6 cannot subscript the other ones

from .accepted_calls import accepted, below_wrappers, constructor

if TYPE_CHECKING:
    Description = dict[str, Any]
    Reached = tuple[str, str, Description | None]

LENGTH = 200  # characters of a literal; of what is longer only the type is told
_DOC_LENGTH = 20000
_PLAIN = (bool, int, float, str, type(None))
_MARKS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
_ROUTINES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    type(str.join),
    type(object.__init__),
    type([].__len__),
    type(dict.__dict__["fromkeys"]),
    type(functools.lru_cache(maxsize=1)(len)),
    functools.partialmethod,
)
_BINDINGS = {
    "staticmethod": "staticmethod",
    "classmethod": "classmethod",
    "classmethod_descriptor": "classmethod",
}
_BOUND_ALREADY = (staticmethod, classmethod, type(dict.__dict__["fromkeys"]))


def ignore(_: "Description") -> None:
    """Do nothing with a description."""


def reach(path: str, described: "Callable[[Description], None]" = ignore) -> "Reached":
    """Return (outcome, message, description) of a path from the longest importable prefix, or any shorter one.

    See `below` for `described`.
    """
    parts = path.split(".")
    missing = "no such name"
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        try:
            module, warned = imported(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name + ".").startswith(error.name + "."):
                continue
            return "import_error", f"{name}: {error}", None
        except BaseException as error:  # noqa: BLE001 - whatever it is, the module is broken
            return "import_error", f"{name}: {type(error).__name__}: {error}", None
        try:
            names = parts[length:]
            description = below(module, names, described) if names else describe(module, module, None)
        except AttributeError as error:
            missing = missing if missing != "no such name" else str(error)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the name is there and broken
            if is_refused(module, error):
                return "api_missing", str(error), None
            return "import_error", f"{path}: {type(error).__name__}: {error}", None
        else:
            put(description, "deprecated", warned and length == len(parts))
            return "passed", "", description
    return "api_missing", missing, None


def is_refused(module: types.ModuleType, error: BaseException) -> bool:
    """Say whether the function that a module asks for names it does not have (PEP 562) refuses one by ImportError.

    One that comes from below may be of a module that this name needs.
    """
    if not isinstance(error, ImportError) or error.name is not None or not issubclass(type(module), types.ModuleType):
        return False
    if isinstance(error.__cause__ or error.__context__, ImportError):
        return False
    lookup = (vars(types.ModuleType)["__dict__"].__get__(module) or {}).get("__getattr__")
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is getattr(lookup, "__code__", None)


def imported(name: str) -> "tuple[types.ModuleType, bool]":
    """Import a module; return it and whether that gave a warning of its deprecation."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = importlib.import_module(name)
    return module, is_marked(caught, name.split(".")[-1])


def is_marked(caught: "list[warnings.WarningMessage] | None", name: str) -> bool:
    """Say whether a warning of deprecation names what was reached: others are about what was imported on the way."""
    return any(issubclass(warning.category, _MARKS) and name in str(warning.message) for warning in caught or ())


def below(owner: Any, names: "list[str]", described: "Callable[[Description], None]" = ignore) -> "Description":
    """Take attributes one after the other and describe the last; AttributeError where there is none.

    A property of an instance is described without asking it for its value. `described` gets the description before
    wrappers are tried (`describe_accepted`): their code may end the process, or never return.
    """
    for name in names[:-1]:
        owner = getattr(owner, name)
    name = names[-1]
    raw = static(owner, name)
    if not issubclass(type(owner), (type, types.ModuleType)) and is_property(raw):
        return {"kind": "property"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = getattr(owner, name)
    description = describe(value, value if raw is None else raw, owner)
    put(description, "deprecated", is_marked(caught, name))
    described(description)
    describe_accepted(description, value, value if raw is None else raw, owner)
    return description


def put(description: "Description", key: str, value: Any) -> None:
    """Note a fact, if it is one: what is false, empty or not known has no key."""
    if value is not None and value is not False:
        description[key] = value


def static(owner: Any, name: str) -> Any:
    """Return what stands under a name before any descriptor is asked, or None."""
    try:
        return inspect.getattr_static(owner, name, None)
    except Exception:  # noqa: BLE001 - objects that pretend to be others raise all sorts of things
        return None


def describe(value: Any, raw: Any, owner: Any) -> "Description":
    """Return what an object is: kind and, as far as there are any, signature, value, bases, marks."""
    description = {"kind": kind_of(value, raw, owner)}  # type: Description
    try:
        describe_more(description, value, raw, owner)
    except Exception as error:  # noqa: BLE001 - objects that pretend to be others raise all sorts of things
        description["undescribed"] = type(error).__name__
    return description


def describe_more(description: "Description", value: Any, raw: Any, owner: Any) -> None:
    """Add to a description what is particular to its kind."""
    kind = description["kind"]
    if kind == "module":
        description["name"] = value.__name__
    if kind == "class":
        description["bases"] = [full_name(base) for base in value.__bases__ if base is not object]
        description["mro"] = [full_name(base) for base in value.__mro__[1:] if base is not object]
    if kind not in ("module", "property") and callable(value):
        describe_call(description, value, raw, owner)
    if kind == "attribute":
        description["type"] = full_name(type(value))
        put(description, "value", literal(value))
    elif kind != "module":
        put(description, "deprecated", any(has_mark(each) for each in (value, raw, static(raw, "fget"))))


def kind_of(value: Any, raw: Any, owner: Any) -> str:
    """Return module, class, function, method, property or attribute; by type(), which no object can pretend."""
    if issubclass(type(value), types.ModuleType):
        return "module"
    if issubclass(type(value), type):
        return "class"
    of_class = issubclass(type(owner), type)
    if of_class and value is raw and is_property(raw):
        return "property"
    if is_routine(value):
        return "method" if of_class else "function"
    return "attribute"


def is_property(raw: Any) -> bool:
    """Say whether it is a property: Python's, one of functools, of a compiled class, or a library's own."""
    names = [base.__name__ for base in type(raw).__mro__]
    return any(name.lower().endswith("property") or name == "getset_descriptor" for name in names)


def is_routine(value: Any) -> bool:
    """Say whether it is a function or method, written in Python or not."""
    name = type(value).__name__
    return issubclass(type(value), _ROUTINES) or name in ("cython_function_or_method", "fused_cython_function")


def describe_call(description: "Description", value: Any, raw: Any, owner: Any) -> None:
    """Add the signature as a caller sees it, whether it is a coroutine function, and what it is wrapped by."""
    wrappers = list(below_wrappers(called(value)))
    put(
        description,
        "async",
        any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in wrappers),
    )
    if len(wrappers) > 1:
        description["wrappers"] = [home(each) for each in wrappers[:-1]]
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except Exception:  # noqa: BLE001 - compiled, or a signature of the library's own making
        return
    if is_unbound(value, raw, owner) and parameters and parameters[0].kind <= parameters[0].POSITIONAL_OR_KEYWORD:
        parameters = parameters[1:]
    description["signature"] = [parameter(each) for each in parameters]


def describe_accepted(description: "Description", value: Any, raw: Any, owner: Any) -> None:
    """Add the parameters that calls must fit, if the signature does not state them, or why they are not known."""
    if description["kind"] in ("module", "property") or not callable(value):
        return
    bound = int(is_unbound(value, raw, owner))
    try:
        calls = accepted(value, bound, owner if bound else None)
    except BaseException as error:  # noqa: BLE001 - objects that pretend to be others and wrappers raise all sorts of things
        description["unfollowed"] = type(error).__name__
        return
    parameters = [[*parameter(each)[:3], "..."] if each.default is ... else parameter(each) for each in calls]
    if "wrappers" in description or parameters != description.get("signature"):
        description["accepts"] = parameters


def is_unbound(value: Any, raw: Any, owner: Any) -> bool:
    """Say whether calling it on an instance fills its first parameter."""
    if not issubclass(type(owner), type) or issubclass(type(raw), _BOUND_ALREADY) or not is_routine(value):
        return False
    return not issubclass(type(value), (types.MethodType, types.BuiltinFunctionType))


def called(value: Any) -> Any:
    """Return the function that takes the arguments of a call: of a class, of an object, or it itself."""
    if issubclass(type(value), type):
        return constructor(value)
    call = static(type(value), "__call__")
    return call if type(call) is types.FunctionType and static(value, "__wrapped__") is None else value


def home(wrapper: Any) -> str:
    """Return the module whose code a wrapper is; `functools.wraps` copies the name of another one onto it."""
    if issubclass(type(wrapper), types.FunctionType):
        return str(wrapper.__globals__.get("__name__"))
    return type(wrapper).__module__


def parameter(each: inspect.Parameter) -> "list[Any]":
    """Return [name, kind, whether it has a default, the default if it is a short literal]."""
    has_default = each.default is not each.empty
    return [each.name, each.kind.name.lower(), has_default, literal(each.default) if has_default else None]


def literal(value: Any) -> "str | None":
    """Return the repr of a short literal that is the same on every machine, else None."""
    if type(value) is tuple:
        parts = [literal(each) for each in value] if len(value) <= LENGTH else [None]
        text = None if None in parts else repr(value)
    elif type(value) not in _PLAIN or (type(value) is int and value.bit_length() > 4 * LENGTH):
        return None
    else:
        text = repr(value)
    if text is None or len(text) > LENGTH or any(place in text for place in (sys.prefix, sys.base_prefix, "/tmp/")):  # noqa: S108
        return None
    return text


def has_mark(value: Any) -> bool:
    """Say whether an object itself is marked as deprecated (PEP 702), not the class that it is derived from."""
    try:
        return "__deprecated__" in vars(value)
    except TypeError:
        return False


def full_name(class_: type) -> str:
    """Return the name of a class with its module."""
    return f"{class_.__module__}.{class_.__qualname__}"


def describe_module(name: str) -> "Reached":
    """Return (outcome, message, description) of a whole module: its public names, and those of its classes."""
    try:
        module, warned = imported(name)
        names = getattr(module, "__all__", None)
        exports = [str(each) for each in names] if isinstance(names, (list, tuple)) else None
        chosen = sorted(vars(module)) if exports is None else exports
        members = {each: member(module, each, name) for each in chosen if exports or not each.startswith("_")}
    except BaseException as error:  # noqa: BLE001 - whatever it is, the module is opaque
        return "import_error", f"{name}: {type(error).__name__}: {error}", None
    description = {"kind": "module", "members": members, "exports": exports, "doc": doc_of(module)}
    put(description, "deprecated", warned)
    return "passed", "", description


def member(owner: Any, name: str, module: str) -> "Description":
    """Describe one public name of a module or class; of a class with its public members."""
    try:
        raw = static(owner, name)
        value = getattr(owner, name)
    except BaseException as error:  # noqa: BLE001 - one name that breaks costs only itself
        return {"kind": "attribute", "undescribed": type(error).__name__}
    description = describe(value, value if raw is None else raw, owner)
    of_module = issubclass(type(owner), types.ModuleType)
    if description["kind"] == "attribute":
        return description
    target = elsewhere(value, module) if of_module else None
    if target is not None:
        return dict(description, target=target)
    put(description, "doc", doc_of(value))
    put(description, "binding", _BINDINGS.get(type(raw).__name__))
    if "signature" not in description and type(getattr(value, "__text_signature__", None)) is str:
        description["text_signature"] = value.__text_signature__
    if of_module and description["kind"] == "class":
        description["members"] = {
            each: member(value, each, module) for each in sorted(vars(value)) if not each.startswith("_")
        }
    return description


def elsewhere(value: Any, module: str) -> "str | None":
    """Return the path of what a module only imports from another; a package above it may be named as its home."""
    if issubclass(type(value), types.ModuleType):
        return str(value.__name__)
    origin, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if type(origin) is not str or type(name) is not str or (module + ".").startswith(origin + "."):
        return None
    there = sys.modules.get(origin)
    if there is None or getattr(there, name, None) is not value or not written_in(there, name):
        return None
    return f"{origin}.{name}"


def written_in(module: types.ModuleType, name: str) -> bool:
    """Say whether a module may define a name: one in Python that only hands it on has no such definition."""
    file = str(getattr(module, "__file__", None))
    if not file.endswith(".py"):
        return True
    with open(file, encoding="utf-8", errors="replace") as source:  # noqa: PTH123 - a module less to load
        return re.search(rf"\b(?:class|def)\s+{re.escape(name)}\b", source.read()) is not None


def doc_of(value: Any) -> "str | None":
    """Return the docstring, cut where it is very long."""
    doc = getattr(value, "__doc__", None)
    return doc[:_DOC_LENGTH] if type(doc) is str and doc.strip() else None


def answer(questions: "list[list[Any]]", report: "Callable[[Any], None]") -> None:
    """Answer each of [index, path or module, name], and say so before it is tried: a crash costs one only.

    A description is reported before wrappers are tried, and what this adds to it by itself.
    """
    for index, kind, name in questions:
        report({"trying": index})
        if kind == "module":
            report(record(index, *describe_module(name)))
            continue
        reported = []  # type: list[Description]

        def described(description: "Description", index: int = index, reported: Any = reported) -> None:
            report(record(index, "passed", "", description))
            reported.append(dict(description))

        outcome, message, description = reach(name, described)
        if not reported:
            report(record(index, outcome, message, description))
            continue
        added = {key: value for key, value in (description or {}).items() if key not in reported[0]}
        if added:
            report({"index": index, "added": added})


def record(index: int, outcome: str, message: str, description: "Description | None") -> "dict[str, Any]":
    """Return the line of an answer."""
    return {"index": index, "outcome": outcome, "message": message[-1000:], "observation": description}


def main() -> None:
    """Keep the channels to ourselves, answer what `.wanted.json` asks for, and sign the report."""
    nonce_from, report_to, home_process = os.dup(0), os.dup(1), os.getpid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def report(record: object) -> None:
        line = json.dumps(record, sort_keys=True).encode() + b"\n"
        while line:
            line = line[os.write(report_to, line) :]

    with open(".wanted.json") as file:  # noqa: PTH123 - a module less to load
        questions = json.load(file)
    sys.argv, sys.path[0] = ["inspect.py"], ""
    report("started")
    answer(questions, report)
    if os.getpid() == home_process:  # a child that an import forked and that ran on to here has nothing to say
        os.write(report_to, os.read(nonce_from, 64) + b"\n")
    os._exit(0)


if __name__ == "__main__":
    main()
