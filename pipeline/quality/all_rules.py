"""Every rule file that the stages read, loaded together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.surface.extract.signature_decorators import HelperRules
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.api.surface.parse.rules import SurfaceRules
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.versions import cache_version
from pipeline.corpus.dependents.rules import DependentRules
from pipeline.corpus.documentation.rules import DocumentationRules
from pipeline.corpus.github.rules import GitHubRules
from pipeline.corpus.own_tests.rules import OwnTestRules
from pipeline.corpus.pins.rules import PinRules, pin_rules
from pipeline.corpus.python_files import PythonFileRules
from pipeline.corpus.snippets.rules import SnippetRules
from pipeline.corpus.stack_overflow.mentions import stack_overflow_rules, try_examples
from pipeline.corpus.stack_overflow.rules import StackOverflowRules
from pipeline.corpus.usages.rules import UsageRules
from pipeline.execution.environments.builds.build_rules import BuildRules, build_rules
from pipeline.execution.environments.missing import MissingRules, missing_rules
from pipeline.execution.environments.resolution.failures import FailureRules, failure_rules
from pipeline.execution.environments.resolution.rules import EnvironmentRules, InspectionRules, environment_rules
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.validation.rules import ValidationRules
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.contexts.rules import ContextRules
from pipeline.families.functions.rules import FunctionRules
from pipeline.families.problems.rules import ProblemRules
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.scenes.rules import SceneRules
from pipeline.index.licences import LicenceRules
from pipeline.index.rules import CrawlRules
from pipeline.llm.client.rules import ModelRules
from pipeline.llm.rules import DraftingRules
from pipeline.llm.tasks.rules import DraftRules, draft_rules
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.annotation_rules import AnnotationRules
from pipeline.quality.flags.rules import FlagRules


@dataclass(frozen=True)
class CurationRules:
    """Every rule file that a stage reads."""

    crawl: CrawlRules
    licences: LicenceRules
    dependents: DependentRules
    own_tests: OwnTestRules
    python_files: PythonFileRules
    pins: PinRules
    github: GitHubRules
    documentation: DocumentationRules
    stack_overflow: StackOverflowRules
    surface: SurfaceRules
    helpers: HelperRules
    lifecycle: LifecycleRules
    directives: DirectiveRules
    inspection: InspectionRules
    snippets: SnippetRules
    usage: UsageRules
    masking: MaskingRules
    codemods: CodemodRules
    compatibilities: CompatibilityRules
    contexts: ContextRules
    drafting: DraftingRules
    models: ModelRules
    drafts: DraftRules
    mutation: MutationRules
    problems: ProblemRules
    functions: FunctionRules
    environments: EnvironmentRules
    builds: BuildRules
    failures: FailureRules
    missing: MissingRules
    """Read when a build fails; here so that a mistake in it ends a refresh before it begins."""
    validation: ValidationRules
    flags: FlagRules
    annotation: AnnotationRules
    quality: QualityRules
    repository: RepositoryRules
    scenes: SceneRules

    @property
    def of_surfaces(self) -> list[Any]:
        """The rules of reading a file."""
        return [cache_version("surfaces"), self.surface, self.helpers, self.directives]

    @property
    def of_environments(self) -> list[Any]:
        """The rules of the environment of a release, or of the outcome without one."""
        return [self.environments, self.builds, self.failures]

    @property
    def of_history(self) -> list[Any]:
        """The rules of the surfaces of releases, and so of the changes between them."""
        return [self.of_surfaces, self.inspection]

    def try_out(self) -> None:
        """Try the examples that only many patterns together decide: once for a refresh, not in each of its tasks.

        Errors: RuleError with the examples that are read otherwise.
        """
        try_examples(self.stack_overflow)

    @classmethod
    def read(cls) -> CurationRules:
        """Read the rule files that ship in `curation_rules/`, or those of the folder DRIFTLINE_RULES.

        Errors: RuleError with file and line of what is wrong.
        """
        folder = settings().rules
        models = load(folder / "models.yaml", ModelRules)
        return cls(
            crawl=load(folder / "crawl.yaml", CrawlRules),
            licences=load(folder / "licences.yaml", LicenceRules),
            dependents=load(folder / "dependents.yaml", DependentRules),
            own_tests=load(folder / "own_tests.yaml", OwnTestRules),
            pins=pin_rules(folder),
            python_files=load(folder / "python_files.yaml", PythonFileRules),
            github=load(folder / "github.yaml", GitHubRules),
            documentation=load(folder / "documentation.yaml", DocumentationRules),
            stack_overflow=stack_overflow_rules(folder),
            surface=load(folder / "surface.yaml", SurfaceRules),
            helpers=load(folder / "helpers.yaml", HelperRules),
            lifecycle=load(folder / "tags.yaml", LifecycleRules),
            directives=load(folder / "directives.yaml", DirectiveRules),
            inspection=load(folder / "inspection.yaml", InspectionRules),
            snippets=load(folder / "snippets.yaml", SnippetRules),
            usage=load(folder / "usage.yaml", UsageRules),
            masking=load(folder / "masking.yaml", MaskingRules),
            compatibilities=load(folder / "compatibilities.yaml", CompatibilityRules),
            codemods=load(folder / "codemods.yaml", CodemodRules),
            contexts=load(folder / "contexts.yaml", ContextRules),
            drafting=load(folder / "drafting.yaml", DraftingRules),
            models=models,
            drafts=draft_rules(folder, models),
            mutation=load(folder / "mutation.yaml", MutationRules),
            problems=load(folder / "problems.yaml", ProblemRules),
            functions=load(folder / "functions.yaml", FunctionRules),
            environments=environment_rules(folder),
            builds=build_rules(folder),
            failures=failure_rules(folder),
            missing=missing_rules(folder),
            validation=load(folder / "validation.yaml", ValidationRules),
            annotation=load(folder / "annotation.yaml", AnnotationRules),
            flags=load(folder / "flags.yaml", FlagRules),
            quality=load(folder / "quality.yaml", QualityRules),
            repository=load(folder / "repository.yaml", RepositoryRules),
            scenes=load(folder / "scenes.yaml", SceneRules),
        )
