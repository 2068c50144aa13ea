"""Runs source as a script is run: in a fresh `__main__`, from files of the case's own."""

import __future__

import os
import sys
import tokenize
import types

from .outcomes import OWN_FILES, Failed, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable
    from typing import Any

_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


# Kept here, since code may put something else in their place before its tests are run.
_compile, _exec = compile, exec


def enter_main(spec: "dict[str, Any]") -> "tuple[str, types.ModuleType]":
    """Write the code to a file and run the preamble in a fresh `__main__`; return the path and the module."""
    path = written("case.py", spec["code"])
    main = types.ModuleType("__main__")
    main.__file__, main.__dict__["__builtins__"] = path, sys.modules["builtins"]
    sys.modules["__main__"] = main
    sys.argv = ["case.py"]
    run(as_bytes(spec["preamble"]), "<preamble>", main.__dict__, spec["import_names"])
    return path, main


def run(
    source: "bytes | ast.Module",
    name: str,
    namespace: "dict[str, Any]",
    import_names: "list[str]",
    flags: int = 0,
    ended: "Callable[[BaseException, str], bool] | None" = None,
) -> int:
    """Run source to its end, or until it raises what `ended` takes for one: it left after its own test runners.

    Return the compiler flags of the features that it imported from `__future__`.
    """
    try:
        code: types.CodeType = _compile(source, name, "exec", flags, True)
        _exec(code, namespace)  # what the sandbox is for
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the result
        if not (ended and ended(error, name)):
            raise failure(import_names) from None
    return int(code.co_flags & _FUTURES)


def written(name: str, source: str) -> str:
    """Write source to a file in the scratch folder, as a file of the case's own; return its path."""
    path = os.path.join(os.getcwd(), *name.split("/"))
    OWN_FILES.add(path)
    with open(path, "wb") as file:
        file.write(as_bytes(source))
    return path


def as_bytes(source: str) -> bytes:
    """Return source as the bytes of a file, in the encoding that it declares.

    Errors: Failed as a syntax error, where no file can hold it, or no Python would read it.
    """
    if "\0" in source:
        raise Failed("syntax_error", "SyntaxError: source code cannot contain null bytes")
    try:
        if "coding" not in source[:1000]:
            return source.encode()
        first = [line.encode("utf-8", "replace") + b"\n" for line in source.split("\n", 2)[:2]]
        encoding, _ = tokenize.detect_encoding(iter(first).__next__)
        return source.encode("utf-8" if encoding == "utf-8-sig" else encoding)
    except (SyntaxError, UnicodeError, StopIteration, LookupError) as error:
        # A LookupError is of a codec that encodes no text, such as rot13.
        raise Failed("syntax_error", f"SyntaxError: {error}") from None
