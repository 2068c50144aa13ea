"""What the earlier stages know of a library, as problems ask about it: by version, by path, by what ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.tags import Tags
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.corpus.usages.api import COLUMNS, Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.uses import Use
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.proof import Runs
from pipeline.lake.intervals import holding_at
from pipeline.lake.reads import Read
from pipeline.lake.rows import (
    ApiDocumentRow,
    ChangeRow,
    DocumentRow,
    LifecycleRow,
    R,
    ReleaseRow,
    SymbolRow,
    VerdictRow,
)

_FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})

OF_APIS = (*COLUMNS, "parameters", "value", "deprecation")
"""The columns of `symbols` that tell what an API is, how it is called, and what to use instead."""

DOCSTRINGS = Read("documents", ("path", "first_version", "last_version", "docstring"))
"""What of the documentation is quoted."""


class Library:
    """The tables of one library; what is costly is made when it is first asked for."""

    def __init__(
        self,
        releases: Sequence[ReleaseRow],
        symbols: Sequence[SymbolRow],
        changes: Sequence[ChangeRow],
        lifecycles: Sequence[LifecycleRow],
        documents: Iterable[DocumentRow],
        api_documents: Iterable[ApiDocumentRow],
        verdicts: Iterable[VerdictRow],
        tagging: LifecycleRules,
        usage: UsageRules,
    ) -> None:
        self.history = History(releases, symbols, changes, Tags(lifecycles, tagging).at)
        self.runs = Runs(verdicts)
        self.changes = {row["id"]: row for row in changes}
        self.lifecycles = lifecycles
        self._symbols = symbols
        self._usage = usage
        self._apis: dict[str, Api] = {}
        self._functions: dict[str, frozenset[str]] = {}
        self._documents = _by_path(documents)
        self._api_documents = _by_path(api_documents)

    @property
    def name(self) -> str:
        """The library's name; empty where it has no release."""
        return next((row["library"] for row in self.history.releases.values()), "")

    def roots(self, version: str) -> frozenset[str]:
        """Return the modules by which the library is imported."""
        return frozenset(name.split(".")[0] for name in self.history.releases[version]["import_names"])

    def uses(self, program: str, version: str) -> tuple[Use, ...]:
        """Return the uses of the library's API in a program, at a version."""
        return scan(program, self.api(version)).uses

    def changed_parameters(self, path: str, version: str) -> frozenset[str]:
        """Return the names of the parameters of a path that a version changed, the new ones of those renamed."""
        of_path = (row for row in self.changes.values() if row["path"] == path and row["new_version"] == version)
        renamed = ChangeKind.PARAMETER_RENAMED
        names = (row["new"] if row["kind"] == renamed else row["parameter"] for row in of_path if row["parameter"])
        return frozenset(filter(None, names))

    def docstrings(self, paths: Iterable[str], version: str) -> tuple[str, ...]:
        """Return the docstrings of paths at a version, each once."""
        rows = [row for path in paths for row in holding_at(self._documents.get(path, ()), version)]
        return tuple(dict.fromkeys(row["docstring"] for row in rows))

    def functions(self, version: str) -> frozenset[str]:
        """Return the names of the public functions and methods of a version."""
        if version not in self._functions:
            rows = self.api(version).symbols.items()
            names = (path.rpartition(".")[2] for path, row in rows if row["kind"] in _FUNCTIONS)
            self._functions[version] = frozenset(names)
        return self._functions[version]

    def document(self, path: str, version: str) -> ApiDocumentRow | None:
        """Return what the documentation says of a path at a version."""
        return next(iter(holding_at(self._api_documents.get(path, ()), version)), None)

    def api(self, version: str) -> Api:
        """Return the public API of a version."""
        if version not in self._apis:
            release = self.history.releases[version]
            at = {row["path"]: row for row in holding_at(self._symbols, version)}
            self._apis[version] = Api(at, release["import_names"], self._usage.returns_of(release["library"]))
        return self._apis[version]


def _by_path(rows: Iterable[R]) -> Mapping[str, list[R]]:
    grouped: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        grouped[row["path"]].append(row)
    return grouped
