"""Runs one case inside the sandbox; a file of its own, for Python 3.6 and newer.

It reads `.case.json` in its folder and reports on standard output: `started`, and at the end the result behind the
nonce, which lies unread on standard input until then. A program that leaves early, by
`os._exit(0)` for example, has no report and so does not pass.
"""

import errno
import io
import json
import linecache
import os
import random
import re
import sys
import traceback
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Frames = list[traceback.FrameSummary]

_OWN = re.compile(r"<(doctest )?case(\[\d+\])?>|<preamble>|<test>")
_MACHINERY = re.compile(r"^<frozen importlib|importlib/__init__\.py$")
_THROUGH = ("__getattr__", "__getattribute__")
_OWNER = re.compile(r"(?:type object )?'(?P<type>[\w.]+)'(?: object)? has no attribute")
_MODULE = re.compile(r"module '(?P<module>[\w.]+)' has no attribute")
_SIGNATURE = re.compile(
    r"(?P<name>[\w.<>]+)?(?:\(\))? ?(?:got an unexpected keyword argument|got multiple values for|missing \d+ required"
    r"|takes \w+ (?:positional |keyword )?arguments?|takes (?:from|at most|at least|exactly) \d+|expected at \w+ \d+"
    r"|got some positional-only|takes no|expected \d+ arguments?)|missing a required (?:keyword-only )?argument"
    r"|too many positional arguments|is an invalid keyword argument|missing required argument"
)
_FORBIDDEN = (errno.EPERM, errno.EROFS, errno.ENETUNREACH, errno.ENOSPC, errno.EFBIG)
_UNICODE_PREFIX = re.compile(r"(?<!\w)u(?=['\"])")


class Failed(Exception):
    """The case did not pass: outcome and message."""


def classify(error: BaseException, frames: "Frames", import_names: "list[str]") -> str:
    """Return the outcome that an exception means, from where it was raised and what it is about."""
    after = frames_after_own(frames)
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, SyntaxError):
        own = _OWN.match(error.filename or "")
        return "syntax_error" if own else "import_error"
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


def frames_after_own(frames: "Frames") -> "Frames":
    """Return the frames below the last one of the case's own code."""
    own = [index for index, frame in enumerate(frames) if _OWN.match(frame.filename)]
    return frames[own[-1] + 1 :] if own else frames


def forbidden(error: "BaseException | None") -> bool:
    """Say whether an exception, or what led to it, is the sandbox saying no."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if isinstance(error, OSError) and (error.errno in _FORBIDDEN or type(error).__name__ == "gaierror"):
            return True
        if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def not_in_library(error: ImportError, frames: "Frames", after: "Frames", import_names: "list[str]") -> bool:
    """Say whether an import of the case's own asks the library for what it does not have."""
    for frame in after:
        is_machinery = frame.filename.startswith("<frozen importlib") or frame.filename.endswith(
            "importlib/__init__.py"
        )
        if not is_machinery and frame.name not in _THROUGH:
            return False
    name = error.name
    if name is None and frames:  # Python 3.6 does not say which module lacks the name
        found = re.search(r"from\s+([\w.]+)\s+import", frames[len(frames) - len(after) - 1].line or "")
        name = found.group(1) if found else ""
    return top(name or "") in import_names


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
    return any(top(base.__module__ or "") in import_names for found in classes for base in found.__mro__)


def in_library(filename: str, import_names: "list[str]") -> bool:
    """Say whether a file is a loaded module of the library, whose `__getattr__` then is what refused the name."""
    owners = [key for key, module in list(sys.modules.items()) if getattr(module, "__file__", None) == filename]
    return any(top(key) in import_names for key in owners)


def classes_named(name: str, import_names: "list[str]") -> "list[type]":
    """Return the classes of that name in the case and in what is loaded of the library."""
    modules = [module for key, module in list(sys.modules.items()) if top(key) in import_names or key == "__main__"]
    found = [vars(module).get(name) for module in modules if isinstance(module, types.ModuleType)]
    return [candidate for candidate in found if isinstance(candidate, type)]


def at_the_call(error: TypeError, frames: "Frames", after: "Frames") -> bool:
    """Say whether a TypeError is about the arguments of a call that stands in the case itself.

    With frames below, the call went through a wrapper: then the function that refuses must be named in the case's line.
    """
    found = _SIGNATURE.search(str(error))
    if not found or not after:
        return bool(found)
    name = (found.group("name") or "").split(".")[-1]
    line = frames[len(frames) - len(after) - 1].line or ""
    return bool(name) and re.search(r"\b" + re.escape(name) + r"\b", line) is not None


def top(name: str) -> str:
    """Return the top-level package of a dotted name."""
    return name.split(".")[0]


def failure(import_names: "list[str]") -> Failed:
    """Return Failed for the exception that is being handled."""
    kind, error, trace = sys.exc_info()
    message = "".join(traceback.format_exception_only(kind, error)).strip()
    return Failed(classify(error or Failed(), traceback.extract_tb(trace), import_names), message)


def compiled(source: str, name: str, mode: str, flags: int = 0) -> types.CodeType:
    """Compile code of the case, and let tracebacks and inspect find its lines."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    code: types.CodeType = compile(source, name, mode, flags, True)
    return code


def run_program(source: str, name: str, namespace: "dict[str, Any]", import_names: "list[str]") -> None:
    """Run the code to its end; leaving by SystemExit is not the end."""
    try:
        exec(compiled(source, name, "exec"), namespace)  # noqa: S102 - what the sandbox is for
    except BaseException:  # noqa: BLE001 - whatever it is, it is the result
        raise failure(import_names) from None


def run_checks(spec: "dict[str, Any]", namespace: "dict[str, Any]") -> None:
    """Run statements as doctest does: displayed values, stated outputs and tracebacks, in one namespace."""
    import doctest

    def flags_of(options: "list[str]") -> int:
        return sum({doctest.OPTIONFLAGS_BY_NAME.get(option, 0) for option in options})

    doctest.register_optionflag("ALLOW_UNICODE")
    ran = 0
    for index, check in enumerate(spec["checks"]):
        flags = flags_of(spec["options"] + check["options"])
        if flags & doctest.SKIP:
            continue
        ran += 1
        source = check["statement"].rstrip("\n") + "\n"
        future = doctest._extract_future_flags(namespace)  # type: ignore[attr-defined]
        got, raised = displayed(source, f"<doctest case[{index}]>", future, namespace, spec["import_names"])
        judge(check["expected"], flags, got, raised)
    if not ran:
        raise Failed("harness_error", "every statement is marked SKIP")


def displayed(
    source: str, name: str, flags: int, namespace: "dict[str, Any]", import_names: "list[str]"
) -> "tuple[str, tuple[str, Failed] | None]":
    """Run one statement; return what it printed and, where it raised, (type and message, Failed)."""
    outer, sys.stdout, sys.displayhook = sys.stdout, io.StringIO(), sys.__displayhook__
    raised = None
    try:
        exec(compiled(source, name, "single", flags), namespace)  # noqa: S102 - what the sandbox is for
    except BaseException:  # noqa: BLE001 - whatever it is, it is the result
        kind, error, _ = sys.exc_info()
        raised = (traceback.format_exception_only(kind, error)[-1], failure(import_names))
    finally:
        printed, sys.stdout = sys.stdout, outer
    got = printed.getvalue() if isinstance(printed, io.StringIO) else ""
    return (got if not got or got.endswith("\n") else got + "\n"), raised


def judge(expected: "str | None", flags: int, got: str, raised: "tuple[str, Failed] | None") -> None:
    """Raise Failed unless output or exception are as stated; where nothing is stated, any output will do."""
    import doctest

    checker = doctest.OutputChecker()
    want = "" if expected is None else expected.rstrip("\n") + "\n"
    stated = doctest.DocTestParser._EXCEPTION_RE.match(want)  # type: ignore[attr-defined]
    if raised is None:
        wants = [want]
        if flags & doctest.OPTIONFLAGS_BY_NAME["ALLOW_UNICODE"]:
            wants.append(_UNICODE_PREFIX.sub("", want))
        if expected is None or any(checker.check_output(text, got, flags) for text in wants):
            return
        raise Failed("failed_assertion", f"expected: {want.strip()}\ngot: {got.strip()}")
    message, failed = raised
    if stated is None:
        raise failed
    if checker.check_output(stated.group("msg"), message, flags):
        return
    bare = doctest._strip_exception_details  # type: ignore[attr-defined]
    same_type = bare(stated.group("msg")) == bare(message)
    if flags & doctest.IGNORE_EXCEPTION_DETAIL and same_type:
        return
    if same_type:
        raise Failed("failed_assertion", f"expected: {stated.group('msg').strip()}\ngot: {message.strip()}")
    raise failed


def run_case(spec: "dict[str, Any]") -> "dict[str, Any]":
    """Run preamble and case in a fresh `__main__`; return the result."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    namespace = main.__dict__
    random.seed(0)
    try:
        run_program(spec["preamble"], "<preamble>", namespace, spec["import_names"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        if spec["checks"]:
            run_checks(spec, namespace)
        else:
            run_program(spec["code"], "<case>", namespace, spec["import_names"])
            run_program(spec["test"] or "", "<test>", namespace, spec["import_names"])
    except Failed as failed:
        outcome, message = failed.args
        return {"outcome": outcome, "message": message[-4000:]}
    return {"outcome": "passed", "message": ""}


def peak_memory() -> "int | None":
    """Return the peak resident bytes of this process; its rusage would count the process that started it."""
    with open("/proc/self/status") as status:  # noqa: PTH123 - a file of the kernel, not worth importing pathlib
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), None)


def main() -> None:
    """Keep the channels to ourselves, run what `.case.json` asks for, and sign the report."""
    nonce_from, report_to, home = os.dup(0), os.dup(1), os.getpid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def report(what: object, sign: bytes = b"") -> None:
        os.write(report_to, sign + json.dumps(what).encode() + b"\n")

    with open(".case.json") as file:  # noqa: PTH123 - pathlib is not loaded in every case, and need not be
        spec = json.load(file)
    sys.argv, sys.path[0] = ["case.py"], ""
    report("started")
    result = run_case(spec)
    if os.getpid() == home:  # a child that the case forked and that ran on to here has nothing to say
        result["peak"] = peak_memory()
        report(result, os.read(nonce_from, 64))
    os._exit(0)


if __name__ == "__main__":
    main()
