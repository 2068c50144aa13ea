"""One source file, visited by griffe: needs nothing but the file, so equal files need only be visited once."""

from __future__ import annotations

import ast
import importlib.util
import logging
import warnings
from pathlib import Path
from typing import Any

import griffe

from pipeline.surface.bodies import Bodies, without_bodies
from pipeline.surface.branches import settle_branches
from pipeline.surface.conditional import conditional_statements
from pipeline.surface.definitions import Visited, read_docstring, read_members
from pipeline.surface.deprecations import directive_mark, warning_mark
from pipeline.surface.directive_rules import DirectiveRules
from pipeline.surface.exports import (
    answers_unseen,
    binds_dynamically,
    binds_unseen,
    changes_exports_unseen,
    read_exports,
    read_lazy,
    read_parts,
)
from pipeline.surface.helpers import HelperRules
from pipeline.surface.records import ModuleRecord
from pipeline.surface.rules import SurfaceRules
from pipeline.surface.sketches import line_hashes
from pipeline.terms import SourceKind

# griffe logs an error for each annotation that it cannot resolve; what it could not read is simply not there
logging.getLogger("griffe").setLevel(logging.CRITICAL)


class UnparsedError(ValueError):
    """A source file does not parse; the message has the line and the parser's words."""


class _Hooks(griffe.Extensions):
    """Settles branches before the visit, and keeps the syntax node of each object that griffe makes.

    Called by griffe for each of its events, as an extension would be, but without asking for what is not there.
    """

    def __init__(self, file: Visited) -> None:
        super().__init__()
        self.file = file
        self.tree = ast.Module(body=[], type_ignores=[])
        self.binds_unseen = False
        # an object that griffe replaces must stay, or another one could have its `id`
        self.made: list[griffe.Object | griffe.Alias] = []

    def call(self, event: str, **kwargs: Any) -> None:
        """Take what griffe says of an event."""
        match event:
            case "on_instance":
                self._keep(kwargs["node"], kwargs["obj"])
            case "on_alias_instance":
                self._keep_import(kwargs["node"], kwargs["alias"])
            case "on_module_node":
                self.tree = kwargs["node"]
                # loops are gone once branches are settled
                self.binds_unseen = binds_unseen(self.tree, self.file.bodies)
                settle_branches(self.tree, self.file.rules)
                self.file.conditional = conditional_statements(self.tree, self.file.rules)

    def _keep(self, node: ast.AST, made: griffe.Object) -> None:
        self.made.append(made)
        self.file.nodes[id(made)] = node
        if id(node) in self.file.conditional:
            self.file.conditional.add(id(made))
        if isinstance(node, ast.FunctionDef) and node.decorator_list and (other := _stands_for(node, self.file.bodies)):
            self.file.stands_for[id(made)] = other

    def _keep_import(self, node: ast.AST, made: griffe.Alias) -> None:
        self.made.append(made)
        if isinstance(node, ast.Import):
            self.file.plain_imports.add(id(made))
        if id(node) in self.file.conditional:
            self.file.conditional.add(id(made))


class _Visitor(griffe.Visitor):
    """griffe's visitor, which does not walk expressions: they bind no names."""

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt | ast.Module | ast.ExceptHandler | ast.match_case):
            super().visit(node)


def _stands_for(node: ast.FunctionDef, bodies: Bodies) -> str | None:
    """Return the name that a decorator is given, of a function whose own body is `...`."""
    named = (d.args[0] for d in node.decorator_list if isinstance(d, ast.Call) and d.args)
    name = next((name.id for name in named if isinstance(name, ast.Name)), None)
    return name if name and bodies.is_empty(node) else None


def visit_file(
    name: str,
    path: str,
    content: bytes,
    rules: SurfaceRules,
    helpers: HelperRules | None = None,
    directives: DirectiveRules | None = None,
) -> ModuleRecord:
    """Visit one file as the module of that dotted name; `path` is its place from the import root.

    With `helpers` the decorators that they mean change what a function can be called with; with `directives` a
    parameter is deprecated if the docstring says so under it.

    Errors: UnparsedError if the file is not Python 3, or not in the encoding it declares (PEP 263).
    """
    try:
        text = importlib.util.decode_source(content)
        with warnings.catch_warnings():
            # old sources have invalid escapes in strings: the compiler's advice about them is not for us
            warnings.simplefilter("ignore")
            file = Visited(rules, helpers, Bodies(text), line_hashes(content), directives)
            return _record(name, path, text, file)
    except SyntaxError as error:
        raise UnparsedError(f"line {error.lineno or 0}: {error.msg}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UnparsedError(f"line 0: {error}") from None


def _record(name: str, path: str, text: str, file: Visited) -> ModuleRecord:
    rules = file.rules
    hooks = _Hooks(file)
    module = _visit(name, Path(path), text, hooks)
    docstring, line = read_docstring(module, file.bodies.lines)
    warned = warning_mark(hooks.tree.body, rules, {"__name__": name})
    is_package = Path(path).stem == "__init__"
    exports = read_exports(hooks.tree)
    if exports is not None and changes_exports_unseen(text):
        exports.complete = False
    return ModuleRecord(
        name=name,
        file=path,
        is_package=is_package,
        source=SourceKind.PYI if path.endswith(".pyi") else SourceKind.PY,
        definitions=read_members(module, file, module.imports),
        stars=[m.target_path for m in module.members.values() if isinstance(m, griffe.Alias) and "/" in m.name],
        parts=read_parts(hooks.tree, name) if is_package else [],
        exports=exports,
        dynamic=binds_dynamically(hooks.tree, file.bodies),
        binds_more=hooks.binds_unseen,
        answers_any=answers_unseen(hooks.tree, file.bodies),
        lazy=read_lazy(hooks.tree, file.bodies, rules),
        docstring=docstring,
        docstring_line=line,
        deprecation=warned or directive_mark(docstring, rules),
    )


def _visit(name: str, file: Path, text: str, hooks: _Hooks) -> griffe.Module:
    """Let griffe visit a source without the bodies of its functions, or all of it where the rest does not parse."""
    last, parent = name.rpartition(".")[2], _package(name, file)
    pruned = without_bodies(text)
    try:
        return _Visitor(last, file, pruned, hooks, parent).get_module()
    except SyntaxError:
        if pruned is text:
            raise
        return _Visitor(last, file, text, hooks, parent).get_module()


def _package(name: str, file: Path) -> griffe.Module | None:
    """Return a chain of empty packages above a module: griffe resolves relative imports through its parents."""
    parent: griffe.Module | None = None
    folder = file.parent.parent if file.stem == "__init__" else file.parent
    segments = name.split(".")[:-1]
    for depth, segment in enumerate(segments):
        above = Path(*folder.parts[: len(folder.parts) - (len(segments) - 1 - depth)], "__init__.py")
        parent = griffe.Module(segment, filepath=above, parent=parent)
    return parent
