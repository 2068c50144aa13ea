"""What of a release is public where, and the rows that only say where a path leads."""

from __future__ import annotations

from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.resolve.dependency_keys import exposed_fact, place_fact
from pipeline.api.surface.resolve.public import PublicName
from pipeline.api.surface.resolve.resolver import Distribution
from pipeline.api.surface.resolve.rows import bare_row
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.lake.rows import SymbolState


class PublicIndex:
    """The public modules of a release by path, and the path under which each definition has its state.

    `exposed` are the names of the modules that have one; `root` is what stands before each file inside the artifact.
    """

    def __init__(self, distribution: Distribution, root: str) -> None:
        self.distribution = distribution
        self.trace = distribution.trace
        self.root = root
        self.modules: dict[str, ModuleRecord] = {}
        self.preferred: dict[str, str] = {}
        self.exposed: frozenset[str] = frozenset()

    def preferred_path(self, canonical: str) -> str | None:
        """Return the path under which a definition has its state, if it is public at all."""
        self.trace.ask(place_fact(canonical))
        return self.preferred.get(canonical)

    def exposes(self, module: str) -> bool:
        """Return whether a module has a public path, its own or another."""
        self.trace.ask(place_fact(module))
        return module in self.exposed

    def module_at(self, path: str) -> ModuleRecord | None:
        """Return the module at a public path."""
        self.trace.ask(exposed_fact(path))
        return self.modules.get(path)

    def bare(self, public: PublicName, kind: SymbolKind) -> SymbolState:
        """Return a row that says where a name leads, and nothing of its state."""
        module = self.module_at(public.path.rpartition(".")[0])
        assert module is not None
        self.trace.ask(module.name)
        return bare_row(
            public.path, public.resolution.path, kind, public.because, self.root + module.file, module.source
        )
