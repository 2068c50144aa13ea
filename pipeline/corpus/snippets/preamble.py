"""The preamble of an example: the imports that its reader is expected to know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from more_itertools import first

from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.usages.api import Api
from pipeline.lake.rows import DocumentRow

_INSIDE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.PROPERTY})
_CALLABLE = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION})


class Importable:
    """The names of a library at one version that can be imported, by definition and by public path."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._named: dict[str, set[str]] = defaultdict(set)
        for path in sorted(api.symbols, key=lambda path: (path.count("."), len(path), path)):
            parent = path.rpartition(".")[0]
            if api.is_module(parent):
                row = api.symbols[path]
                self._paths[row["canonical_path"]].append(path)
                if row["kind"] in _CALLABLE:
                    self._named[row["canonical_path"].rpartition(".")[2]].add(row["canonical_path"])

    def path_of(self, name: str, document: DocumentRow) -> str | None:
        """Return the public path that a name means in the docstring of a documented API.

        doctest runs an example in the globals of the docstring's module, so the names defined there come first;
        then those of the library's top-level packages. A module also imports from its neighbours, so a name that
        only one class or function of the library has means that one.
        """
        if name in self.api.roots:
            return name
        if path := self._shortest(f"{self._module_of(document)}.{name}", name):
            return path
        for root in sorted(self.api.roots):
            if f"{root}.{name}" in self.api.symbols:
                return f"{root}.{name}"
        definitions = self._named.get(name, set())
        return self._shortest(first(definitions), name) if len(definitions) == 1 else None

    def _shortest(self, canonical_path: str, name: str) -> str | None:
        """Return the shortest public path of a definition, best one that ends in the name."""
        paths = self._paths.get(canonical_path, [])
        return next((path for path in paths if path.rpartition(".")[2] == name), paths[0] if paths else None)

    def _module_of(self, document: DocumentRow) -> str:
        """Return the module that a definition stands in, which need not be public."""
        path: str = document["canonical_path"]
        if self.api.kind(document["path"]) in _INSIDE:
            path = path.rpartition(".")[0]
        while self._is_class(path):
            path = path.rpartition(".")[0]
        return path

    def _is_class(self, canonical_path: str) -> bool:
        paths = self._paths.get(canonical_path, [])
        return any(self.api.symbols[path]["kind"] == SymbolKind.CLASS for path in paths)


def preamble_of(names: Iterable[str], path_of: Callable[[str], str | None], rules: SnippetRules, library: str) -> str:
    """Return the statements that define the free names of an example, as a user would write them.

    `path_of` gives the public path that a name means there, if it means one. A convention of the library's own
    documentation comes first, then the library's names, then the conventions of all Python code. What none of them
    defines stays undefined: running decides about the example.
    """
    conventions: set[str] = set()
    imports: dict[str, str] = {}
    for name in names:
        if convention := rules.of_library(library).get(name):
            conventions.add(convention)
        elif path := path_of(name):
            imports[name] = path
        elif convention := rules.conventions.get(name):
            conventions.add(convention)
    lines = [*sorted(statement.rstrip("\n") for statement in conventions), *_import_lines(imports)]
    return "".join(f"{line}\n" for line in lines)


def _import_lines(imports: Mapping[str, str]) -> list[str]:
    """Return import statements, one for each module, sorted."""
    lines: list[str] = []
    by_module: dict[str, list[str]] = defaultdict(list)
    for name, path in sorted(imports.items()):
        module, _, last = path.rpartition(".")
        if module:
            by_module[module].append(name if name == last else f"{last} as {name}")
        else:
            lines.append(f"import {path}")
    return lines + [f"from {module} import {', '.join(names)}" for module, names in sorted(by_module.items())]
