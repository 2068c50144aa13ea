"""Sources rewritten so that running them tells which objects each name and each attribute led to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_LEFT_ALONE = frozenset({"super", "__class__", "__debug__"})


@dataclass(frozen=True, slots=True)
class Site:
    """A name or attribute that is read; `end` is the byte after it, `imported` where the file imports it from."""

    name: str
    end: int
    imported: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Rewritten:
    """A source whose reads go through `_t_a_` and `_t_n_`, which get the number of the site; see `use_tracer`."""

    text: str
    sites: list[Site] = field(default_factory=list)


def rewritten(content: bytes, first: int) -> Rewritten | None:
    """Return the source with its sites numbered from `first`, or None where it cannot be traced so."""
    if b"\r" in content or b"\f" in content or content.startswith(b"\xef\xbb\xbf"):
        return None
    try:
        tree = ast.parse(content.decode("utf-8"))
        rewriter = _Rewriter(tree, content, first)
        text = ast.unparse(ast.fix_missing_locations(rewriter.visit(tree)))
        compile(text, "<rewritten>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return Rewritten(text, rewriter.sites)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, content: bytes, first: int) -> None:
        self.first = first
        self.sites: list[Site] = []
        self.starts = [0]
        for line in content.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.imported: dict[str, set[tuple[str, str]]] = {}
        for name, source in _imports(tree):
            self.imported.setdefault(name, set()).add(source)
        # Postponed annotations are not evaluated, and some are read as text.
        self.postponed = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)

    def _site(self, node: ast.Name | ast.Attribute, name: str, read: ast.expr) -> ast.Call:
        end = self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        imported = tuple(sorted(self.imported.get(name, ()))) if isinstance(node, ast.Name) else ()
        self.sites.append(Site(name, end, imported))
        tracer = "_t_a_" if isinstance(node, ast.Attribute) else "_t_n_"
        number = ast.Constant(self.first + len(self.sites) - 1)
        return ast.Call(ast.Name(tracer, ast.Load()), [read, number], [])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        mangled = node.attr.startswith("__") and not node.attr.endswith("__")
        if not isinstance(node.ctx, ast.Load) or mangled:
            return node
        return self._site(node, node.attr, node.value)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in _LEFT_ALONE:
            return node
        return self._site(node, node.id, node)

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        if not self.postponed:
            self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        annotation = node.annotation
        self.generic_visit(node)
        if self.postponed:
            node.annotation = annotation
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns if self.postponed or returns is None else self.visit(returns)
        return node


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name that `from module import name` binds, with the module and the name there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)
