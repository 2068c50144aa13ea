"""The stages of the house in the order of the picture: what each reads, writes and depends on.

This is the one place where stages meet the outside world: the index, the cache, interpreters, the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packaging.specifiers import SpecifierSet

from pipeline.crawl import ArtifactStore, CrawlRules, Fetcher, LicenceRules, Period, Wanted, releases_stage
from pipeline.drafting import DraftingRules, drafting_stage
from pipeline.environments import (
    EnvironmentRules,
    EnvironmentStore,
    discover,
    environment_rules,
    environments_stage,
    find_sandbox,
)
from pipeline.instances import MaskingRules, instances_stage
from pipeline.lake import Lake, Output, Row, Stage, replacing, sha256_json
from pipeline.lifecycle import LifecycleRules, lifecycle_stage
from pipeline.publish import QualityRules, gate_stage
from pipeline.review import FlagRules, flags_stage
from pipeline.rules import Profile, load, plain
from pipeline.settings import Settings, index_url, settings
from pipeline.snippets import SnippetRules, snippets_stage
from pipeline.surface import SURFACE_VERSION, Surface, SurfaceRules, read_surface, surface_stage
from pipeline.usage import UsageRules, usage_stage
from pipeline.validation import Runner, ValidationRules, validation_stage, wanted_versions

GROUPS: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl",),
    "prove": (
        "surface",
        "lifecycle",
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


@dataclass(frozen=True)
class CurationRules:
    """Every rule file that a stage reads."""

    crawl: CrawlRules
    licences: LicenceRules
    surface: SurfaceRules
    lifecycle: LifecycleRules
    snippets: SnippetRules
    usage: UsageRules
    masking: MaskingRules
    drafting: DraftingRules
    environments: EnvironmentRules
    validation: ValidationRules
    flags: FlagRules
    quality: QualityRules

    @classmethod
    def read(cls) -> CurationRules:
        """Read the rule files that ship in `curation_rules/`, or those of the folder DRIFTLINE_RULES.

        Errors: RuleError with file and line of what is wrong.
        """
        folder = settings().rules
        return cls(
            crawl=load(folder / "crawl.yaml", CrawlRules),
            licences=load(folder / "licences.yaml", LicenceRules),
            surface=load(folder / "surface.yaml", SurfaceRules),
            lifecycle=load(folder / "tags.yaml", LifecycleRules),
            snippets=load(folder / "snippets.yaml", SnippetRules),
            usage=load(folder / "usage.yaml", UsageRules),
            masking=load(folder / "masking.yaml", MaskingRules),
            drafting=load(folder / "drafting.yaml", DraftingRules),
            environments=environment_rules(folder),
            validation=load(folder / "validation.yaml", ValidationRules),
            flags=load(folder / "flags.yaml", FlagRules),
            quality=load(folder / "quality.yaml", QualityRules),
        )


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

    def surface_of(self, release: Row) -> Surface:
        """Return a release's surface, read once for a file and a set of rules, and kept in the cache."""
        rules = sha256_json([SURFACE_VERSION, plain(self.rules.surface)])[:16]
        path = self.settings.cache / "surfaces" / rules / f"{release['sha256']}.msgpack"
        if not path.is_file():
            surface = read_surface(self.artifacts.tree(release), self.rules.surface)
            with replacing(path) as temporary:
                temporary.write_bytes(surface.to_bytes())
            return surface
        return Surface.from_bytes(path.read_bytes())

    def crawl(self, library: str, known: list[Row]) -> Output:
        """Run the releases stage for a library, beside the releases that are known already."""
        rule = self.profile.rule_of(library)
        wanted = Wanted(library, SpecifierSet(rule.versions), rule.latest, self.period)
        return releases_stage(wanted, known, index_url(), self.artifacts, self.rules.licences, self.settings.workers)

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

    def _crawl(self, lake: Lake, library: str) -> Output:
        return self.crawl(library, lake.read("releases", library))

    def _analysis(self, rules: CurationRules) -> Iterator[Stage]:
        yield _stage(
            "surface",
            reads="releases",
            writes="symbols documents",
            depends=lambda: [SURFACE_VERSION, rules.surface],
            run=lambda releases: surface_stage(releases, self.surface_of),
        )
        yield _stage(
            "lifecycle",
            reads="releases symbols",
            writes="changes lifecycles",
            depends=lambda: rules.lifecycle,
            run=lambda **tables: lifecycle_stage(**tables, rules=rules.lifecycle),
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
            depends=lambda: [rules.environments, [interpreter.python for interpreter in discover()]],
            run=self.build_environments,
        )
        yield _stage(
            "validation",
            reads="releases snippets completions migrations changes symbols environments",
            writes="verdicts",
            depends=lambda: rules.validation,
            run=self.validate,
        )
        yield _stage(
            "review",
            reads="completions migrations drafts releases changes verdicts snippets",
            writes="flags",
            depends=lambda: rules.flags,
            run=lambda **tables: flags_stage(**tables, rules=rules.flags),
        )
        yield _stage(
            "gate",
            reads="completions migrations drafts flags snippets releases verdicts environments changes",
            writes="published_changes published_completions published_migrations",
            depends=lambda: rules.quality,
            run=lambda **tables: gate_stage(**tables, rules=rules.quality),
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

    def run_on_lake(lake: Lake, library: str) -> Output:
        return run(**{table: lake.read(table, library) for table in tables})

    return Stage(name, version, tables, tuple(writes.split()), lambda: plain(depends()), run_on_lake)
