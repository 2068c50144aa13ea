"""The stages that flag what a person should see, read what people decided, and let through what is proven."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.contexts import contexts_stage, retrievers
from pipeline.drafted_migrations.tables import DRAFTED, with_drafted
from pipeline.house import House
from pipeline.house.model import writer
from pipeline.house.reading import read_reviews
from pipeline.lake import Stage
from pipeline.lifecycle import document_changes
from pipeline.publish import (
    controlled_gate_stage,
    functions_gate_stage,
    gate_stage,
    problems_gate_stage,
    repository_gate_stage,
    scenes_gate_stage,
)
from pipeline.review import READS, flags_stage
from pipeline.stages.declaring import declared


def gates(house: House) -> Iterator[Stage]:
    """Yield the stages of review, and the gate of every family."""
    rules = house.rules
    yield declared(
        "review",
        reads=" ".join((*READS, *DRAFTED)),
        writes="flags",
        depends=lambda: [rules.flags, rules.quality.fails_in_target, rules.drafting],
        run=lambda **tables: flags_stage(
            with_drafted(**tables), rules.flags, rules.quality.fails_in_target, rules.drafting
        ),
        version=4,
    )
    yield Stage("reviews", 1, (), ("reviews",), lambda: None, partial(read_reviews, house))
    yield declared(
        "gate",
        reads="completions migrations block_completions drafts flags snippets releases verdicts environments"
        " changes directives drafted_migrations drafted_verdicts drafted_descriptions reviews",
        writes="published_changes published_completions published_migrations published_block_completions",
        depends=lambda: [rules.quality, rules.directives, rules.validation.run_alone, rules.drafting],
        run=lambda changes, directives, **tables: gate_stage(
            **with_drafted(**tables),
            changes=document_changes(changes, directives, rules.directives),
            rules=rules.quality,
            run_alone=rules.validation.run_alone,
            drafting=rules.drafting,
        ),
        version=5,
    )
    yield declared(
        "problems_gate",
        reads="problems problem_runs snippets releases published_changes flags reviews",
        writes="published_problems",
        depends=lambda: [rules.quality, rules.problems, rules.mutation],
        run=lambda **tables: problems_gate_stage(
            **tables, rules=rules.quality, least=rules.problems, mutation=rules.mutation
        ),
        version=7,
    )
    yield declared(
        "functions_gate",
        reads="functions function_runs snippets published_changes flags reviews",
        writes="published_functions",
        depends=lambda: [rules.quality, rules.functions, rules.masking, rules.mutation],
        run=lambda **tables: functions_gate_stage(
            **tables, rules=rules.quality, least=rules.functions, masking=rules.masking, mutation=rules.mutation
        ),
        version=7,
    )
    yield declared(
        "controlled_gate",
        reads="controlled_completions releases changes published_changes verdicts flags reviews",
        writes="published_controlled_completions",
        depends=lambda: rules.quality,
        run=lambda **tables: controlled_gate_stage(**tables, rules=rules.quality),
        version=3,
    )
    yield declared(
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
            writer=writer(house, rules.drafts.instruction),
            retrievers=retrievers(rules.contexts.retrieval),
            ignore_case=rules.masking.ignore_case,
        ),
        version=3,
    )
    yield declared(
        "repository_gate",
        reads="repository_tasks projects flags reviews",
        writes="published_repository_tasks",
        depends=lambda: [rules.quality, rules.mutation],
        run=lambda **tables: repository_gate_stage(**tables, rules=rules.quality, mutation=rules.mutation),
        version=4,
    )
    yield declared(
        "scenes_gate",
        reads="scenes projects project_files flags reviews",
        writes="published_scenes",
        depends=lambda: [rules.quality, rules.mutation],
        run=lambda **tables: scenes_gate_stage(**tables, rules=rules.quality, mutation=rules.mutation),
        version=4,
    )
