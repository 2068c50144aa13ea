"""What the stages need of the outside world: the index, other sources, the cache, interpreters, the sandbox."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from packaging.specifiers import SpecifierSet

from pipeline import drafted_migrations, judgements
from pipeline.code_sources import CodeSources
from pipeline.crawl import ArtifactStore, Fetcher, Period, SourceTree, Wanted, gather_stage, releases_stage
from pipeline.crawl.documentation.sites import sites_stage
from pipeline.curation import CurationRules
from pipeline.drafting import Improver, OfflineWriter
from pipeline.drafting.kinds.rules import DescriptionRules, KindRules
from pipeline.environments import (
    NOT_INSPECTED,
    EnvironmentStore,
    environments_stage,
    find_sandbox,
    inspect_release,
)
from pipeline.functions import FunctionWriters, functions_stage
from pipeline.instances import LibraryNames
from pipeline.lake import Lake, Output, Row, sha256_json
from pipeline.lifecycle import lifecycle_stage
from pipeline.problems import ProblemWriter, problems_stage
from pipeline.repository import ProjectSources, RequirementWriter, Workshop, projects_stage
from pipeline.rules import Profile, plain
from pipeline.scenes import run_blocks, scenes_stage
from pipeline.settings import Settings, index_url
from pipeline.surface import (
    ModuleRecord,
    ReadingRules,
    Records,
    Surface,
    SurfaceReader,
    module_name,
    record_of,
    surface_stage,
)
from pipeline.validation import Runner, validation_stage, wanted_versions

if TYPE_CHECKING:
    from pipeline.drafting.model.drafter import ModelDrafter


class House:
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
        self.lake = Lake(settings.lake)
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

    @property
    def has_model(self) -> bool:
        """Whether a model drafts what the offline drafter cannot: with a key of the Anthropic API."""
        return bool(os.environ.get("ANTHROPIC_API_KEY"))

    @property
    def has_asked(self) -> bool:
        """Whether a stage has asked the model, or its memory, for something."""
        return "drafter" in vars(self)

    @cached_property
    def drafter(self) -> ModelDrafter | None:
        """The model that drafts, None without a key."""
        if not self.has_model:
            return None
        # slow to import
        from pipeline.drafting.model.drafter import model_drafter

        return model_drafter(self.settings.answers, self.rules.models, self.run)

    def writer(self, kind: DescriptionRules) -> Improver:
        """Return who writes texts of a kind: the offline drafter, and the model for what that cannot write."""
        offline = OfflineWriter(self.rules.drafting)
        if self.drafter is None:
            return offline
        from pipeline.drafting.kinds.description import DescriptionWriter

        return DescriptionWriter(offline, self.drafter, kind, self.rules.drafting)

    def requirements(self) -> RequirementWriter | None:
        """Return who writes requirements of functions without a docstring: nobody without a model."""
        if self.drafter is None:
            return None
        from pipeline.drafting.kinds.requirement import ModelRequirements

        return ModelRequirements(self.drafter, self.rules.drafts.requirement, self.rules.repository.min_words)

    def by_model(self, kind: KindRules) -> list[KindRules]:
        """Return what texts of a kind depend on beside the offline drafter: nothing where no model drafts."""
        return [kind] if self.has_model else []

    @cached_property
    def workshop(self) -> Workshop:
        """What runs the tests of projects."""
        sources = ProjectSources(
            self.settings.cache / "projects", self.artifacts.fetcher, index_url(), self.rules.repository
        )
        return Workshop(sources, self.environments, find_sandbox(), self.rules.repository, self.settings.workers)

    def trace_projects(self, **tables: list[Row]) -> Output:
        """Run the projects stage: the newest releases and dependents of a library, with their own tests."""
        return projects_stage(
            **tables, workshop=self.workshop, licences=self.rules.licences, allowed=self.rules.quality.licences
        )

    def make_scenes(self, **tables: list[Row]) -> Output:
        """Run the scenes stage: blocks of what the tests of projects reach, with the tests on each block left empty."""
        return scenes_stage(
            **tables, rules=self.rules.scenes, run=partial(run_blocks, self.workshop, self.rules.scenes)
        )

    @cached_property
    def surfaces(self) -> SurfaceReader:
        """What reads surfaces; the records of files that were parsed once are in the cache."""
        rules = ReadingRules(self.rules.surface, self.rules.helpers, self.rules.directives)
        name = sha256_json(plain(self.rules.of_surfaces))[:16]
        path = self.settings.cache / "records" / f"{name}.sqlite"
        return SurfaceReader(Records(path, rules, self.artifacts.contents, self.settings.workers))

    def wanted_sources(self, path: str) -> bool:
        """Return whether a file, by its path from the import root, is worth fetching: tests and the like are not."""
        return self.rules.surface.in_scope(module_name(path))

    def prepare(self, releases: Iterable[Row], tell: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Parse what was never parsed of some releases, on all cores; `tell` hears of (done, total) files."""
        trees = {release["sha256"]: self.artifacts.tree(release, self.wanted_sources) for release in releases}
        self.surfaces.prepare(trees.values(), tell)
        self._trees |= trees

    def surface_of(self, release: Row) -> Surface:
        """Read a release's surface."""
        tree = self._trees.pop(release["sha256"], None) or self.artifacts.tree(release, self.wanted_sources)
        return self.surfaces.read(tree, partial(self._inspect, release))

    def _inspect(self, release: Row, compiled: Mapping[str, str]) -> dict[str, ModuleRecord]:
        """Look into the compiled modules of a release by importing them, where the rules ask for it."""
        if release["library"] not in self.rules.inspection.libraries:
            return {}
        cache = self.settings.cache / "inspections"
        seen = inspect_release(release, list(compiled), self.environments, cache)
        return {name: record_of(name, compiled[name], told) for name, told in seen.items() if NOT_INSPECTED not in told}

    def read_surfaces(self, lake: Lake, library: str, progress: Any) -> Output:
        """Run the surface stage for a library, going on from an earlier run where the releases follow its own."""
        releases = lake.read("releases", library)
        done = {line[0] for line in progress or ()}
        self.prepare(release for release in releases if release["version"] not in done)
        return surface_stage(
            releases, self.surface_of, progress, lambda table: _since(lake, table, library), self.surfaces.forget
        )

    def follow_lives(self, lake: Lake, library: str, progress: Any) -> Output:
        """Run the lifecycle stage for a library, reading only the states that releases since an earlier run need."""
        releases = lake.read("releases", library)
        done = [line[0] for line in progress["releases"]] if progress else []
        where = None
        if done:
            later = [release["version"] for release in releases if release["version"] not in done]
            last = pc.field("last_version")
            where = last.is_null() | last.isin([done[-1], *later]) | pc.field("first_version").isin(later)
        symbols, importable = (lake.read(table, library, where) for table in ("symbols", "importable"))
        lives = lake.read("lifecycles", library, pc.field("removed_in").is_null()) if done else []
        return lifecycle_stage(releases, symbols, importable, self.rules.lifecycle, progress, lives)

    def crawl(self, library: str, known: list[Row]) -> Output:
        """Run the releases stage for a library, beside the releases that are known already."""
        if library in self.rules.stack_overflow.foreign:
            # Of other languages there are posts only.
            return Output({"releases": []}, 0, 0)
        rule = self.profile.rule_of(library)
        wanted = Wanted(library, SpecifierSet(rule.versions), rule.latest, self.period)
        return releases_stage(
            wanted,
            known,
            index_url(),
            self.artifacts,
            self.rules.licences,
            self.settings.workers,
            self.wanted_sources,
        )

    def build_environments(self, **tables: list[Row]) -> Output:
        """Run the environments stage for the releases in which something is to be run."""
        wanted = wanted_versions(**tables, run_alone=self.rules.validation.run_alone)
        return environments_stage(tables["releases"], wanted, self.environments)

    def validate(self, **tables: list[Row]) -> Output:
        """Run the validation stage in the sandbox of this machine."""
        runner = Runner(self.environments, find_sandbox(), self.rules.validation, workers=self.settings.workers)
        return validation_stage(**tables, runner=runner)

    def draft_migrations(self, **tables: list[Row]) -> Output:
        """Run the migrated_code stage in the sandbox of this machine; nothing is run where no model drafts."""
        if self.drafter is None:
            return Output({name: [] for name in drafted_migrations.TABLES}, seen=0, made=0)
        from pipeline.drafted_migrations.stage import Migrating, drafted_migrations_stage

        rules = self.rules
        migrating = Migrating(
            rules=rules.drafts.migrated_code,
            drafting=rules.drafting,
            tagging=rules.lifecycle,
            usage=rules.usage,
            run_alone=rules.validation.run_alone,
            fails=rules.quality.fails_in_target,
            runner=Runner(self.environments, find_sandbox(), rules.validation, workers=self.settings.workers),
            drafter=self.drafter,
        )
        return drafted_migrations_stage(**tables, migrating=migrating)

    def judge_renames(self, **tables: list[Row]) -> Output:
        """Run the judgements stage; nothing is read where no model judges."""
        if self.drafter is None:
            return Output({name: [] for name in judgements.TABLES}, seen=0, made=0)
        from pipeline.drafting.kinds.rename_judgement import ModelJudge
        from pipeline.judgements.stage import Judging, judgements_stage

        releases = {release["version"]: release for release in tables["releases"]}
        rules = self.rules.drafts.rename_judgement
        judging = Judging(
            rules=rules,
            tagging=self.rules.lifecycle,
            sources=lambda version: self.artifacts.tree(releases[version], self.wanted_sources),
            contents=self.artifacts.contents,
            judge=ModelJudge(self.drafter, rules),
        )
        return judgements_stage(**tables, judging=judging)

    def make_problems(self, **tables: list[Row]) -> Output:
        """Run the problems stage in the sandbox of this machine."""
        runner = Runner(self.environments, find_sandbox(), self.rules.validation, workers=self.settings.workers)
        rules = self.rules
        return problems_stage(
            **tables,
            rules=rules.problems,
            drafting=rules.drafting,
            tagging=rules.lifecycle,
            usage=rules.usage,
            runner=runner,
            writer=self.problem_writer(runner),
        )

    def problem_writer(self, runner: Runner) -> ProblemWriter | None:
        """Return who writes problems about changes that no example decides: nobody without a model."""
        if self.drafter is None:
            return None
        from pipeline.drafting.judging import RunJudge
        from pipeline.drafting.kinds.problem import ModelProblems
        from pipeline.drafting.kinds.problem_reading import Reader

        kind, fails = self.rules.drafts.problem, self.rules.quality.fails_in_target
        judge = RunJudge(runner.sandbox, runner.rules, kind.min_coverage, fails, runner.workers)
        reader = Reader(kind, self.rules.drafting, self.rules.problems.function)
        return ModelProblems(self.drafter, kind, reader, judge, runner)

    def make_functions(self, **tables: list[Row]) -> Output:
        """Run the functions stage in the sandbox of this machine."""
        runner = Runner(self.environments, find_sandbox(), self.rules.validation, workers=self.settings.workers)
        rules = self.rules
        return functions_stage(
            **tables,
            rules=rules.functions,
            of_problems=rules.problems,
            tagging=rules.lifecycle,
            usage=rules.usage,
            min_name_length=rules.masking.min_name_length,
            writer=self.writer(rules.drafts.description),
            runner=runner,
            writers=self._function_writers(runner),
        )

    def _function_writers(self, runner: Runner) -> FunctionWriters | None:
        """Return who writes functions and tests beside the rules: nobody without a model."""
        if self.drafter is None:
            return None
        from pipeline.drafting.judging import RunJudge
        from pipeline.drafting.kinds.function_tests import ModelTests
        from pipeline.drafting.kinds.task_function import ModelFunctions

        kinds, fails = self.rules.drafts, self.rules.quality.fails_in_target
        run = runner.sandbox, runner.rules, runner.workers
        judge = RunJudge(runner.sandbox, runner.rules, kinds.function_tests.min_coverage, fails, runner.workers)
        return FunctionWriters(
            ModelFunctions(self.drafter, kinds.task_function, self.rules.drafting, *run),
            ModelTests(self.drafter, kinds.function_tests, judge),
        )

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

    def gather(self, lake: Lake, library: str, progress: Any) -> Output:
        """Run the gather stage for a library, beside what was found before."""
        releases, known = lake.read("releases", library), lake.read("found", library)
        return gather_stage(library, releases, known, self.code_sources.wanted(), self.code_period, progress)

    def read_sites(self, lake: Lake, library: str, progress: Any) -> Output:
        """Run the sites stage for a library, beside what its sites said before."""
        releases, known = lake.read("releases", library), lake.read("site_documents", library)
        return sites_stage(library, releases, known, self.code_sources.sites(), self.code_period, progress)


def _since(lake: Lake, table: str, library: str) -> dict[str, str]:
    """Return the first version of each row of a library that still holds, by path."""
    holding = lake.read(table, library, pc.field("last_version").is_null(), ("path", "first_version"))
    return {row["path"]: row["first_version"] for row in holding}
