"""Names in a piece of code: what its statements bind, and what they take for granted."""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
import warnings
from collections.abc import Iterator

from pipeline.core.syntax_trees import parse_python

_ALWAYS_THERE = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__"}


def syntax_error(code: str) -> str | None:
    """Return why a program is no Python 3 that could run, with the line, or None where it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "<example>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def parse(code: str) -> list[ast.stmt] | None:
    """Return the statements of a program, or None where it is no Python 3 that could run."""
    return None if syntax_error(code) else parse_python(code).body


def bound_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds in the scope where it stands."""
    return {symbol.get_name() for symbol in _table(statement).get_symbols() if _binds(symbol)}


@functools.lru_cache(4096)
def bound_names(code: str) -> frozenset[str]:
    """Return the names that the statements of a program bind; none where it does not parse."""
    return frozenset(name for statement in parse(code) or () for name in bound_by(statement))


def needed_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement needs the moment it runs, those that it binds itself first left out."""
    table = _table(statement)
    needed = {s.get_name() for s in table.get_symbols() if s.is_referenced() and not _binds(s)}
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        needed |= _loaded(statement)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        needed.add(statement.target.id)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for part in _evaluated_before(statement):
            needed |= _loaded(part)
    if isinstance(statement, ast.ClassDef):
        # A method may have the name of its decorator: the body takes that from outside, and binds it then.
        bound: set[str] = set()
        for inner in statement.body:
            needed |= needed_by(inner) - bound
            bound |= bound_by(inner)
    return needed - _ALWAYS_THERE


def needed_later_by(statement: ast.stmt) -> set[str]:
    """Return the global names that functions and other inner scopes of a statement need when they run."""
    inner = (symbol for table in _inner(_table(statement)) for symbol in table.get_symbols())
    return {symbol.get_name() for symbol in inner if symbol.is_global() and symbol.is_referenced()} - _ALWAYS_THERE


def outer_names(code: str) -> set[str]:
    """Return the names that a piece of a file takes from the file: none of its statements binds them at its top level.

    Unlike `free_names` this does not follow the order of statements and does not parse them one by one, which for
    whole files would cost more than everything else. Builtins are among them, since a file may hide them. A piece that
    does not compile takes none.
    """
    try:
        table = symtable.symtable(code, "<piece>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return set()
    used = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and not _binds(symbol)}
    bound = {symbol.get_name() for symbol in table.get_symbols() if _binds(symbol)}
    inner = (symbol for child in _inner(table) for symbol in child.get_symbols())
    used |= {s.get_name() for s in inner if s.is_global() and s.is_referenced() and s.get_name() not in bound}
    return used


def free_names(code: str) -> list[str]:
    """Return the names that a program uses and nothing in it defines, sorted; builtins are defined.

    Statements count in order: a name that is used before the program binds it is free. Bodies of functions run
    later, so that any binding of the program will do for them. A program that does not parse has none.
    """
    free: set[str] = set()
    later: set[str] = set()
    bound: set[str] = set()
    for statement in parse(code) or ():
        free |= needed_by(statement) - bound
        later |= needed_later_by(statement)
        bound |= bound_by(statement)
    return sorted(free | (later - bound))


def _evaluated_before(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.expr]:
    """Yield the parts of a definition that are evaluated before it binds its name."""
    yield from definition.decorator_list
    if isinstance(definition, ast.ClassDef):
        yield from (*definition.bases, *(keyword.value for keyword in definition.keywords))
    else:
        yield from (*definition.args.defaults, *(each for each in definition.args.kw_defaults if each is not None))


def _loaded(part: ast.AST) -> set[str]:
    """Return the names loaded at the level of the part itself, not inside a lambda or comprehension."""
    names: set[str] = set()
    stack: list[ast.AST] = [part]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(ast.iter_child_nodes(node))
    return names


def _binds(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported()


def _table(statement: ast.stmt) -> symtable.SymbolTable:
    """Return the names of a statement; of one that nests too deep to be written out, none."""
    try:
        text = ast.unparse(statement)
    except RecursionError:
        text = ""
    return symtable.symtable(text, "<example>", "exec")


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner(child)
