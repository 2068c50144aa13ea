"""What an exception of a case means: an outcome, from where it was raised and what it is about."""

import dis
import errno
import re
import sys
import traceback
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    Frames = list[traceback.FrameSummary]

BEGUN = b"+"
"""Goes ahead of a report when the code of a case begins: a failure before that is the harness's own."""

OWN_FILES = set()  # type: set[str]
"""Names of the files that hold the case's own code and tests, as they stand in tracebacks."""

_OWN = re.compile(r"<doctest case\[\d+\]>|<(preamble|test)>")
_THROUGH = ("__getattr__", "__getattribute__")
_OWNER = re.compile(r"(?:type object )?'(?P<type>[\w.]+)'(?: object)? has no attribute")
_MODULE = re.compile(r"module '(?P<module>[\w.]+)' has no attribute")
_SIGNATURE = re.compile(
    r"(?P<name>[\w.<>]+)?(?:\(\))? ?(?:got an unexpected keyword argument|got multiple values for|missing \d+ required"
    r"|takes \w+ (?:positional |keyword )?arguments?|takes (?:from|at most|at least|exactly) \d+|expected at \w+ \d+"
    r"|got some positional-only|takes no|expected \d+ arguments?)|missing a required (?:keyword-only )?argument"
    r"|too many positional arguments|is an invalid keyword argument|missing required argument"
)
_NAMES_OF = vars(types.ModuleType)["__dict__"].__get__
_FORBIDDEN = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENETUNREACH, errno.ENOSPC, errno.EFBIG)


class Failed(Exception):
    """The case did not pass: outcome and message."""


def failed(error: BaseException, trace: "types.TracebackType | None", import_names: "list[str]") -> Failed:
    """Return Failed for an exception."""
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    return Failed(classify(error, traceback.extract_tb(trace), import_names), message)


def failure(import_names: "list[str]") -> Failed:
    """Return Failed for the exception that is being handled."""
    _, error, trace = sys.exc_info()
    return failed(error or Failed(), trace, import_names)


def classify(error: BaseException, frames: "Frames", import_names: "list[str]") -> str:
    """Return the outcome that an exception means, from where it was raised and what it is about."""
    after = frames_after_own(frames)
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, SyntaxError):
        return of_source(error.filename or "")
    if forbidden(error):
        return "sandbox_violation"
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError) and not after:
        return "undefined_name"
    if isinstance(error, ImportError):
        return "api_missing" if not_in_library(error, frames, after, import_names) else "import_error"
    if isinstance(error, AttributeError) and all(frame.name in _THROUGH for frame in after):
        refused = any(in_library(frame.filename, import_names) for frame in after)
        return "api_missing" if refused or about_library(error, import_names) else "wrong_exception"
    if isinstance(error, TypeError) and at_the_call(error, frames, after):
        return "signature_mismatch"
    return "failed_assertion" if isinstance(error, AssertionError) else "wrong_exception"


def is_own(filename: str) -> bool:
    """Say whether code of that file name is the case's own."""
    return filename in OWN_FILES or _OWN.match(filename) is not None


def of_source(filename: str) -> str:
    """Return what a SyntaxError means: in the case itself, in a module that was imported, or in text that was given."""
    if is_own(filename):
        return "syntax_error"
    return "import_error" if filename.endswith(".py") else "wrong_exception"


def is_machinery(filename: str) -> bool:
    """Say whether a frame is of the import system."""
    return filename.startswith("<frozen importlib") or filename.endswith("importlib/__init__.py")


def frames_after_own(frames: "Frames") -> "Frames":
    """Return the frames below the last one of the case's own code."""
    own = [index for index, frame in enumerate(frames) if is_own(frame.filename)]
    return frames[own[-1] + 1 :] if own else frames


def forbidden(error: "BaseException | None") -> bool:
    """Say whether an exception, or what led to it, is the sandbox saying no."""
    visited: list[BaseException] = []
    while error is not None and error not in visited:
        if isinstance(error, OSError) and (error.errno in _FORBIDDEN or type(error).__name__ == "gaierror"):
            return True
        if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
            return True
        visited.append(error)
        error = error.__cause__ or error.__context__
    return False


def not_in_library(error: ImportError, frames: "Frames", after: "Frames", import_names: "list[str]") -> bool:
    """Say whether an import of the case's own asks the library for what it does not have."""
    refusals = lookups(import_names)
    passed = [frame for frame in after if not is_machinery(frame.filename)]
    if any(frame.name not in _THROUGH and place_of(frame) not in refusals for frame in passed):
        return False
    if passed and place_of(passed[-1]) in refusals and error.name is None:
        # What led to it may be an import of its own: then something is missing that the name needs.
        return not isinstance(error.__cause__ or error.__context__, ImportError)
    name = error.name
    if name is None and frames:  # Python 3.6 does not say which module lacks the name
        match = re.search(r"from\s+([\w.]+)\s+import", frames[len(frames) - len(after) - 1].line or "")
        name = match.group(1) if match else ""
    return top(name or "") in import_names


def place_of(frame: "traceback.FrameSummary") -> "tuple[str, int | None]":
    """Return the file and line of a frame."""
    return frame.filename, frame.lineno


def lookups(import_names: "list[str]") -> "set[tuple[str, int | None]]":
    """Return file and lines of the functions that modules of the library ask for names they do not have (PEP 562).

    Such a function may have any name, which others of its file may have too, and raise an ImportError of its own:
    `pydantic` 2 has `wrapper`, and says that a name was removed.
    """
    modules = [
        module
        for key, module in list(sys.modules.items())
        if type(key) is str and top(key) in import_names and issubclass(type(module), types.ModuleType)
    ]
    # A module may load itself, or run code, where it is asked for its names in another way.
    functions = [(_NAMES_OF(module) or {}).get("__getattr__") for module in modules]
    codes = [function.__code__ for function in functions if isinstance(function, types.FunctionType)]
    return {(code.co_filename, line) for code in codes for _, line in dis.findlinestarts(code)}


def about_library(error: AttributeError, import_names: "list[str]") -> bool:
    """Say whether an AttributeError is about a module, class or object of the library."""
    module = _MODULE.search(str(error))
    if module:
        return top(module.group("module")) in import_names
    owner = _OWNER.search(str(error))
    target = getattr(error, "obj", None)  # Python 3.10 and newer
    if target is not None:
        classes = [target if isinstance(target, type) else type(target)]
    else:
        classes = classes_named(owner.group("type").split(".")[-1], import_names) if owner else []
    return any(top(base.__module__ or "") in import_names for class_ in classes for base in class_.__mro__)


def in_library(filename: str, import_names: "list[str]") -> bool:
    """Say whether a file is a loaded module of the library, whose `__getattr__` then is what refused the name."""
    owners = [key for key, module in list(sys.modules.items()) if getattr(module, "__file__", None) == filename]
    return any(top(key) in import_names for key in owners)


def classes_named(name: str, import_names: "list[str]") -> "list[type]":
    """Return the classes of that name in the case and in what is loaded of the library."""
    loaded = list(sys.modules.items())
    modules = [
        module
        for key, module in loaded
        if top(key) in import_names or key == "__main__" or getattr(module, "__file__", None) in OWN_FILES
    ]
    values = [vars(module).get(name) for module in modules if isinstance(module, types.ModuleType)]
    return [candidate for candidate in values if isinstance(candidate, type)]


def at_the_call(error: TypeError, frames: "Frames", after: "Frames") -> bool:
    """Say whether a TypeError is about the arguments of a call that stands in the case itself.

    With frames below, the call went through a wrapper: then the function that refuses must be named in the case's line.
    """
    match = _SIGNATURE.search(str(error))
    if not match or not after:
        return bool(match)
    name = (match.group("name") or "").split(".")[-1]
    line = frames[len(frames) - len(after) - 1].line or ""
    return bool(name) and re.search(r"\b" + re.escape(name) + r"\b", line) is not None


def top(name: str) -> str:
    """Return the top-level package of a dotted name."""
    return name.split(".")[0]
