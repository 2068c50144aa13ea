"""The stages that run code in pinned environments, and the gates of what they prove."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline import drafted_migrations, judgements
from pipeline.contexts import contexts_stage, retrievers
from pipeline.drafted_migrations import with_drafted
from pipeline.environments import (
    discover,
)
from pipeline.house import House
from pipeline.lake import Stage
from pipeline.lifecycle import document_changes
from pipeline.publish import (
    controlled_gate_stage,
    gate_stage,
)
from pipeline.review import flags_stage
from pipeline.stages.declaring import declared


def proof(house: House) -> Iterator[Stage]:
    """Yield the stages that prove instances and changes, and let through what is proven."""
    rules = house.rules
    yield declared(
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
    yield declared(
        "validation",
        reads="releases snippets completions migrations changes symbols environments controlled_completions rewrites",
        writes="verdicts",
        depends=lambda: rules.validation,
        run=house.validate,
        version=3,
    )
    yield declared(
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
    yield declared(
        "judgements",
        reads="releases symbols importable changes documents completions migrations",
        writes=" ".join(judgements.TABLES),
        depends=lambda: [*house.by_model(rules.drafts.rename_judgement), rules.lifecycle] if house.has_model else [],
        run=house.judge_renames,
    )
    yield declared(
        "review",
        reads="completions migrations drafts refused_drafts releases changes verdicts snippets directives"
        " drafted_migrations drafted_verdicts drafted_descriptions judgements",
        writes="flags",
        depends=lambda: rules.flags,
        run=lambda **tables: flags_stage(**with_drafted(**tables), rules=rules.flags),
        version=3,
    )
    yield declared(
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
    yield declared(
        "controlled_gate",
        reads="controlled_completions releases changes published_changes verdicts",
        writes="published_controlled_completions",
        depends=lambda: rules.quality,
        run=lambda **tables: controlled_gate_stage(**tables, rules=rules.quality),
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
            writer=house.writer(rules.drafts.instruction),
            retrievers=retrievers(rules.contexts.retrieval),
            ignore_case=rules.masking.ignore_case,
        ),
        version=3,
    )
