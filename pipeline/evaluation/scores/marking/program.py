"""Runs statements of an answer so that each use of a required name is noted.

It runs in the process of the answer, which gets it as text: no module of this package is there, and any Python may run
it.
"""

import __future__

import ast
import builtins
import json  # noqa: F401 - the call of `install` that follows this text reads its arguments by it
import linecache
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RUN, MARK, CONCLUDE = "__driftline_run__", "__driftline_mark__", "__driftline_conclude__"
"""Built-in functions: one runs a statement, one stands where a name is used, one raises what was never used."""

_FEATURES = {name: getattr(__future__, name) for name in __future__.all_feature_names}  # type: dict[str, Any]
_UNMARKED = ("annotation", "returns", "type_params", "pattern")
"""Fields of nodes where no call may stand in the place of a name, or where the text of an annotation would change."""


class Marker(ast.NodeTransformer):
    """Puts each use of a name into a call that notes it; places, and so the lines of tracebacks, stay the same.

    `reads` has the required names by the identifier that is read for them; `attributes`, `parameters` and `imports` are
    names as such. Of `lines`, the first and the last, others are not looked at.
    """

    def __init__(self, names: "dict[str, Any]") -> None:
        self.reads = names["reads"]  # type: dict[str, list[str]]
        self.attributes, self.parameters, self.imports = names["attributes"], names["parameters"], names["imports"]
        self.first, self.last = names["lines"] or (0, sys.maxsize)  # type: int, int
        self.of_statement = set()  # type: set[str]

    def visit(self, node: "Any") -> "Any":
        """Mark a node; a name that cannot be marked where it stands is noted beside its statement."""
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        outer, self.of_statement = self.of_statement, set()
        marked = super().visit(node)
        names, self.of_statement = self.of_statement, outer
        if not names:
            return marked
        beside = ast.copy_location(ast.Expr(self.marked(ast.copy_location(ast.Constant(None), node), names)), node)
        # An import counts when it came to its end; other statements may leave before that, by a return.
        return [marked, beside] if isinstance(node, (ast.Import, ast.ImportFrom)) else [beside, marked]

    def generic_visit(self, node: "Any") -> "Any":
        """Mark what is within a node, but for annotations, patterns and parameters of types."""
        aside = {}
        for field in _UNMARKED:
            part = getattr(node, field, None)
            if part:
                aside[field] = part
                for each in part if isinstance(part, list) else [part]:
                    for inner in ast.walk(each):
                        self.of_statement.update(self.names_of(inner))
                setattr(node, field, [] if isinstance(part, list) else None)
        marked = super().generic_visit(node)
        for field, part in aside.items():
            setattr(node, field, part)
        return marked

    def names_of(self, node: "Any") -> "list[str]":
        """Return the required names for which a node stands by itself."""
        if not self.first <= getattr(node, "lineno", self.first) <= self.last:
            return []
        if isinstance(node, ast.Name):
            return self.reads.get(node.id, []) if isinstance(node.ctx, ast.Load) else []
        if isinstance(node, ast.Attribute):
            return [node.attr] if node.attr in self.attributes else []
        return []

    def visit_Name(self, node: "Any") -> "Any":
        """Mark a name that is read."""
        return self.marked(node, self.names_of(node))

    def visit_Attribute(self, node: "Any") -> "Any":
        """Mark an attribute."""
        names, node = self.names_of(node), self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return self.marked(node, names)
        self.of_statement.update(names)
        return node

    def visit_keyword(self, node: "Any") -> "Any":
        """Mark the value of an argument that is given by name."""
        node = self.generic_visit(node)
        node.value = self.parameter(node.value, node.arg)
        return node

    def visit_Dict(self, node: "Any") -> "Any":
        """Mark the keys of a dictionary, which a call may unpack."""
        node = self.generic_visit(node)
        # Before Python 3.8 a text is no Constant.
        node.keys = [self.parameter(key, getattr(key, "value", getattr(key, "s", None))) for key in node.keys]
        return node

    def visit_Import(self, node: "Any") -> "Any":
        """Note what is imported."""
        return self.imported(node, "")

    def visit_ImportFrom(self, node: "Any") -> "Any":
        """Note what is imported from a module."""
        return self.imported(node, node.module or "")

    def imported(self, node: "Any", module: str) -> "Any":
        """Note the names of an import."""
        if self.first <= node.lineno <= self.last:
            for alias in node.names:
                names = set((module + "." + alias.name).split("."))
                self.of_statement.update(names & set(self.attributes if alias.name == "*" else self.imports))
        return node

    def parameter(self, node: "Any", name: "Any") -> "Any":
        """Mark a node that stands for a parameter of that name."""
        is_named = isinstance(name, str) and name in self.parameters and self.first <= node.lineno <= self.last
        return self.marked(node, [name] if is_named else [])

    def marked(self, node: "Any", names: "Any") -> "Any":
        """Return a node in a call that notes names, if there are any."""
        if not names:
            return node
        text = ast.copy_location(ast.Constant(" ".join(sorted(names))), node)
        return ast.copy_location(ast.Call(ast.Name(MARK, ast.Load()), [node, text], []), node)


def install(required: "list[str]", names: "dict[str, Any]") -> None:
    """Make the built-in functions. An answer that looks for them can forge its marks, as it can forge its end."""
    missing, marker = set(required), Marker(names)

    def mark(value: "Any", names: str) -> "Any":
        missing.difference_update(names.split())
        return value

    def run(source: str) -> None:
        caller = sys._getframe(1)
        namespace, name = caller.f_globals, caller.f_code.co_filename
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        flags = sum(each.compiler_flag for key, each in _FEATURES.items() if namespace.get(key, 0) is each)
        tree = compile(source, name, "exec", flags | ast.PyCF_ONLY_AST, True)  # type: Any
        body = ast.fix_missing_locations(marker.visit(tree)).body
        exec(compile(ast.Interactive(body), name, "single", flags, True), namespace)  # noqa: S102 - it is sandboxed

    def conclude() -> None:
        if missing:
            raise AssertionError("the answer does not come to use " + ", ".join(sorted(missing)))

    for name, function in ((RUN, run), (MARK, mark), (CONCLUDE, conclude)):
        setattr(builtins, name, function)
