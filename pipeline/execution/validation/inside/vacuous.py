"""Tests that test nothing: statements without effect, functions that never run or name nothing, lost coroutines."""

import ast
import inspect
import sys
import warnings

from .outcomes import OWN_FILES, Failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass, ast.Global)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_WITHOUT_EFFECT = (ast.Compare, ast.Lambda, ast.GeneratorExp)
_COMPARISONS = (ast.Compare, ast.BoolOp)
_RUNS_CODE = (ast.Call, ast.Await, ast.Attribute, ast.Subscript)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

ASSERTED, REACHED = "__driftline_asserted__", "__driftline_reached__"
"""Names that a marked module binds when it comes to an assertion, and to another statement that could fail."""

LOST = []  # type: list[tuple[str, bool]]
"""Coroutines that tests made and never awaited: the name of each, and whether the tests themselves define it."""


def nothing_tested(why: str) -> Failed:
    """Return what a test is that can come out in one way only."""
    return Failed("bad_sample", f"nothing was tested, {why}")


def generator(name: str) -> Failed:
    """Return what a test is whose function makes a generator."""
    return Failed("bad_sample", f"{name} is a generator, whose body nothing runs: leave out `yield`")


def defined_in(tree: ast.Module) -> "set[str]":
    """Return the names of the functions, lambdas and classes that a module defines, also under `if` and `try`."""
    nodes = [*_outside_of_functions(tree)]
    lambdas = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)]
    named = {target.id for node in lambdas for target in node.targets if isinstance(target, ast.Name)}
    return named | {node.name for node in nodes if isinstance(node, _DEFINITIONS[:3])}


def names_read(statement: ast.AST) -> "set[str]":
    """Return the names that a statement itself reads, leaving out bodies of functions and classes."""
    nodes = _outside_of_functions(statement)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _outside_of_functions(root: ast.AST) -> "Iterator[Any]":
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _DEFINITIONS[:3]):
            pending.extend(ast.iter_child_nodes(node))


def has_effect(statement: ast.AST, namespace: "dict[str, Any]") -> bool:
    """Say whether a statement runs something that could fail: not a definition, a constant, or a dropped comparison."""
    if isinstance(statement, _DEFINITIONS):
        return False
    if isinstance(statement, ast.Assert):
        return not isinstance(statement.test, ast.Tuple) and bool(names_read(statement.test))
    if isinstance(statement, ast.Expr):
        value = statement.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return not is_deferred(namespace.get(value.func.id))
        return not isinstance(value, _WITHOUT_EFFECT) and bool(names_read(value))
    if isinstance(statement, _ASSIGNMENTS):
        return any(isinstance(node, _RUNS_CODE) for node in ast.walk(statement.value or ast.Pass()))
    inner = [node for block in _BLOCKS for node in getattr(statement, block, ())]
    return any(has_effect(node, namespace) for node in inner) if inner else True


class Marked(ast.NodeTransformer):
    """Puts a mark before each statement of a module that could fail, so that what never ran is known.

    Functions and classes are left as they are. `if False: assert …` tests nothing, whatever it says.
    """

    def visit(self, node: ast.AST) -> "Any":
        """Return a node, behind its mark where it could fail."""
        if isinstance(node, _DEFINITIONS[:3]):
            return node
        self.generic_visit(node)
        has_blocks = any(getattr(node, block, None) for block in _BLOCKS)
        if not isinstance(node, ast.stmt) or has_blocks or not has_effect(node, {}):
            return node
        mark = ASSERTED if isinstance(node, ast.Assert) else REACHED
        return [ast.fix_missing_locations(ast.copy_location(ast.parse(mark + " = 1").body[0], node)), node]


def parsed(source: "bytes | str") -> "ast.Module | None":
    """Return the tree of tests, or None where running them says what is wrong with them."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def refuse_returned(tree: ast.Module) -> None:
    """Raise Failed for a test that returns a comparison: nobody looks at what a test returns."""
    nodes = [*_outside_of_functions(tree)]
    nodes += [each for node in nodes if isinstance(node, ast.ClassDef) for each in node.body]
    for node in nodes:
        if isinstance(node, _DEFINITIONS[:2]) and node.name.startswith("test"):
            inside = [each for statement in node.body for each in _outside_of_functions(statement)]
            if any(isinstance(each, ast.Return) and isinstance(each.value, _COMPARISONS) for each in inside):
                why = f"{node.name} returns a comparison, which nothing looks at: assert it"
                raise nothing_tested(why)


def is_deferred(function: "Any") -> bool:
    """Say whether calling a function runs nothing of its body."""
    return inspect.iscoroutinefunction(function) or is_generator(function)


def is_generator(function: "Any") -> bool:
    """Say whether a function makes a generator: what calls it as a test never runs its body."""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def is_empty(function: "Any", owner: "Any", has_fixtures: bool) -> bool:
    """Say whether a test function reads no name, as with the body `pass`, and no set-up could test in its place."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    case = getattr(sys.modules.get("unittest"), "TestCase", None)
    if isinstance(owner, type) and isinstance(case, type) and issubclass(owner, case):
        own = [base for base in owner.__mro__ if base not in case.__mro__]
        has_fixtures = any(name in vars(base) for base in own for name in ("setUp", "setUpClass", "asyncSetUp"))
    if code is None or has_fixtures:
        return False
    rewriter = dir(getattr(function, "__globals__", {}).get("@pytest_ar"))  # of the asserts that pytest rewrites
    of_rewriter = {"AssertionError", *(name for name in rewriter if name.startswith("_"))}
    names = [name for name in code.co_names if name not in of_rewriter and not name.startswith("@")]
    return not (names or code.co_freevars or any(inspect.iscode(constant) for constant in code.co_consts))


def watch_coroutines(test_file: str) -> None:
    """Note from now on the case's coroutines that are never awaited, where tests made them; from Python 3.7 on."""
    warn = getattr(warnings, "_warn_unawaited_coroutine", None)
    if warn is None:
        return

    def lost(coroutine: "Any") -> None:
        note_lost(coroutine, test_file)
        warn(coroutine)

    vars(warnings)["_warn_unawaited_coroutine"] = lost
    sys.set_coroutine_origin_tracking_depth(1)


def note_lost(coroutine: "Any", test_file: str) -> None:
    """Note a coroutine that was not awaited, if the tests define it, or made it of a function of the code."""
    of, origin = coroutine.cr_code.co_filename, getattr(coroutine, "cr_origin", None) or ()
    created_in = origin[0][0] if origin else ""
    if of == test_file or (of in OWN_FILES and created_in == test_file):
        LOST.append((coroutine.__name__, of == test_file))


def refuse_lost() -> None:
    """Raise Failed if a coroutine was lost: what it was to test was not tested."""
    if LOST:
        name, of_tests = LOST[0]
        why = f"the coroutine {name} is never awaited: await it, or run it with asyncio.run()"
        raise Failed("bad_sample" if of_tests else "wrong_exception", why)


def note_never_begun(namespace: "dict[str, Any]", test_file: str) -> None:
    """Note the coroutines that a namespace still holds, and nobody began."""
    for value in list(namespace.values()):
        if inspect.iscoroutine(value) and inspect.getcoroutinestate(value) == inspect.CORO_CREATED:
            note_lost(value, test_file)
            value.close()
