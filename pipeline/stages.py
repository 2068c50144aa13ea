"""The stages of the house in the order of the picture: what each reads, writes and depends on.

This is the one place where stages meet the outside world: the index, the cache, interpreters, the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import pyarrow.compute as pc
from packaging.specifiers import SpecifierSet

from pipeline.crawl import ArtifactStore, Fetcher, Period, SourceTree, Wanted, releases_stage
from pipeline.curation import CurationRules
from pipeline.drafting import drafting_stage
from pipeline.environments import (
    NOT_INSPECTED,
    EnvironmentStore,
    discover,
    environments_stage,
    find_sandbox,
    inspect_release,
)
from pipeline.instances import instances_stage
from pipeline.lake import Lake, Output, Row, Stage, sha256_json
from pipeline.lifecycle import directives_stage, document_changes, lifecycle_stage
from pipeline.publish import gate_stage
from pipeline.review import flags_stage
from pipeline.rules import Profile, plain
from pipeline.settings import Settings, index_url
from pipeline.snippets import snippets_stage
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
from pipeline.usage import usage_stage
from pipeline.validation import Runner, validation_stage, wanted_versions

GROUPS: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl",),
    "prove": (
        "surface",
        "lifecycle",
        "directives",
        "snippets",
        "usage",
        "instances",
        "drafting",
        "environments",
        "validation",
        "review",
        "gate",
    ),
}
"""The stages that one Airflow task runs for a library: what waits for the index, and what needs a core.

A task costs more than a second before it does any work, so the short stages of analysis have none of their own.
"""


class House:
    """The stages over one profile and period, with what they need of the outside world.

    What is costly to make (interpreters, sandbox, environments) is made when a stage runs that needs it.
    """

    def __init__(self, settings: Settings, profile: Profile, period: Period) -> None:
        self.settings = settings
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
        return environments_stage(tables["releases"], wanted_versions(**tables), self.environments)

    def validate(self, **tables: list[Row]) -> Output:
        """Run the validation stage in the sandbox of this machine."""
        runner = Runner(self.environments, find_sandbox(), self.rules.validation, workers=self.settings.workers)
        return validation_stage(**tables, runner=runner)

    def stages(self) -> dict[str, Stage]:
        """Return all stages by name, in the order in which data flows."""
        rules = self.rules
        crawl = Stage("crawl", 1, (), ("releases",), lambda: None, self._crawl)
        return {stage.name: stage for stage in (crawl, *self._analysis(rules), *self._proof(rules))}

    def _crawl(self, lake: Lake, library: str, _: Any) -> Output:
        return self.crawl(library, lake.read("releases", library))

    def _analysis(self, rules: CurationRules) -> Iterator[Stage]:
        yield Stage(
            "surface",
            3,
            ("releases",),
            ("symbols", "importable", "documents"),
            lambda: plain(rules.of_lives),
            self.read_surfaces,
        )
        yield Stage(
            "lifecycle",
            3,
            ("releases", "symbols", "importable"),
            ("changes", "lifecycles"),
            lambda: plain([rules.of_lives, rules.lifecycle]),
            self.follow_lives,
        )
        yield _stage(
            "directives",
            reads="releases documents symbols lifecycles changes",
            writes="directives",
            depends=lambda: rules.directives,
            run=lambda **tables: directives_stage(**tables, rules=rules.directives),
        )
        yield _stage(
            "snippets",
            reads="releases documents symbols",
            writes="snippets",
            depends=lambda: rules.snippets,
            run=lambda **tables: snippets_stage(**tables, rules=rules.snippets),
        )
        yield _stage(
            "usage",
            reads="releases snippets symbols",
            writes="usages",
            depends=lambda: rules.usage,
            run=lambda **tables: usage_stage(**tables, rules=rules.usage),
        )
        yield _stage(
            "instances",
            reads="releases snippets usages symbols changes lifecycles",
            writes="completions migrations",
            depends=lambda: [rules.masking, rules.lifecycle],
            run=lambda **tables: instances_stage(**tables, tagging=rules.lifecycle, rules=rules.masking),
        )
        yield _stage(
            "drafting",
            reads="completions migrations snippets documents",
            writes="drafts",
            depends=lambda: rules.drafting,
            run=lambda **tables: drafting_stage(**tables, rules=rules.drafting),
        )

    def _proof(self, rules: CurationRules) -> Iterator[Stage]:
        yield _stage(
            "environments",
            reads="releases snippets completions migrations changes symbols",
            writes="environments",
            # An interpreter that was installed since makes a release worth another try.
            depends=lambda: [rules.of_environments, [interpreter.python for interpreter in discover()]],
            run=self.build_environments,
            version=2,
        )
        yield _stage(
            "validation",
            reads="releases snippets completions migrations changes symbols environments",
            writes="verdicts",
            depends=lambda: rules.validation,
            run=self.validate,
            version=2,
        )
        yield _stage(
            "review",
            reads="completions migrations drafts releases changes verdicts snippets directives",
            writes="flags",
            depends=lambda: rules.flags,
            run=lambda **tables: flags_stage(**tables, rules=rules.flags),
        )
        yield _stage(
            "gate",
            reads="completions migrations drafts flags snippets releases verdicts environments changes directives",
            writes="published_changes published_completions published_migrations",
            depends=lambda: [rules.quality, rules.directives],
            run=lambda changes, directives, **tables: gate_stage(
                **tables, changes=document_changes(changes, directives, rules.directives), rules=rules.quality
            ),
        )


def _stage(
    name: str,
    *,
    reads: str,
    writes: str,
    depends: Callable[[], Any],
    run: Callable[..., Output],
    version: int = 1,
) -> Stage:
    """Make a stage of a function that takes the tables it reads by name."""
    tables = tuple(reads.split())

    def run_on_lake(lake: Lake, library: str, _: Any) -> Output:
        return run(**{table: lake.read(table, library) for table in tables})

    return Stage(name, version, tables, tuple(writes.split()), lambda: plain(depends()), run_on_lake)


def _since(lake: Lake, table: str, library: str) -> dict[str, str]:
    """Return the first version of each row of a library that still holds, by path."""
    holding = lake.read(table, library, pc.field("last_version").is_null(), ("path", "first_version"))
    return {row["path"]: row["first_version"] for row in holding}
