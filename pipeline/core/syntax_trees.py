"""Syntax trees in any thread: stand-ins for `ast.parse` and `ast.literal_eval`, which are not safe there.

CPython 3.11.0 to 3.11.7 count the depth of the tree that they make in one place for all threads (gh-106905, solved in
3.11.8). A garbage collection may begin meanwhile; its finalizers are Python code, in which another thread can take over
and parse. The first then raises `SystemError: AST constructor recursion depth mismatch`.

So one thread parses at a time, and no collection begins meanwhile. The lock alone is not enough: libraries parse
without it, and so does the formatting of a traceback. A finalizer below the lock might also wait for a thread that
waits for the lock, as a generator does that was left within its pool of threads.
"""

from __future__ import annotations

import ast
import gc
import os
import threading
from typing import Any, Literal, overload

PARSING = threading.RLock()
"""Held while a thread parses; whoever switches the collector on for all takes it too."""
# A process that is forked meanwhile would have a lock that nobody releases, and no collector.
os.register_at_fork(before=PARSING.acquire, after_in_parent=PARSING.release, after_in_child=PARSING.release)


@overload
def parse_python(source: str | bytes, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse_python(source: str | bytes, mode: Literal["eval"]) -> ast.Expression: ...
@overload
def parse_python(source: str | bytes, mode: Literal["func_type"]) -> ast.FunctionType: ...
def parse_python(source: str | bytes, mode: str = "exec") -> ast.AST:
    """Return the tree of a program, or of what else `mode` names. Errors: those of `ast.parse`."""
    with PARSING:
        enabled = gc.isenabled()
        try:
            if enabled:  # else it might be switched on between the two, and would stay off
                gc.disable()
            return ast.parse(source, mode=mode)
        finally:
            if enabled:
                gc.enable()


def literal_eval(source: str | ast.AST) -> Any:
    """Return the value of a literal, a text or a tree. Errors: those of `ast.literal_eval`."""
    if isinstance(source, str):
        source = parse_python(source.lstrip(" \t"), mode="eval")
    return ast.literal_eval(source)
