"""What a part of a file needs of the rest of it: the imports and constants behind the names that it uses."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pipeline.corpus.snippets.cut import Lines, lines_of
from pipeline.corpus.snippets.names import outer_names

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Binder:
    """A statement of the top level that binds names, and, where it is an import, which of its names is meant."""

    statement: ast.stmt
    alias: ast.alias | None = None

    @property
    def line(self) -> int:
        """Its first line."""
        return self.statement.lineno


class Module:
    """A parsed file: its lines, what its top level binds, and which of its names may lead to the library.

    `carriers` are the names that imports of the library bind, and constants made with one of them.
    """

    def __init__(self, text: str, tree: ast.Module, roots: Collection[str], max_constant_lines: int) -> None:
        self.lines = text.split("\n")
        self.body = tree.body
        self.binders: dict[str, list[Binder]] = defaultdict(list)
        self.stars: list[ast.ImportFrom] = []
        self.carriers: set[str] = set()
        self._roots = frozenset(roots)
        self._max_constant_lines = max_constant_lines
        for statement in tree.body:
            self._note(statement)

    def text_of(self, lines: Lines) -> str:
        """Return lines of the file, with a line end after each."""
        return "".join(f"{line}\n" for line in self.lines[lines[0] - 1 : lines[1]])

    def mentions(self, text: str) -> bool:
        """Say whether a text may use the library: it names a carrier or, where it imports, the library itself."""
        words = words_of(text)
        return bool(self.carriers & words) or ("import" in words and bool(self._roots & words)) or self.has_star

    @property
    def has_star(self) -> bool:
        """Say whether `from library import *` may have brought any name."""
        return any(_root(star) in self._roots for star in self.stars)

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self._note_import(statement)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                self._note_constant(statement)
            case ast.If() | ast.Try():
                self._note_conditional(statement)

    def _note_import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            if alias.name == "*" and isinstance(statement, ast.ImportFrom):
                self.stars.append(statement)
                continue
            name = _bound_name(alias)
            self.binders[name].append(Binder(statement, alias))
            if _root(statement, alias) in self._roots:
                self.carriers.add(name)

    def _note_constant(self, statement: ast.Assign | ast.AnnAssign) -> None:
        lines = lines_of([statement])
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [name for target in targets for name in _stored(target)]
        if self.mentions(self.text_of(lines)):
            self.carriers.update(names)
        if lines[1] - lines[0] < self._max_constant_lines:
            for name in names:
                self.binders[name].append(Binder(statement))

    def _note_conditional(self, statement: ast.If | ast.Try) -> None:
        """Note a condition around imports: as a whole where it is short, else the imports in it.

        What only a script's own start imports is not there when somebody imports the file.
        """
        if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
            return
        imports = [node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in imports:
            self._note_import(node)
        lines = lines_of([statement])
        if imports and lines[1] - lines[0] < self._max_constant_lines:
            for name in set(_stored(statement)) | {_bound_name(alias) for node in imports for alias in node.names}:
                self.binders[name].append(Binder(statement))

    def behind(self, text: str, before: int) -> list[Binder]:
        """Return the binders of the names that a text takes for granted, and of those that these need in turn.

        Of several that bind a name the last one before the line `before` counts, or else the last of all, which is
        there when a function runs.
        """
        by_statement: dict[int, list[Binder]] = defaultdict(list)
        waiting, resolved = sorted(outer_names(text)), set()
        while waiting:
            name = waiting.pop()
            if name in resolved:
                continue
            resolved.add(name)
            for binder in self._binders_of(name, before):
                by_statement[id(binder.statement)].append(binder)
                if binder.alias is None:
                    waiting += sorted(outer_names(self.text_of(lines_of([binder.statement]))) - resolved)
        return sorted((binder for group in by_statement.values() for binder in group), key=lambda b: b.line)

    def _binders_of(self, name: str, before: int) -> list[Binder]:
        binders = self.binders.get(name, [])
        chosen = [binder for binder in binders if binder.line < before][-1:] or binders[-1:]
        if chosen and _is_plain(chosen[0]):
            # `import a` and `import a.b` bind the same name to the same package
            return [binder for binder in binders if _is_plain(binder)]
        return chosen


def statements_text(module: Module, binders: Sequence[Binder]) -> str:
    """Return the statements of binders as program text; of an import only the names that are meant."""
    written: dict[str, None] = {}
    for statement, group in _by_statement(binders):
        aliases = [binder.alias for binder in group if binder.alias is not None]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            written[_import_text(statement, aliases)] = None
        else:
            written[module.text_of(lines_of([statement]))] = None
    return "".join(written)


def stars_text(module: Module) -> str:
    """Return the star imports of a file, any of which may have brought any name."""
    return "".join(f"{ast.unparse(star)}\n" for star in module.stars)


def words_of(text: str) -> set[str]:
    """Return the words of a text that could be identifiers."""
    return set(_WORD.findall(text))


def _by_statement(binders: Sequence[Binder]) -> Iterator[tuple[ast.stmt, list[Binder]]]:
    groups: dict[int, list[Binder]] = defaultdict(list)
    for binder in binders:
        groups[id(binder.statement)].append(binder)
    for group in groups.values():
        yield group[0].statement, group


def _import_text(statement: ast.Import | ast.ImportFrom, aliases: Sequence[ast.alias]) -> str:
    names = [alias for alias in statement.names if alias in aliases]
    if isinstance(statement, ast.Import):
        return f"{ast.unparse(ast.Import(names))}\n"
    return f"{ast.unparse(ast.ImportFrom(statement.module, names, statement.level))}\n"


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the names that are assigned below a node."""
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_plain(binder: Binder) -> bool:
    return isinstance(binder.statement, ast.Import) and binder.alias is not None and binder.alias.asname is None


def _root(statement: ast.Import | ast.ImportFrom, alias: ast.alias | None = None) -> str:
    """Return the top-level package that an import names; none for a relative one."""
    if isinstance(statement, ast.Import):
        return alias.name.partition(".")[0] if alias else ""
    return "" if statement.level else (statement.module or "").partition(".")[0]
