"""setup.py, read and never run: what is handed to `setup`, followed through names, lists, conditions and files."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from posixpath import dirname, join, normpath

from pipeline.api.surface.parse.python2 import modernise
from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.pins.collected import entries, items
from pipeline.corpus.pins.metadata import extra_of
from pipeline.corpus.pins.requirement import both, requirement, specified
from pipeline.corpus.pins.requirements_txt import logical_lines
from pipeline.corpus.pins.statements import PYTHON, FileEntry, Include, refused
from pipeline.corpus.pins.static import Bindings, Bound, bindings_of, called
from pipeline.corpus.pins.strings import text_of

_FILES = (".txt", ".in", ".pip")
_PLACE = re.compile(r"\{\w*\}|%s|%\(\w+\)s")
_WORD = re.compile(r"\w[\w.-]*")
_MAX_DETAIL = 120
_MOST = 1000
"""So many requirements are read of one list; no real one comes near."""


def read(file: str, text: str) -> Iterator[FileEntry]:
    """Yield what a setup.py states; what it computes is a reject that says how."""
    tree = _parse(text)
    if isinstance(tree, SyntaxError):
        yield refused(file, tree.lineno or 1, f"not Python: {tree.msg}")
        return
    bindings = bindings_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) == "setup":
            for key, bound in entries(Bound(node, None), bindings):
                yield from _keyword(file, key, bound, bindings)
            for keyword in node.keywords:
                for key, bound in entries(Bound(keyword.value, None), bindings) if keyword.arg is None else ():
                    yield from _keyword(file, key, bound, bindings)


def _parse(text: str) -> ast.Module | SyntaxError:
    """Parse a script of Python 3, or of Python 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return parse_python(text)
            except SyntaxError:
                return parse_python(modernise(text))
    except SyntaxError as error:
        return error
    except (ValueError, MemoryError) as error:
        return SyntaxError(str(error) or "nested too deeply")


def _keyword(file: str, key: str, bound: Bound, bindings: Bindings) -> Iterator[FileEntry]:
    if key == "python_requires":
        text = text_of(bound.value, bindings)
        if text is not None:
            yield specified(PYTHON, text, file, bound.value.lineno)
        elif not isinstance(bound.value, ast.Constant):
            yield _computed(file, key, bound.value)
    elif key == "extras_require":
        for extra, listed in entries(bound, bindings):
            yield from _listed(file, key, listed, bindings, *extra_of(extra))
    elif key in ("install_requires", "tests_require"):
        yield from _listed(file, key, bound, bindings, None if key == "install_requires" else "tests", None)


def _listed(
    file: str, key: str, bound: Bound, bindings: Bindings, group: str | None, marker: str | None
) -> Iterator[FileEntry]:
    for item in islice(items(bound, bindings), _MOST):
        line = item.value.lineno
        text = text_of(item.value, bindings)
        if text is not None:
            for offset, requirement_text in logical_lines(text):
                number = min(line + offset - 1, item.value.end_lineno or line)
                yield requirement(requirement_text, file, number, group, both(item.condition, marker))
        elif paths := _paths(file, item.value, bindings):
            yield from (Include(path, file, line, group) for path in paths)
        else:
            yield _computed(file, key, item.value)


def _paths(file: str, node: ast.expr, bindings: Bindings) -> list[str]:
    """Return the files that an expression reads, by the names in it, or in the functions that it calls.

    Where a function puts a name together, `"%s.txt" % name`, the words that it is called with stand for it.
    """
    file_names = dict.fromkeys(_names_of_files(node, bindings, set()))
    words = [word for child in ast.walk(node) if (word := _string(child)) and _WORD.fullmatch(word)]
    named: list[str] = []
    for name in file_names:
        put_together = name.startswith(".") or _PLACE.search(name)
        named += [_PLACE.sub(word, name) if _PLACE.search(name) else word + name for word in words if put_together]
        named += [] if put_together else [name]
    longest = [path for path in named if not any(other.endswith(f"/{path}") for other in named)]
    return [normpath(join(dirname(file), path)) for path in longest]


def _names_of_files(node: ast.AST, bindings: Bindings, followed: set[str]) -> list[str]:
    file_names = [name for child in ast.walk(node) if (name := _name_of_file(child))]
    if file_names:
        return [name for name in file_names if not name.startswith(".")] or file_names
    names = dict.fromkeys(
        child.id for child in ast.walk(node) if isinstance(child, ast.Name) and child.id not in followed
    )
    followed.update(names)
    for name in names:
        values = [binding.value for binding in bindings.names.get(name, ())]
        for inner in (bindings.functions.get(name), *values):
            file_names += _names_of_files(inner, bindings, followed) if inner else []
    return file_names


def _name_of_file(node: ast.AST) -> str | None:
    """Return the name of a file of requirements: a string, or what `join` puts together of strings."""
    if isinstance(node, ast.Call) and called(node) == "join":
        name = "/".join(word for argument in node.args if (word := _string(argument)))
    elif isinstance(node, ast.JoinedStr):
        name = "".join(_string(part) or "{}" for part in node.values)
    else:
        name = _string(node) or ""
    return name if name.endswith(_FILES) and not any(sign in name for sign in "\n*") else None


def _string(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _computed(file: str, key: str, node: ast.expr) -> FileEntry:
    source = " ".join(ast.unparse(node).split())
    source = source if len(source) <= _MAX_DETAIL else f"{source[: _MAX_DETAIL - 1]}…"
    return refused(file, node.lineno, f"{key} is computed, and nothing is run: {source}")
