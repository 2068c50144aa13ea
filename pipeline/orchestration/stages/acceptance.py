"""The stages of flags, decisions and acceptance, and the contexts of accepted completions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.api.history.documented import document_changes
from pipeline.api.history.in_use import changes_in_use, paths_in_use
from pipeline.core.versions import stage_version
from pipeline.families.contexts.retrieval import retrievers
from pipeline.families.contexts.stage import contexts_stage
from pipeline.families.model_migrations.tables import DRAFTED, with_drafted
from pipeline.lake.reads import Read
from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.model import writer
from pipeline.orchestration.resources.reading import read_decisions
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.declaring import declared
from pipeline.quality.acceptance.compatibilities import compatibilities_acceptance_stage
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.controlled import controlled_acceptance_stage
from pipeline.quality.acceptance.functions import functions_acceptance_stage
from pipeline.quality.acceptance.problems import problems_acceptance_stage
from pipeline.quality.acceptance.public_names import OF_PLACES
from pipeline.quality.acceptance.repository_tasks import repository_acceptance_stage
from pipeline.quality.acceptance.scenes import scenes_acceptance_stage
from pipeline.quality.acceptance.sourced import PROJECTS, SOURCE_COLUMNS
from pipeline.quality.flags.flags import flags_stage
from pipeline.quality.flags.subjects import READS


def acceptance(resources: Resources) -> Iterator[Stage]:
    """Yield the stages that flag rows, read decisions, and accept the rows of each family."""
    rules = resources.rules
    yield declared(
        "flags",
        reads=" ".join((*READS, *DRAFTED)),
        writes="flags",
        depends=lambda: [rules.flags, rules.quality.fails_in_target, rules.drafting],
        run=lambda tables: flags_stage(
            with_drafted(tables), rules.flags, rules.quality.fails_in_target, rules.drafting
        ),
        partly=[
            Read("snippets", ("source", "origin", "place", "licence", "version_evidence", "version_statement")),
            Read("projects", ("project", "version", "licence")),
        ],
    )
    yield Stage(
        "decisions", stage_version("decisions"), (), ("reviews",), lambda: None, partial(read_decisions, resources)
    )
    yield declared(
        "acceptance",
        reads="completions migrations block_completions drafts flags snippets releases symbols verdicts environments"
        " changes behaviours directives model_migrations drafted_verdicts drafted_descriptions reviews"
        " mutation_scores other_answers usages own_tests",
        writes="published_changes published_completions published_migrations published_block_completions",
        depends=lambda: [
            rules.quality,
            rules.lifecycle,
            rules.directives,
            rules.validation.executable_sources,
            rules.drafting,
            rules.mutation,
        ],
        run=lambda tables: acceptance_stage(
            {
                **with_drafted(tables),
                "changes": changes_in_use(
                    document_changes(tables["changes"], tables["directives"], rules.directives),
                    paths_in_use(tables["usages"], tables["own_tests"]),
                    rules.lifecycle,
                ),
            },
            rules=rules.quality,
            executable_sources=rules.validation.executable_sources,
            drafting=rules.drafting,
            mutation=rules.mutation,
        ),
        partly=[
            Read("snippets", (*SOURCE_COLUMNS, "title")),
            OF_PLACES,
            Read("environments", ("outcome", "detail")),
            Read("usages", ("path",)),
            Read("own_tests", ("apis",)),
        ],
    )
    yield declared(
        "problems_acceptance",
        reads="problems problem_runs snippets symbols releases published_changes flags reviews",
        writes="published_problems",
        depends=lambda: [rules.quality, rules.problems, rules.mutation, rules.drafting],
        run=lambda tables: problems_acceptance_stage(
            tables, rules.quality, rules.problems, rules.mutation, rules.drafting
        ),
        partly=[Read("snippets", SOURCE_COLUMNS), OF_PLACES],
    )
    yield declared(
        "functions_acceptance",
        reads="functions function_runs snippets symbols releases published_changes flags reviews",
        writes="published_functions",
        depends=lambda: [rules.quality, rules.functions, rules.masking, rules.mutation, rules.drafting],
        run=lambda tables: functions_acceptance_stage(
            tables, rules.quality, rules.functions, rules.masking, rules.mutation, rules.drafting
        ),
        partly=[Read("snippets", SOURCE_COLUMNS), OF_PLACES],
    )
    yield declared(
        "controlled_acceptance",
        reads="controlled_completions releases symbols changes behaviours published_changes verdicts flags reviews",
        writes="published_controlled_completions",
        depends=lambda: [rules.quality, rules.drafting],
        run=lambda tables: controlled_acceptance_stage(tables, rules.quality, rules.drafting.spelled_name),
        partly=[OF_PLACES],
    )
    yield declared(
        "compatibilities_acceptance",
        reads="compatibilities snippets releases published_changes flags reviews",
        writes="published_compatibilities",
        depends=lambda: [rules.quality, rules.compatibilities],
        run=lambda tables: compatibilities_acceptance_stage(tables, rules.quality, rules.compatibilities),
        partly=[Read("snippets", SOURCE_COLUMNS)],
    )
    yield declared(
        "contexts",
        reads="releases usages api_documents published_completions",
        writes="published_contexts published_retrievals",
        depends=lambda: [
            rules.contexts,
            rules.drafting,
            *resources.by_model(rules.drafts.instruction),
            rules.masking,
        ],
        run=lambda tables: contexts_stage(
            tables,
            rules=rules.contexts,
            writer=writer(resources, rules.drafts.instruction),
            retrievers=retrievers(rules.contexts.retrieval),
            masking=rules.masking,
        ),
    )
    yield declared(
        "repository_acceptance",
        reads="repository_tasks projects flags reviews",
        writes="published_repository_tasks",
        depends=lambda: [rules.quality, rules.mutation],
        run=lambda tables: repository_acceptance_stage(tables, rules=rules.quality, mutation=rules.mutation),
        partly=[PROJECTS],
    )
    yield declared(
        "scenes_acceptance",
        reads="scenes projects project_files flags reviews",
        writes="published_scenes",
        depends=lambda: [rules.quality, rules.mutation],
        run=lambda tables: scenes_acceptance_stage(tables, rules=rules.quality, mutation=rules.mutation),
        partly=[PROJECTS],
    )
