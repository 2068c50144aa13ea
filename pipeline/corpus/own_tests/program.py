"""The program around a test: the statements of its suite that it needs, followed by name from module to module."""

from __future__ import annotations

import ast
import builtins
import functools
import re
import symtable
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.rendering import Edit, render, replace
from pipeline.corpus.own_tests.suite import Binding, Suite, SuiteModule, Target, dotted_name
from pipeline.corpus.snippets.names import outer_names

_BUILT_IN = frozenset(dir(builtins)) | {"__name__", "__doc__", "__file__", "__builtins__", "__debug__"}
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

globals_of = functools.lru_cache(maxsize=16384)(outer_names)
"""The global names that a text takes for granted."""


@functools.lru_cache(maxsize=16384)
def hidden_by_members(text: str) -> frozenset[str]:
    """Return the names that a class uses before its own member takes them: `@post_load def post_load(self)`."""
    try:
        waiting = [symtable.symtable(text, "<piece>", "exec")]
    except SyntaxError:
        return frozenset()
    hidden: set[str] = set()
    while waiting:
        inner = waiting.pop()
        waiting += inner.get_children()
        if inner.get_type() == "class":
            hidden |= {each.get_name() for each in inner.get_symbols() if each.is_referenced() and each.is_assigned()}
    return frozenset(hidden)


_BY_PYTHON = re.compile(r"\bversion_info\b|\bPY_?[23]\b")
"""Conditions on the version of Python: those of `sys`, and the constants of `six` and of many suites."""


@functools.lru_cache(maxsize=16384)
def tentative_names(text: str) -> frozenset[str]:
    """Return the names that a piece uses only where it expects that nothing may bind them.

    They stand in a `try` that handles NameError, or depend on the version of Python: `unicode`, `basestring`.
    """
    try:
        nodes = list(ast.walk(parse_python(text)))
    except SyntaxError:
        return frozenset()
    tentative: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Try) and any(map(_handles_absence, node.handlers)):
            tentative |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
        elif isinstance(node, ast.If | ast.IfExp) and _BY_PYTHON.search(ast.unparse(node.test)):
            tentative |= {id(inner) for inner in ast.walk(node)} - {id(inner) for inner in ast.walk(node.test)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return frozenset(each.id for each in names) - {each.id for each in names if id(each) not in tentative}


def _handles_absence(handler: ast.ExceptHandler) -> bool:
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    # A handler of every exception would hide names that the cutter lost.
    return any(each is not None and dotted_name(each) == "NameError" for each in types)


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement of the program; `line` is where it stands in its module."""

    module: SuiteModule
    line: int
    text: str


class Program:
    """The statements that a test needs, in an order in which they can run.

    `edits` are those of whoever asks for statements, by the statement. Errors of `need` and `add`: Refused, Unparsed.
    """

    def __init__(self, suite: Suite, edits: dict[ast.stmt, list[Edit]] | None = None) -> None:
        self.suite = suite
        self.edits = {} if edits is None else edits
        self.futures: set[str] = set()
        self.imports: dict[str, None] = {}
        self.pieces: dict[tuple[str, int], Piece] = {}
        self._order: list[SuiteModule] = []
        self._visited: set[tuple[str, str]] = set()
        self._owners: dict[str, object] = {}

    def need(self, module: SuiteModule, name: str, *, tentative: bool = False) -> None:
        """Take in what binds a name of a module, and what that needs in turn; nothing has to bind a tentative one."""
        if (module.path, name) in self._visited:
            return
        self._visited.add((module.path, name))
        if name in module.bindings:
            for binding in _last(module.bindings[name]):
                self._bind(module, name, binding)
            for statement in module.mutations.get(name, ()):
                if not isinstance(module.bindings[name][-1].statement, ast.Import | ast.ImportFrom):
                    self.statement(module, statement)
        elif not self._from_star(module, name) and name not in _BUILT_IN:
            if reason := self.suite.rules.refused_names.get(name):
                raise Refused(reason, f"{module.path}: uses {name}")
            if not tentative:
                raise Refused(RejectReason.UNRESOLVED_NAME, f"{module.path}: nothing binds {name}")
            self._visited.discard((module.path, name))

    def statement(self, module: SuiteModule, statement: ast.stmt) -> None:
        """Take in a whole statement of a module's top level, with what it needs."""
        if (module.path, id(statement)) in self.pieces:
            return
        start, end = module.span(statement)
        self.add(module, statement, start, end)

    def add(self, module: SuiteModule, node: ast.stmt, start: int, end: int, head: str = "", name: str = "") -> None:
        """Take in a part of a module as the text of a statement, with what it needs, behind a head of our own."""
        key = module.path, id(node)
        if key in self.pieces:
            return
        edits = self.edits.get(node, [])
        ours, local = self._inside(module, node, [(each.start, each.end) for each in edits])
        text = head + render(module, start, end, [*edits, *ours])
        self.text(module, node, text, local, name)

    def text(
        self, module: SuiteModule, node: ast.stmt, text: str, available: frozenset[str] = frozenset(), name: str = ""
    ) -> None:
        """Take in a text as a statement in the place of a node; `available` are names that it has from elsewhere."""
        self._touch(module)
        for bound in [name] if name else _bound(node):
            self._own(bound, (module.path, id(node)))
        self.pieces[module.path, id(node)] = Piece(module, node.lineno, text)
        self.need_all(module, text, available)
        self._touch(module, last=True)

    def need_all(self, module: SuiteModule, text: str, available: Collection[str] = ()) -> None:
        """Take in the global names of a text of a module, but for those that it has from elsewhere."""
        for needed in sorted(
            globals_of(text).difference(available) | (hidden_by_members(text) & module.bindings.keys())
        ):
            self.need(module, needed, tentative=needed in tentative_names(text))

    def add_import(self, text: str, name: str) -> None:
        """Take in an import that binds a name."""
        is_plain = text.startswith("import ") and " as " not in text
        # `import a` and `import a.b` bind one name to one package.
        self._own(name, f"import {name}" if is_plain else text)
        self.imports[text] = None

    def _is_imported(self, text: str, name: str) -> bool:
        """Say whether the program imports a name from another module of the same package: `from a.b import c`.

        A package hands on what its modules define, so these are taken for one; a run at home shows whether they are.
        """
        statement = self._owners.get(name)
        if not isinstance(statement, str) or not statement.startswith("from ") or not text.startswith("from "):
            return False
        (_, one, _, *first), (_, other, _, *second) = statement.split(" "), text.split(" ")
        return first == second and one.partition(".")[0] == other.partition(".")[0]

    def inside(self, module: SuiteModule, node: ast.AST) -> tuple[list[Edit], frozenset[str]]:
        """Return the edits that a part of a module needs to stand elsewhere, and the names that these bring."""
        return self._inside(module, node, [])

    def ordered(self) -> list[Piece]:
        """Return the statements: those of modules that others import come first."""
        place = {module.path: number for number, module in enumerate(self._order)}
        return sorted(self.pieces.values(), key=lambda piece: (place[piece.module.path], piece.line))

    def _touch(self, module: SuiteModule, last: bool = False) -> None:
        if last and module not in self._order:
            self._order.append(module)
        self.read_futures(module)

    def read_futures(self, module: SuiteModule) -> None:
        """Take over from a module how its statements are compiled: `from __future__ import annotations`."""
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                self.futures |= {alias.name for alias in node.names}

    def _own(self, name: str, owner: object) -> None:
        """Note what binds a name of the program; two modules that bind one name cannot stand in one file."""
        first_owner = self._owners.setdefault(name, owner)
        if first_owner != owner and not (
            isinstance(first_owner, tuple) and isinstance(owner, tuple) and first_owner[0] == owner[0]
        ):
            raise Refused(RejectReason.NAME_CONFLICT, f"two modules of the suite bind {name}")

    def _bind(self, module: SuiteModule, name: str, binding: Binding) -> None:
        node, alias = binding.imported, binding.alias
        if node is None or alias is None or binding.statement is not node:
            self.statement(module, binding.statement)
            return
        if (target := self.suite.target(module, binding)) is None:
            text = self._import(module, node, alias)
            if text and not self._is_imported(text, name):
                self.add_import(text, name)
        elif target.name is None:
            # What is used of the module is taken in where it is used.
            return
        else:
            self.need(target.module, target.name)
            if target.name != name:
                self._touch(module)
                self._own(name, (module.path, id(alias)))
                self.pieces[module.path, id(alias)] = Piece(module, node.lineno, f"{name} = {target.name}")
            self._touch(module, last=True)

    def _import(self, module: SuiteModule, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        clause = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        if isinstance(node, ast.Import):
            return f"import {clause}"
        if node.module == "__future__":
            self.futures.add(alias.name)
            return ""
        source = self.suite.absolute(module, node)
        if node.level and source.partition(".")[0] not in self.suite.roots:
            raise Refused(
                RejectReason.UNRESOLVED_NAME, f"{module.path}: no module {'.' * node.level}{node.module or ''}"
            )
        return f"from {source} import {clause}"

    def _from_star(self, module: SuiteModule, name: str) -> bool:
        """Take in a name that a star import may bring, and say whether one may."""
        may_bring = False
        for node in module.stars:
            inner = self.suite.star(module, node)
            if inner is None and name not in _BUILT_IN:
                self.imports[f"from {self.suite.absolute(module, node)} import *"] = None
                may_bring = True
            elif inner is not None and (name in inner.bindings or inner.stars):
                self.need(inner, name)
                return True
        return may_bring

    def _inside(
        self, module: SuiteModule, node: ast.AST, edited: list[tuple[int, int]]
    ) -> tuple[list[Edit], frozenset[str]]:
        """Return the edits of imports inside of a statement, and of names that are reached through a module."""
        edits: list[Edit] = []
        brought: set[str] = set()
        for each in _outermost(node):
            if isinstance(each, ast.ImportFrom | ast.Import):
                edit, names = self._local_import(module, each)
                edits += [edit] if edit else []
                brought |= names
                continue
            start, end = module.span(each)
            if any(begin <= start and end <= until for begin, until in edited):
                continue
            if resolution := self._through_module(module, each):
                length, target = resolution
                if target.name is None:
                    raise Refused(RejectReason.UNRESOLVED_NAME, f"{module.path}: uses the module {dotted_name(each)}")
                self.need(target.module, target.name)
                brought.add(target.name)
                part: ast.expr = each
                for _ in range(dotted_name(each).count(".") + 1 - length):
                    assert isinstance(part, ast.Attribute)
                    part = part.value
                edits.append(replace(module, part, target.name))
        return edits, frozenset(brought)

    def _local_import(
        self, module: SuiteModule, node: ast.Import | ast.ImportFrom
    ) -> tuple[Edit | None, frozenset[str]]:
        """Return the edit of an import in a function: a relative one becomes absolute, one of the suite is taken in."""
        targets = [self.suite.target(module, Binding(node, alias, node)) for alias in node.names if alias.name != "*"]
        if any(targets):
            named = [target for target in targets if target is not None and target.name is not None]
            if len(named) < len(node.names) or any(alias.asname for alias in node.names):
                raise Refused(
                    RejectReason.UNRESOLVED_NAME, f"{module.path}:{node.lineno}: imports modules of the suite"
                )
            for target in named:
                self.need(target.module, str(target.name))
            return replace(module, node, "pass"), frozenset(str(target.name) for target in named)
        if isinstance(node, ast.ImportFrom) and node.level:
            text = "; ".join(filter(None, (self._import(module, node, alias) for alias in node.names)))
            return replace(module, node, text), frozenset()
        return None, frozenset()

    def _through_module(self, module: SuiteModule, node: ast.expr) -> tuple[int, Target] | None:
        """Return how many parts of a dotted name lead to a name of a module of the suite, and to which."""
        first, *rest = dotted_name(node).split(".")
        bindings = module.bindings.get(first, ())
        if not bindings or bindings[-1].imported is None:
            return None
        target = self.suite.target(module, bindings[-1])
        if target is None or target.name is not None:
            return None
        for place, name in enumerate(rest, 2):
            inner = self.suite.submodule(target.module, name)
            if inner is None:
                return place, Target(target.module, name)
            target = Target(inner, None)
        return len(rest) + 1, target


def _outermost(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom | ast.expr]:
    """Yield the imports and the longest dotted names below a node."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Import | ast.ImportFrom) or (
            isinstance(each, ast.Attribute | ast.Name) and dotted_name(each)
        ):
            yield each
        else:
            waiting.extend(ast.iter_child_nodes(each))


def _last(bindings: list[Binding]) -> list[Binding]:
    """Return the bindings of a name that count when a function runs: the last, and what that builds on."""
    last = bindings[-1]
    if isinstance(last.imported, ast.Import) and last.alias is not None and last.alias.asname is None:
        return [each for each in bindings if isinstance(each.imported, ast.Import)]
    if last.imported is not None or isinstance(last.statement, _DEFINITION):
        return [each for each in bindings if each.statement is last.statement and each.alias is last.alias]
    return [each for each in bindings if not isinstance(each.statement, _DEFINITION)]


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, _DEFINITION):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)][:1]
    return []
