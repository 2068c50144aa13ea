"""Runs statements one by one and writes down what each displays; what is stated of them is not known here."""

import __future__

import ast
import io
import json
import linecache
import sys
import traceback

from .execute import enter_main
from .outcomes import Failed, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARACTERS = 1 << 19  # of all that is printed; what is stated is far shorter
_FEATURES = {name: getattr(__future__, name) for name in __future__.all_feature_names}  # type: dict[str, Any]


def observe_statements(spec: "dict[str, Any]", traced: "Any" = None) -> str:
    """Run statements in one namespace; return, as JSON, what each printed and raised."""
    path, main = enter_main(spec)
    if traced:
        traced.start(path)
    observed, remaining = [], _CHARACTERS
    for index, source in enumerate(spec["statements"]):
        printed, raised = displayed(source, f"<doctest case[{index}]>", main.__dict__, spec["import_names"])
        observed.append({"printed": printed[:remaining], **(raised or {})})
        remaining = max(0, remaining - len(printed))
    return json.dumps(observed)


def displayed(
    source: str, name: str, namespace: "dict[str, Any]", import_names: "list[str]"
) -> "tuple[str, dict[str, str] | None]":
    """Run one statement as at a prompt; return what it printed and, where it raised, what and the outcome of that."""
    source = source.rstrip("\n") + "\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    flags = sum(
        {
            feature.compiler_flag
            for name, feature in _FEATURES.items()
            if name in namespace and namespace[name] is feature
        }
    )
    outer, sys.stdout, sys.displayhook = sys.stdout, io.StringIO(), sys.__displayhook__
    raised = None
    try:
        exec(at_a_prompt(source, name, flags), namespace)  # noqa: S102 - what the sandbox is for
    except BaseException:  # noqa: BLE001 - whatever it is, it is the result
        raised = describe_exception(import_names)
    finally:
        printed, sys.stdout = sys.stdout, outer
    got = printed.getvalue() if isinstance(printed, io.StringIO) else ""
    return (got if not got or got.endswith("\n") else got + "\n"), raised


def at_a_prompt(source: str, name: str, flags: int) -> "Any":
    """Compile statements so that each expression among them displays its value."""
    tree: ast.Module = compile(source, name, "exec", flags | ast.PyCF_ONLY_AST, True)
    return compile(ast.Interactive(tree.body), name, "single", flags, True)


def describe_exception(import_names: "list[str]") -> "dict[str, str]":
    """Return the exception that is being handled, as the last line of a traceback, and what it means."""
    try:
        kind, error, _ = sys.exc_info()
        last, failed = traceback.format_exception_only(kind, error)[-1], failure(import_names)
    except BaseException:  # noqa: BLE001 - of the exception's own methods
        last, failed = "Exception\n", Failed("wrong_exception", "an exception that cannot be shown")
    outcome, message = failed.args
    return {"raised": last, "outcome": outcome, "message": message[-4000:]}
