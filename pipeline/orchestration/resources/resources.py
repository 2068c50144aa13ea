"""What the stages need of the outside world: the index, other sources, the cache, interpreters, the sandbox."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pipeline.api.surface.extract.inspected import record_of
from pipeline.api.surface.parse.module_model import ModuleRecord
from pipeline.api.surface.parse.sources import paths_in_scope
from pipeline.api.surface.parse_cache import ReadingRules, Records
from pipeline.api.surface.reader import Surface, SurfaceReader
from pipeline.core.rules.fingerprint import plain
from pipeline.core.rules.profiles import Profile
from pipeline.core.settings import Settings, index_url
from pipeline.corpus.dependents.sdists import SdistStore
from pipeline.corpus.own_tests.sources import ReleaseSdists
from pipeline.execution.caches.using import use_caches
from pipeline.execution.environments.inspect_store import NOT_INSPECTED, inspect_release
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.run_cache import RunCache
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.foreign import LibraryNames
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.artifacts import ArtifactStore
from pipeline.index.http import Fetcher
from pipeline.index.release_selection import Period
from pipeline.index.tree import SourceTree
from pipeline.lake.ids import sha256_json
from pipeline.lake.place import at_release
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.tables import Lake
from pipeline.llm.tasks.rules import KindRules
from pipeline.orchestration.resources.code_sources import CodeSources
from pipeline.quality.all_rules import CurationRules

if TYPE_CHECKING:
    from pipeline.llm.client.drafter import ModelDrafter


class Resources:
    """What the stages need over one profile and period.

    What is costly to make (interpreters, sandbox, environments) is made when a stage runs that needs it. What models
    cost counts for `run`.
    """

    def __init__(self, settings: Settings, profile: Profile, period: Period, run: str | None = None) -> None:
        self.settings = settings
        self.run = run or uuid.uuid4().hex
        self.profile = profile
        self.period = period
        self.rules = CurationRules.read()
        self.lake = Lake(settings.lake_root)
        use_caches(settings.cache, self)
        self._trees: dict[str, SourceTree] = {}

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """The cache of downloaded files, and the way to fill it."""
        return ArtifactStore(
            self.settings.cache / "artifacts", Fetcher(timeout_s=self.settings.timeout_s), self.rules.crawl
        )

    @cached_property
    def environments(self) -> EnvironmentStore:
        """The pinned environments."""
        return EnvironmentStore(
            self.settings.cache / "environments",
            index_url=index_url(),
            rules=self.rules.environments,
            workers=self.settings.workers,
        )

    @cached_property
    def memory(self) -> RunCache:
        """What ran before, in which environment."""
        return RunCache(self.settings.cache / "runs.sqlite")

    @property
    def runner(self) -> Runner:
        """What runs code in the sandbox of this machine, in pinned environments."""
        rules, workers = self.rules.validation, self.settings.workers
        return Runner(self.environments, find_sandbox(), rules, workers, self.memory)

    @property
    def has_model(self) -> bool:
        """Whether a model drafts what the offline drafter cannot: with a key of the Anthropic API."""
        return bool(os.environ.get("ANTHROPIC_API_KEY"))

    @property
    def has_requests(self) -> bool:
        """Whether a stage has asked the model, or its memory, for something."""
        return "drafter" in vars(self)

    @cached_property
    def drafter(self) -> ModelDrafter | None:
        """The model that drafts, None without a key."""
        if not self.has_model:
            return None
        # slow to import
        from pipeline.llm.client.drafter import model_drafter

        return model_drafter(self.settings.answers, self.rules.models, self.run)

    def by_model(self, kind: KindRules) -> list[KindRules]:
        """Return what texts of a kind depend on beside the offline drafter: nothing where no model drafts."""
        return [kind] if self.has_model else []

    @cached_property
    def project_context(self) -> ProjectContext:
        """What runs the tests of projects."""
        sources = ProjectSources(
            self.settings.cache / "projects", self.artifacts.fetcher, index_url(), self.rules.repository
        )
        rules, workers = self.rules.repository, self.settings.workers
        return ProjectContext(sources, self.environments, find_sandbox(), rules, workers, self.memory)

    @property
    def release_sdists(self) -> ReleaseSdists:
        """The source distributions of the libraries' own releases."""
        store = SdistStore(self.settings.cache / "own_tests", self.artifacts.fetcher, self.rules.own_tests)
        return ReleaseSdists(store, index_url(), self.code_sources.repositories())

    @cached_property
    def surfaces(self) -> SurfaceReader:
        """What reads surfaces; the records of files that were parsed once are in the cache."""
        rules = ReadingRules(self.rules.surface, self.rules.helpers, self.rules.directives)
        name = sha256_json(plain(self.rules.of_surfaces))[:16]
        path = self.settings.cache / "records" / f"{name}.sqlite"
        return SurfaceReader(Records(path, rules, self.artifacts.contents, self.settings.workers))

    def needed_sources(self, paths: Iterable[str]) -> set[str]:
        """Return which files, by their paths from the import root, are worth fetching: tests and the like are not."""
        return paths_in_scope(paths, self.rules.surface)

    def prepare(
        self, releases: Iterable[ReleaseRow], report: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """Parse what was never parsed of some releases, on all cores; `report` gets (done, total) files."""
        trees = {release["sha256"]: self.sources_of(release) for release in releases}
        self.surfaces.prepare(trees.values(), report)
        self._trees |= trees

    def sources_of(self, release: ReleaseRow) -> SourceTree:
        """Return the sources of a release that are in scope, fetched where they are not here."""
        with at_release(release["version"]):
            return self.artifacts.tree(release, self.needed_sources)

    def surface_of(self, release: ReleaseRow) -> Surface:
        """Read a release's surface."""
        tree = self._trees.pop(release["sha256"], None) or self.sources_of(release)
        with at_release(release["version"]):
            return self.surfaces.read(tree, partial(self._inspect, release))

    def _inspect(self, release: ReleaseRow, compiled: Mapping[str, str]) -> dict[str, ModuleRecord]:
        """Look into the compiled modules of a release by importing them, where the rules ask for it."""
        if release["library"] not in self.rules.inspection.libraries:
            return {}
        cache = self.settings.cache / "inspections"
        inspected = inspect_release(release, list(compiled), self.environments, cache)
        return {
            name: record_of(name, compiled[name], record)
            for name, record in inspected.items()
            if NOT_INSPECTED not in record
        }

    @cached_property
    def code_period(self) -> Period:
        """The part of the period of which code of others is taken."""
        return self.period.within(self.profile.code.since, self.profile.code.until)

    @cached_property
    def code_sources(self) -> CodeSources:
        """The sources of code of others."""
        return CodeSources(self.settings, self.rules, self.artifacts, self.profile)

    def foreign_names(self) -> dict[str, LibraryNames]:
        """Return how code of other languages shows that it uses a library, by library."""
        foreign = self.rules.stack_overflow.foreign
        return {library: LibraryNames(words.imports, words.api) for library, words in foreign.items()}
