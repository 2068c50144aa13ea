"""What stands in the files of a release, read with `ast` alone: the evidence for why two readers differ about it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from pipeline.api.surface.parse.python2 import modernise


class Branch(Enum):
    """What a statement stands in, from the module or class body to it."""

    TRY = auto()
    HANDLER = auto()
    IF = auto()
    ELSE = auto()
    TYPING = auto()
    TYPING_ELSE = auto()
    PROGRAM = auto()
    LOOP = auto()


@dataclass(frozen=True)
class Binding:
    """A statement that binds a name in the body of a module or class, and the compound statements that it stands in."""

    name: str
    node: ast.stmt
    within: tuple[tuple[ast.stmt, Branch], ...]

    @property
    def branches(self) -> frozenset[Branch]:
        """The kinds of branch that it stands in."""
        return frozenset(branch for _, branch in self.within)

    @property
    def line(self) -> int:
        """Its first line, decorators among it, as griffe counts."""
        decorators = getattr(self.node, "decorator_list", [])
        return min([self.node.lineno, *(int(decorator.lineno) for decorator in decorators)])

    @property
    def value(self) -> ast.expr | None:
        """What is assigned, if this is an assignment."""
        return self.node.value if isinstance(self.node, ast.Assign | ast.AnnAssign) else None


class Sources:
    """The syntax trees of an unpacked release; names are dotted paths of modules, classes and what they bind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trees: dict[tuple[str, str], ast.Module | None] = {}
        self._bound: dict[tuple[str, tuple[str, ...], str], dict[str, list[Binding]]] = {}

    @functools.cache  # noqa: B019
    def words(self, module: str) -> frozenset[str]:
        """Return the words that occur in the text of a module."""
        return frozenset(re.findall(r"\w+", self.text(module)))

    def has(self, module: str) -> bool:
        """Return whether a module has a file, source or stub."""
        return any(self._file(module, suffix) is not None for suffix in (".py", ".pyi"))

    def is_package(self, module: str) -> bool:
        """Return whether a module is a package with an `__init__`."""
        file = self._file(module, ".py") or self._file(module, ".pyi")
        return file is not None and file.stem == "__init__"

    def has_stub(self, module: str) -> bool:
        """Return whether a module has a stub."""
        return self._file(module, ".pyi") is not None

    @functools.cache  # noqa: B019
    def text(self, module: str) -> str:
        """Return the text of a module, or of its stub if that is all there is."""
        file = self._file(module, ".py") or self._file(module, ".pyi")
        return file.read_text("utf-8", errors="replace") if file is not None else ""

    def tree(self, module: str, suffix: str = ".py") -> ast.Module | None:
        """Return the syntax tree of a module, Python 2 or 3; None where there is no such file."""
        if (module, suffix) not in self._trees:
            file = self._file(module, suffix)
            self._trees[module, suffix] = _parse(file) if file is not None else None
        return self._trees[module, suffix]

    @functools.cache  # noqa: B019
    def split(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the module that a path leads into, and the names from there on."""
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            if self.has(".".join(parts[:end])):
                return ".".join(parts[:end]), tuple(parts[end:])
        return "", tuple(parts)

    def bindings(self, path: str, suffix: str = ".py") -> list[Binding]:
        """Return what binds the last name of a path, in the bodies of its module or of all classes of that name."""
        module, _, last = path.rpartition(".")
        owner, inside = self.split(module)
        return self._scope(owner, inside, suffix).get(last, [])

    def _scope(self, module: str, inside: tuple[str, ...], suffix: str) -> dict[str, list[Binding]]:
        key = (module, inside, suffix)
        if key not in self._bound:
            found: dict[str, list[Binding]] = {}
            for body in self._bodies(module, inside, suffix):
                for binding in bound(body):
                    found.setdefault(binding.name, []).append(binding)
            self._bound[key] = found
        return self._bound[key]

    @functools.cache  # noqa: B019
    def star_sources(self, module: str) -> set[str]:
        """Return the modules of the release that a module star-imports, itself or through others."""
        found: set[str] = set()
        waiting = [module]
        while waiting:
            here = waiting.pop()
            tree = self.tree(here)
            stars = (b.node for b in bound(tree.body) if b.name == "*") if tree is not None else ()
            for node in stars:
                assert isinstance(node, ast.ImportFrom)
                target = self._target(here, node)
                if target not in found and self.has(target):
                    found.add(target)
                    waiting.append(target)
        return found

    def _target(self, module: str, node: ast.ImportFrom) -> str:
        parts = module.split(".")
        above = len(parts) + self.is_package(module) - node.level
        return ".".join([*(parts[:above] if node.level else []), *([node.module] if node.module else [])])

    @functools.cache  # noqa: B019
    def way(self, path: str) -> frozenset[str]:
        """Return a path, and those to which imports of the release lead from it, by whichever branch."""
        found: set[str] = set()
        waiting = [path]
        while waiting:
            here = waiting.pop()
            found.add(here)
            module, inside = self.split(here.rpartition(".")[0])
            imports = [b for b in self.bindings(here) if not inside and isinstance(b.node, ast.ImportFrom)]
            waiting.extend({target for b in imports for target in self._imported(module, b)} - found)
        return frozenset(found)

    def _imported(self, module: str, binding: Binding) -> Iterator[str]:
        assert isinstance(binding.node, ast.ImportFrom)
        for alias in binding.node.names:
            if (alias.asname or alias.name) == binding.name:
                yield f"{self._target(module, binding.node)}.{alias.name}"

    def deletes(self, path: str) -> bool:
        """Return whether the body of a module or class has a `del` of the last name of a path."""
        owner, _, last = path.rpartition(".")
        bodies = self._bodies(*self.split(owner), ".py")
        deleted = (t for body in bodies for s in body if isinstance(s, ast.Delete) for t in s.targets)
        return any(isinstance(t, ast.Name) and t.id == last for target in deleted for t in ast.walk(target))

    @functools.cache  # noqa: B019
    def named_twice(self, module: str) -> frozenset[str]:
        """Return the names that assignments of a module give to other names too: `new = old`."""
        found = (
            b.value.id
            for all_ in self._scope(module, (), ".py").values()
            for b in all_
            if isinstance(b.value, ast.Name)
        )
        return frozenset(found)

    def class_bodies(self, path: str) -> list[ast.ClassDef]:
        """Return the definitions of the class at a path."""
        _owner, inside = self.split(path)
        if not inside:
            return []
        return [b.node for b in self.bindings(path) if isinstance(b.node, ast.ClassDef)]

    def _bodies(self, module: str, inside: tuple[str, ...], suffix: str) -> list[list[ast.stmt]]:
        tree = self.tree(module, suffix) or self.tree(module, ".pyi")
        if not inside:
            return [tree.body] if tree is not None else []
        above = self._scope(module, inside[:-1], suffix).get(inside[-1], [])
        return [binding.node.body for binding in above if isinstance(binding.node, ast.ClassDef)]

    @functools.cache  # noqa: B019
    def _file(self, module: str, suffix: str) -> Path | None:
        place = self.folder.joinpath(*module.split("."))
        files = (place / f"__init__{suffix}", place.with_name(place.name + suffix))
        return next((file for file in files if module and file.is_file()), None)


def _parse(file: Path) -> ast.Module | None:
    text = file.read_text("utf-8-sig", errors="replace")
    for read in (str, modernise):
        try:
            return ast.parse(read(text))
        except (SyntaxError, ValueError):
            continue
    return None


def bound(body: list[ast.stmt], within: tuple[tuple[ast.stmt, Branch], ...] = ()) -> Iterator[Binding]:
    """Yield what the statements of a body bind, those inside of branches among them."""
    for statement in body:
        for inner, branch in _inside(statement):
            yield from bound(inner, (*within, (statement, branch)))
        for name in _names(statement):
            yield Binding(name, statement, within)


def _inside(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], Branch]]:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            text = ast.unparse(test)
            program = text.startswith("__name__ ==")
            yield body, Branch.TYPING if "TYPE_CHECKING" in text else Branch.PROGRAM if program else Branch.IF
            yield orelse, Branch.TYPING_ELSE if "TYPE_CHECKING" in text else Branch.ELSE
        case ast.Try() | ast.TryStar():
            yield from (([*statement.body, *statement.orelse, *statement.finalbody], Branch.TRY),)
            yield from ((handler.body, Branch.HANDLER) for handler in statement.handlers)
        case ast.For() | ast.While():
            yield [*statement.body, *statement.orelse], Branch.LOOP
        case ast.With():
            yield statement.body, Branch.TRY


def _names(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names):
            return {alias.asname or alias.name.split(".")[0] for alias in names}
        case ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names}
        case ast.Assign(targets=targets):
            return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.For(target=target):
            return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return set()
