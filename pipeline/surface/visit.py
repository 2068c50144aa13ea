"""One source file, visited by griffe: needs nothing but the file, so equal files need only be visited once."""

from __future__ import annotations

import ast
import importlib.util
import logging
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import griffe

from pipeline.surface.branches import settle_branches
from pipeline.surface.deprecations import decorator_mark, directive_mark, mark_of, warning_mark
from pipeline.surface.exports import (
    answers_unseen,
    binds_dynamically,
    binds_unseen,
    changes_exports_unseen,
    read_exports,
    read_lazy,
    read_parts,
)
from pipeline.surface.fields import read_fields, read_slots
from pipeline.surface.records import UNSEEN_SIGNATURE, Definition, ModuleRecord, Parameter
from pipeline.surface.rules import SurfaceRules
from pipeline.terms import ParameterKind, ParameterSource, SourceKind

_QUOTES = re.compile(r"""^\s*[rRbBuUfF]{0,2}("{3}|'{3}|"|')|\\$""")

_KINDS = {
    griffe.ParameterKind.positional_only: ParameterKind.POSITIONAL_ONLY,
    griffe.ParameterKind.positional_or_keyword: ParameterKind.POSITIONAL_OR_KEYWORD,
    griffe.ParameterKind.var_positional: ParameterKind.VAR_POSITIONAL,
    griffe.ParameterKind.keyword_only: ParameterKind.KEYWORD_ONLY,
    griffe.ParameterKind.var_keyword: ParameterKind.VAR_KEYWORD,
}


# griffe logs an error for each annotation that it cannot resolve; what it could not read is simply not there
logging.getLogger("griffe").setLevel(logging.CRITICAL)


class UnparsedError(ValueError):
    """A source file does not parse; the message has the line and the parser's words."""


class _Nodes(griffe.Extension):
    """Settles branches before the visit, and keeps the syntax node of each object that griffe makes."""

    def __init__(self, rules: SurfaceRules) -> None:
        super().__init__()
        self.rules = rules
        self.tree = ast.Module(body=[], type_ignores=[])
        self.of: dict[int, ast.AST] = {}
        self.stands_for: dict[int, str] = {}
        self.plain: set[int] = set()
        self.exports_unseen = False
        self.binds_unseen = False
        self.text = ""
        self.lines: Sequence[str] = ()

    def on_module_node(self, *, node: ast.AST | griffe.ObjectNode, **_: Any) -> None:
        if isinstance(node, ast.Module):
            # loops are gone once branches are settled
            self.exports_unseen = "__all__" in self.text and changes_exports_unseen(node)
            self.binds_unseen = binds_unseen(node, self.text)
            settle_branches(node, self.rules)
            self.tree = node

    def on_instance(self, *, node: ast.AST | griffe.ObjectNode, obj: griffe.Object, **_: Any) -> None:
        if isinstance(node, ast.AST):
            self.of[id(obj)] = node
        if isinstance(node, ast.FunctionDef) and (other := _stands_for(node)):
            self.stands_for[id(obj)] = other

    def on_alias_instance(self, *, alias: griffe.Alias, node: ast.AST | griffe.ObjectNode, **_: Any) -> None:
        if isinstance(node, ast.Import):
            self.plain.add(id(alias))


def _stands_for(node: ast.FunctionDef) -> str | None:
    """Return the name that a decorator is given, of a function whose own body is `...`."""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    named = (d.args[0] for d in node.decorator_list if isinstance(d, ast.Call) and d.args)
    return None if body else next((name.id for name in named if isinstance(name, ast.Name)), None)


def visit_file(name: str, path: str, content: bytes, rules: SurfaceRules) -> ModuleRecord:
    """Visit one file as the module of that dotted name; `path` is its place from the import root.

    Errors: UnparsedError if the file is not Python 3, or not in the encoding it declares (PEP 263).
    """
    nodes = _Nodes(rules)
    file = Path(path)
    try:
        text = importlib.util.decode_source(content)
        nodes.text, nodes.lines = text, text.splitlines()
        with warnings.catch_warnings():
            # old sources have invalid escapes in strings: the compiler's advice about them is not for us
            warnings.simplefilter("ignore")
            module = griffe.visit(
                name.rpartition(".")[2], file, text, extensions=griffe.Extensions(nodes), parent=_package(name, file)
            )
    except SyntaxError as error:
        raise UnparsedError(f"line {error.lineno or 0}: {error.msg}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UnparsedError(f"line 0: {error}") from None
    return _record(name, path, module, nodes)


def _package(name: str, file: Path) -> griffe.Module | None:
    """Return a chain of empty packages above a module: griffe resolves relative imports through its parents."""
    parent: griffe.Module | None = None
    folder = file.parent.parent if file.stem == "__init__" else file.parent
    segments = name.split(".")[:-1]
    for depth, segment in enumerate(segments):
        above = Path(*folder.parts[: len(folder.parts) - (len(segments) - 1 - depth)], "__init__.py")
        parent = griffe.Module(segment, filepath=above, parent=parent)
    return parent


def _record(name: str, path: str, module: griffe.Module, nodes: _Nodes) -> ModuleRecord:
    docstring, line = _docstring(module, nodes.lines)
    warned = warning_mark(nodes.tree.body, nodes.rules, {"__name__": name})
    is_package = Path(path).stem == "__init__"
    exports = read_exports(nodes.tree)
    if exports is not None and nodes.exports_unseen:
        exports.complete = False
    return ModuleRecord(
        name=name,
        file=path,
        is_package=is_package,
        source=SourceKind.PYI if path.endswith(".pyi") else SourceKind.PY,
        definitions=_members(module, nodes, module.imports),
        stars=[m.target_path for m in module.members.values() if isinstance(m, griffe.Alias) and "/" in m.name],
        parts=read_parts(nodes.tree, name) if is_package else [],
        exports=exports,
        dynamic=binds_dynamically(nodes.tree, nodes.text),
        binds_more=nodes.binds_unseen,
        answers_any=answers_unseen(nodes.tree),
        lazy=read_lazy(nodes.tree, nodes.rules),
        docstring=docstring,
        docstring_line=line,
        deprecation=warned or directive_mark(docstring, nodes.rules),
    )


def _members(owner: griffe.Module | griffe.Class, nodes: _Nodes, imports: dict[str, str]) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for name, member in owner.members.items():
        if "/" not in name:
            found[name] = _definition(member, nodes, imports)
    for name, definition in found.items():
        other = nodes.stands_for.get(id(owner.members[name]))
        if other in found:
            # `@replaced_by(new) def old(): ...` is called like the function that takes its place
            definition.called, definition.returns = found[other].called, found[other].returns
        elif other is not None:
            definition.labels = sorted({*definition.labels, UNSEEN_SIGNATURE})
    for name, overloads in owner.overloads.items():
        # in a stub an overloaded function has no implementation to stand for it
        if overloads and name not in found:
            found[name] = _definition(overloads[0], nodes, imports)
    return found


def _definition(member: griffe.Object | griffe.Alias, nodes: _Nodes, imports: dict[str, str]) -> Definition:
    if isinstance(member, griffe.Alias):
        return Definition(
            member.name,
            "import",
            target=member.target_path,
            runtime=bool(member.runtime),
            plain_import=id(member) in nodes.plain,
        )
    docstring, line = _docstring(member, nodes.lines)
    found = Definition(
        member.name,
        "attribute",
        runtime=member.runtime,
        labels=sorted(member.labels),
        docstring=docstring,
        docstring_line=line,
    )
    node = nodes.of.get(id(member))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.deprecation = mark_of(node, docstring, nodes.rules)
        found.decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    elif isinstance(node, ast.Assign):
        # `old = deprecated(new)` marks as `@deprecated` does
        found.deprecation = decorator_mark([node.value], nodes.rules) or directive_mark(docstring, nodes.rules)
    _fill(found, member, node, nodes, imports)
    return found


def _fill(
    found: Definition, member: griffe.Object, node: ast.AST | None, nodes: _Nodes, imports: dict[str, str]
) -> None:
    if isinstance(member, griffe.Class):
        found.kind = "class"
        found.bases = [str(base) for base in member.bases]
        found.members = _members(member, nodes, imports)
        if isinstance(node, ast.ClassDef):
            read_slots(node, found)
            read_fields(node, found, imports, nodes.rules)
    elif isinstance(member, griffe.Function) and _is_property(found, nodes.rules):
        found.kind = "property"
        found.returns = _written(member.returns)
    elif isinstance(member, griffe.Function):
        found.kind = "function"
        found.called = [_parameter(parameter) for parameter in member.parameters]
        found.returns = _written(member.returns)
    elif isinstance(member, griffe.Attribute):
        found.kind = "property" if "property" in member.labels else "attribute"
        found.returns = _written(member.annotation)
        value = _written(member.value)
        found.value = value[: nodes.rules.value_length] if value is not None else None


def _is_property(found: Definition, rules: SurfaceRules) -> bool:
    """Return whether a decorator makes a property that griffe does not know, or adds a setter to such a one."""
    accessors = {f"{found.name}.{accessor}" for accessor in ("getter", "setter", "deleter")}
    return any(d in accessors or rules.property_decorators.search(d) for d in found.decorators)


def _parameter(parameter: griffe.Parameter) -> Parameter:
    variadic = parameter.kind in {griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword}
    return {
        "name": parameter.name.lstrip("*"),
        "kind": _KINDS[parameter.kind or griffe.ParameterKind.positional_or_keyword],
        # griffe gives `()` and `{}` as defaults of *args and **kwargs
        "default": None if variadic else _written(parameter.default),
        "annotation": _written(parameter.annotation),
        "known_from": ParameterSource.SIGNATURE,
        "deprecation": None,
    }


def _written(expression: str | griffe.Expr | None) -> str | None:
    return None if expression is None else str(expression)


def _docstring(owner: griffe.Object, lines: Sequence[str]) -> tuple[str | None, int]:
    """Return the docstring without its indentation, and the line where its text begins."""
    if owner.docstring is None or not owner.docstring.value.strip():
        return None, 1
    line = owner.docstring.lineno or 1
    # griffe gives the line of the opening quotes; the text may begin further down
    while line < len(lines) and not _QUOTES.sub("", lines[line - 1]).strip():
        line += 1
    # griffe has taken the indentation off, as inspect.cleandoc does; a second time would take off too much
    return owner.docstring.value, line
