"""The stages in the order of the picture: what each reads, writes and depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipeline import drafted_migrations, judgements
from pipeline.contexts import contexts_stage, controlled_stage, retrievers
from pipeline.crawl.documentation.stage import api_documents_stage
from pipeline.drafted_migrations import with_drafted
from pipeline.drafting import drafting_stage
from pipeline.environments import (
    discover,
)
from pipeline.house import House
from pipeline.instances import instances_stage
from pipeline.lake import Lake, Output, Stage
from pipeline.lifecycle import directives_stage, document_changes
from pipeline.publish import (
    controlled_gate_stage,
    functions_gate_stage,
    gate_stage,
    problems_gate_stage,
    repository_gate_stage,
    scenes_gate_stage,
)
from pipeline.repository import repository_tasks_stage
from pipeline.review import flags_stage
from pipeline.rules import plain
from pipeline.snippets import snippets_stage
from pipeline.usage import usage_stage

GROUPS: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl", "gather", "sites"),
    "prove": (
        "surface",
        "lifecycle",
        "directives",
        "api_documents",
        "snippets",
        "usage",
        "instances",
        "drafting",
        "controlled",
        "environments",
        "validation",
        "migrated_code",
        "judgements",
        "review",
        "gate",
        "problems",
        "problems_gate",
        "functions",
        "functions_gate",
        "controlled_gate",
        "contexts",
        "projects",
        "repository_tasks",
        "repository_gate",
        "scenes",
        "scenes_gate",
    ),
}
"""The stages that one Airflow task runs for a library: what waits for the index, and what needs a core.

A task costs more than a second before it does any work, so the short stages of analysis have none of their own.
"""


def stages_of(house: House) -> dict[str, Stage]:
    """Return all stages by name, in the order in which data flows."""
    return {stage.name: stage for stage in (*_collection(house), *_analysis(house), *_proof(house))}


def _collection(house: House) -> Iterator[Stage]:
    """Yield the stages that look at the outside world each time, and add to what is in the lake."""

    def crawl(lake: Lake, library: str, _: Any) -> Output:
        return house.crawl(library, lake.read("releases", library))

    yield Stage("crawl", 1, (), ("releases",), lambda: None, crawl)
    yield Stage("gather", 1, (), ("found",), lambda: None, house.gather)
    yield Stage("sites", 1, (), ("site_documents",), lambda: None, house.read_sites)


def _analysis(house: House) -> Iterator[Stage]:
    rules = house.rules
    yield Stage(
        "surface",
        3,
        ("releases",),
        ("symbols", "importable", "documents"),
        lambda: plain(rules.of_lives),
        house.read_surfaces,
    )
    yield Stage(
        "lifecycle",
        3,
        ("releases", "symbols", "importable"),
        ("changes", "lifecycles"),
        lambda: plain([rules.of_lives, rules.lifecycle]),
        house.follow_lives,
    )
    yield _stage(
        "directives",
        reads="releases documents symbols lifecycles changes",
        writes="directives",
        depends=lambda: rules.directives,
        run=lambda **tables: directives_stage(**tables, rules=rules.directives),
    )
    yield _stage(
        "api_documents",
        reads="releases documents symbols site_documents",
        writes="api_documents",
        depends=lambda: rules.directives,
        run=lambda **tables: api_documents_stage(**tables, rules=rules.directives),
        version=2,
    )
    yield _stage(
        "snippets",
        reads="releases documents symbols found",
        writes="snippets",
        depends=lambda: [rules.snippets, rules.python_files, rules.quality.licences, rules.usage],
        run=lambda **tables: snippets_stage(
            **tables,
            rules=rules.snippets,
            files=rules.python_files,
            licences=rules.quality.licences,
            usage=rules.usage,
        ),
        version=3,
    )
    yield _stage(
        "usage",
        reads="releases snippets symbols",
        writes="usages",
        depends=lambda: rules.usage,
        run=lambda **tables: usage_stage(**tables, rules=rules.usage),
        version=3,
    )
    yield _stage(
        "instances",
        reads="releases snippets usages symbols changes lifecycles",
        writes="completions migrations rewrites block_completions",
        depends=lambda: [
            rules.masking,
            rules.lifecycle,
            rules.stack_overflow.foreign,
            rules.codemods,
            rules.validation.run_alone,
        ],
        run=lambda **tables: instances_stage(
            **tables,
            tagging=rules.lifecycle,
            rules=rules.masking,
            foreign=house.foreign_names(),
            codemods=rules.codemods,
            run_alone=rules.validation.run_alone,
        ),
        version=5,
    )
    yield _stage(
        "drafting",
        reads="completions migrations snippets documents",
        writes="drafts refused_drafts",
        depends=lambda: [rules.drafting, *house.by_model(rules.drafts.description)],
        run=lambda **tables: drafting_stage(
            **tables, rules=rules.drafting, writer=house.writer(rules.drafts.description)
        ),
        version=3,
    )
    yield _stage(
        "controlled",
        reads="releases api_documents symbols changes lifecycles",
        writes="controlled_completions",
        depends=lambda: [
            rules.contexts.controlled,
            rules.lifecycle,
            rules.drafting,
            *house.by_model(rules.drafts.description),
            rules.masking.ignore_case,
        ],
        run=lambda **tables: controlled_stage(
            **tables,
            tagging=rules.lifecycle,
            rules=rules.contexts.controlled,
            writer=house.writer(rules.drafts.description),
            ignore_case=rules.masking.ignore_case,
        ),
        version=2,
    )


def _proof(house: House) -> Iterator[Stage]:
    rules = house.rules
    yield _stage(
        "environments",
        reads="releases snippets completions migrations changes symbols controlled_completions rewrites",
        writes="environments",
        # An interpreter that was installed since makes a release worth another try.
        depends=lambda: [
            rules.of_environments,
            rules.validation.run_alone,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.build_environments,
        version=3,
    )
    yield _stage(
        "validation",
        reads="releases snippets completions migrations changes symbols environments controlled_completions rewrites",
        writes="verdicts",
        depends=lambda: rules.validation,
        run=house.validate,
        version=3,
    )
    yield _stage(
        "migrated_code",
        reads="releases snippets usages symbols changes lifecycles documents migrations environments verdicts",
        writes=" ".join(drafted_migrations.TABLES),
        depends=lambda: (
            [
                *house.by_model(rules.drafts.migrated_code),
                rules.drafting,
                rules.lifecycle,
                rules.usage,
                rules.validation,
                sorted(rules.quality.fails_in_target),
            ]
            if house.has_model
            else []
        ),
        run=house.draft_migrations,
        version=2,
    )
    yield _stage(
        "judgements",
        reads="releases symbols importable changes documents completions migrations",
        writes=" ".join(judgements.TABLES),
        depends=lambda: [*house.by_model(rules.drafts.rename_judgement), rules.lifecycle] if house.has_model else [],
        run=house.judge_renames,
    )
    yield _stage(
        "review",
        reads="completions migrations drafts refused_drafts releases changes verdicts snippets directives"
        " drafted_migrations drafted_verdicts drafted_descriptions judgements",
        writes="flags",
        depends=lambda: rules.flags,
        run=lambda **tables: flags_stage(**with_drafted(**tables), rules=rules.flags),
        version=3,
    )
    yield _stage(
        "gate",
        reads="completions migrations block_completions drafts flags snippets releases verdicts environments"
        " changes directives drafted_migrations drafted_verdicts drafted_descriptions",
        writes="published_changes published_completions published_migrations published_block_completions",
        depends=lambda: [rules.quality, rules.directives, rules.validation.run_alone, rules.drafting],
        run=lambda changes, directives, **tables: gate_stage(
            **with_drafted(**tables),
            changes=document_changes(changes, directives, rules.directives),
            rules=rules.quality,
            run_alone=rules.validation.run_alone,
            drafting=rules.drafting,
        ),
        version=3,
    )
    yield _stage(
        "controlled_gate",
        reads="controlled_completions releases changes published_changes verdicts",
        writes="published_controlled_completions",
        depends=lambda: rules.quality,
        run=lambda **tables: controlled_gate_stage(**tables, rules=rules.quality),
    )
    yield _stage(
        "contexts",
        reads="releases usages api_documents published_completions",
        writes="published_contexts published_retrievals",
        depends=lambda: [
            rules.contexts,
            rules.drafting,
            *house.by_model(rules.drafts.instruction),
            rules.masking.ignore_case,
        ],
        run=lambda **tables: contexts_stage(
            **tables,
            rules=rules.contexts,
            writer=house.writer(rules.drafts.instruction),
            retrievers=retrievers(rules.contexts.retrieval),
            ignore_case=rules.masking.ignore_case,
        ),
        version=3,
    )
    yield _stage(
        "projects",
        reads="releases found",
        writes="projects project_files traced_functions reaches",
        depends=lambda: [
            rules.repository,
            rules.licences,
            sorted(rules.quality.licences),
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.trace_projects,
        version=2,
    )
    yield _stage(
        "repository_tasks",
        reads="projects traced_functions reaches project_files",
        writes="repository_tasks",
        depends=lambda: [rules.repository, *house.by_model(rules.drafts.requirement)],
        run=lambda **tables: repository_tasks_stage(**tables, workshop=house.workshop, writer=house.requirements()),
        version=2,
    )
    yield _stage(
        "repository_gate",
        reads="repository_tasks projects",
        writes="published_repository_tasks",
        depends=lambda: rules.quality,
        run=lambda **tables: repository_gate_stage(**tables, rules=rules.quality),
    )
    yield _stage(
        "scenes",
        reads="projects project_files traced_functions reaches",
        writes="scenes",
        depends=lambda: [rules.scenes, rules.repository],
        run=house.make_scenes,
        version=3,
    )
    yield _stage(
        "scenes_gate",
        reads="scenes projects project_files",
        writes="published_scenes",
        depends=lambda: rules.quality,
        run=lambda **tables: scenes_gate_stage(**tables, rules=rules.quality),
    )
    yield _stage(
        "problems",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts",
        writes="problems problem_runs problem_environments refused_problems",
        depends=lambda: [
            rules.problems,
            [[kind, rules.quality.fails_in_target] for kind in house.by_model(rules.drafts.problem)],
            rules.drafting,
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.make_problems,
        version=8,
    )
    yield _stage(
        "problems_gate",
        reads="problems problem_runs snippets releases published_changes",
        writes="published_problems",
        depends=lambda: [rules.quality, rules.problems],
        run=lambda **tables: problems_gate_stage(**tables, rules=rules.quality, least=rules.problems),
        version=4,
    )
    yield _stage(
        "functions",
        reads="releases snippets rewrites symbols changes lifecycles documents api_documents verdicts",
        writes="functions function_runs function_environments refused_functions",
        depends=lambda: [
            rules.functions,
            rules.problems,
            rules.masking.min_name_length,
            rules.drafting,
            *house.by_model(rules.drafts.description),
            *house.by_model(rules.drafts.task_function),
            *([kind, rules.quality.fails_in_target] for kind in house.by_model(rules.drafts.function_tests)),
            rules.lifecycle,
            rules.usage,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=house.make_functions,
        version=2,
    )
    yield _stage(
        "functions_gate",
        reads="functions function_runs refused_functions snippets published_changes",
        writes="published_functions",
        depends=lambda: [rules.quality, rules.functions, rules.masking],
        run=lambda **tables: functions_gate_stage(
            **tables, rules=rules.quality, least=rules.functions, masking=rules.masking
        ),
        version=3,
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
