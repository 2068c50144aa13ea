"""The test suite of a source distribution: its modules, and where the imports in them lead."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname, join

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.source_text import source_text

_ROOTS = ("", "src/", "lib/", "python/")
_COMPOUND = ast.If | ast.Try | ast.With | ast.For | ast.While


class Unparsed(Exception):
    """A file of the suite is no Python 3; the message says where."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A statement of a module's top level that binds a name; of an import the alias that does."""

    statement: ast.stmt
    alias: ast.alias | None = None
    imported: ast.Import | ast.ImportFrom | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A name of a module of the suite; without a name, the module itself."""

    module: SuiteModule
    name: str | None


class SuiteModule:
    """A parsed file of the suite; columns are counted in bytes of UTF-8, as `ast` does."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.data = text.encode()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = parse_python(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            raise Unparsed(f"line {line}: {getattr(error, 'msg', None) or error}") from None
        self.starts = [0]
        for line in self.data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.bindings: dict[str, list[Binding]] = defaultdict(list)
        self.stars: list[ast.ImportFrom] = []
        self.mutations: dict[str, list[ast.stmt]] = defaultdict(list)
        for statement in self.tree.body:
            self._note(statement, statement)
            self._note_mutations(statement)

    def offset(self, line: int, column: int) -> int:
        """Return the byte at which a place of `ast` lies."""
        return self.starts[line - 1] + column

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        """Return the first byte of a node, its decorators included, and the byte after the last."""
        first = min([node, *getattr(node, "decorator_list", ())], key=lambda each: each.lineno)
        start = self.offset(first.lineno, first.col_offset)
        if first is not node:
            start = self.data.rindex(b"@", 0, start)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def text(self, node: ast.stmt | ast.expr) -> str:
        """Return the source of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def _note(self, node: ast.stmt, top: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    if alias.name == "*" and isinstance(node, ast.ImportFrom):
                        self.stars.append(node)
                    else:
                        name = alias.asname or alias.name.partition(".")[0]
                        self.bindings[name].append(Binding(top, alias, node))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.bindings[node.name].append(Binding(top))
            case _:
                for name in _stored(node):
                    self.bindings[name].append(Binding(top))
                for child in ast.iter_child_nodes(node) if isinstance(node, _COMPOUND) else ():
                    self._note_inside(child, top)

    def _note_inside(self, node: ast.AST, top: ast.stmt) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._note(node, top)
        elif isinstance(node, _COMPOUND | ast.ExceptHandler):
            for child in ast.iter_child_nodes(node):
                self._note_inside(child, top)

    def _note_mutations(self, statement: ast.stmt) -> None:
        """Note what changes an object that a name of the module holds: `table["x"] = 1`, `parser.add_option(…)`."""
        held: list[ast.expr]
        match statement:
            case ast.Assign(targets=targets):
                held = [target for target in targets if isinstance(target, ast.Attribute | ast.Subscript)]
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target):
                held = [target]
            case ast.Expr(value=ast.Call(func=ast.Attribute() as function)):
                held = [function]
            case ast.FunctionDef() | ast.ClassDef():
                held = [each for each in statement.decorator_list if isinstance(_bare(each), ast.Attribute)]
            case _:
                held = []
        for node in held:
            if root := root_name(node):
                self.mutations[root].append(statement)


class Suite:
    """The files of a source distribution, as its tests import them; a module that was parsed once is kept.

    `import_names` are the top-level packages of the library. Errors of `module`: Unparsed.
    """

    def __init__(self, files: Mapping[str, bytes], import_names: Collection[str], rules: OwnTestRules) -> None:
        self.files = files
        self.rules = rules
        self.roots = frozenset(name.partition(".")[0] for name in import_names)
        self._modules: dict[str, SuiteModule | Unparsed] = {}

    @cached_property
    def test_files(self) -> list[str]:
        """The files in which pytest finds tests."""
        return sorted(path for path in self.files if self.rules.holds_tests(path))

    def module(self, path: str) -> SuiteModule:
        """Return a parsed file."""
        if path not in self._modules:
            text = source_text(self.files[path])
            try:
                self._modules[path] = SuiteModule(path, text) if text is not None else Unparsed("no text")
            except Unparsed as error:
                self._modules[path] = error
        parsed = self._modules[path]
        if isinstance(parsed, Unparsed):
            raise parsed
        return parsed

    def conftests(self, path: str) -> Iterator[SuiteModule]:
        """Yield the conftest modules that pytest reads for a file, the nearest first."""
        folder = dirname(path)
        while True:
            if (conftest := join(folder, "conftest.py")) in self.files and conftest != path:
                yield self.module(conftest)
            if not folder:
                return
            folder = dirname(folder)

    def absolute(self, module: SuiteModule, node: ast.ImportFrom) -> str:
        """Return the dotted module that an import names, a relative one by the folder of its file."""
        if not node.level:
            return node.module or ""
        folder = dirname(module.path)
        for _ in range(node.level - 1):
            folder = dirname(folder)
        for root in sorted(_ROOTS, key=len, reverse=True):
            if root and f"{folder}/".startswith(root) and f"{root}__init__.py" not in self.files:
                folder = folder[len(root) :]
                break
        return ".".join(part for part in (folder.replace("/", "."), node.module or "") if part)

    def target(self, module: SuiteModule, binding: Binding) -> Target | None:
        """Return where an import leads inside the suite; None where it leads to the library or out of both."""
        node, alias = binding.imported, binding.alias
        assert node is not None
        assert alias is not None
        if isinstance(node, ast.Import):
            path = self._find(module, alias.name if alias.asname else alias.name.partition(".")[0])
            return Target(self.module(path), None) if path else None
        name = self.absolute(module, node)
        if path := self._find(module, f"{name}.{alias.name}" if name else alias.name):
            return Target(self.module(path), None)
        path = self._find(module, name)
        return Target(self.module(path), alias.name) if path else None

    def star(self, module: SuiteModule, node: ast.ImportFrom) -> SuiteModule | None:
        """Return the module of the suite whose names a star import brings."""
        path = self._find(module, self.absolute(module, node))
        return self.module(path) if path else None

    def submodule(self, module: SuiteModule, name: str) -> SuiteModule | None:
        """Return a module of a package of the suite."""
        if not module.path.endswith("__init__.py"):
            return None
        folder = dirname(module.path)
        paths = (join(folder, f"{name}.py"), join(folder, name, "__init__.py"))
        return next((self.module(path) for path in paths if path in self.files), None)

    def _find(self, module: SuiteModule, dotted: str) -> str | None:
        """Return the file of a module of the suite: below the root, or beside the importing file (`rootdir`)."""
        if not dotted:
            return None
        way = dotted.replace(".", "/")
        folder = dirname(module.path)
        while folder and f"{folder}/__init__.py" in self.files:
            folder = dirname(folder)
        beside = [f"{folder}/"] if folder else []
        for root in (*_ROOTS, *beside):
            for path in (f"{root}{way}.py", f"{root}{way}/__init__.py"):
                if path in self.files and path != module.path and self._is_of_suite(path, root):
                    return path
        return None

    def _is_of_suite(self, path: str, root: str) -> bool:
        """Say whether a file is no part of what the library installs, or is among its tests."""
        inside = path.removeprefix(root)
        top = inside.partition("/")[0].removesuffix(".py")
        return top not in self.roots or self.rules.is_among_tests(inside)


def root_name(node: ast.AST) -> str | None:
    """Return the name at which a chain of attributes, subscripts and calls begins."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` of a chain of names, with what is called or subscripted left out; empty where it is none."""
    parts: list[str] = []
    node = _bare(node)
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _bare(node: ast.AST) -> ast.AST:
    return node.func if isinstance(node, ast.Call) else node


def _stored(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement assigns in the scope where it stands."""
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name
        if not isinstance(
            each,
            ast.FunctionDef
            | ast.AsyncFunctionDef
            | ast.ClassDef
            | ast.Lambda
            | ast.ListComp
            | ast.SetComp
            | ast.DictComp
            | ast.GeneratorExp,
        ):
            waiting.extend(ast.iter_child_nodes(each))
