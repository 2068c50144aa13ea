"""Statements with stated outputs, run and compared as doctest does."""

import doctest
import io
import linecache
import re
import sys
import traceback

from .outcomes import Failed, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNICODE_PREFIX = re.compile(r"(?<!\w)u(?=['\"])")


def run_checks(spec: "dict[str, Any]", namespace: "dict[str, Any]") -> None:
    """Run statements in one namespace: displayed values, stated outputs and tracebacks."""
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


def flags_of(options: "list[str]") -> int:
    """Return the sum of doctest's flags of these names; names that this Python does not know count nothing."""
    return sum({doctest.OPTIONFLAGS_BY_NAME.get(option, 0) for option in options})


def displayed(
    source: str, name: str, flags: int, namespace: "dict[str, Any]", import_names: "list[str]"
) -> "tuple[str, tuple[str, Failed] | None]":
    """Run one statement; return what it printed and, where it raised, (type and message, Failed)."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    outer, sys.stdout, sys.displayhook = sys.stdout, io.StringIO(), sys.__displayhook__
    raised = None
    try:
        exec(compile(source, name, "single", flags, True), namespace)  # noqa: S102 - what the sandbox is for
    except BaseException:  # noqa: BLE001 - whatever it is, it is the result
        kind, error, _ = sys.exc_info()
        raised = (traceback.format_exception_only(kind, error)[-1], failure(import_names))
    finally:
        printed, sys.stdout = sys.stdout, outer
    got = printed.getvalue() if isinstance(printed, io.StringIO) else ""
    return (got if not got or got.endswith("\n") else got + "\n"), raised


def judge(expected: "str | None", flags: int, got: str, raised: "tuple[str, Failed] | None") -> None:
    """Raise Failed unless output or exception are as stated; where nothing is stated, any output will do."""
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
