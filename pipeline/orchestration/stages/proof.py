"""The stages that run code in pinned environments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pipeline.core.rules.fingerprint import plain
from pipeline.core.versions import stage_version
from pipeline.execution.environments.resolution.interpreters import discover
from pipeline.execution.validation.runs import EXAMPLES, SYMBOLS
from pipeline.families.behaviours import OF_REACH, behaviours_stage
from pipeline.families.completions_and_migrations.other_answers import other_answers_stage
from pipeline.families.model_migrations import tables as model_migrations
from pipeline.families.problems.library import DOCSTRINGS, OF_APIS
from pipeline.lake.reads import Read
from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.model import draft_migrations, judge_renames
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.resources.running import (
    IN_ENVIRONMENTS,
    build_environments,
    score_migrations,
    validate,
)
from pipeline.orchestration.stages.declaring import declared


def proof(resources: Resources) -> Iterator[Stage]:
    """Yield the stages that prove instances and changes, and ask a model about what was proven."""
    rules = resources.rules
    yield Stage(
        "environments",
        stage_version("environments"),
        IN_ENVIRONMENTS,
        ("environments",),
        # An interpreter that was installed since makes a release worth another try.
        lambda: plain(
            [
                rules.of_environments,
                rules.validation.executable_sources,
                [interpreter.python for interpreter in discover()],
            ]
        ),
        partial(build_environments, resources),
        {"symbols": SYMBOLS, "snippets": EXAMPLES},
    )
    yield declared(
        "validation",
        reads="releases snippets completions migrations changes symbols environments controlled_completions rewrites",
        writes="verdicts",
        depends=lambda: rules.validation,
        run=partial(validate, resources),
        partly=[SYMBOLS, EXAMPLES],
    )
    yield declared(
        "behaviour",
        reads="releases snippets usages symbols changes environments verdicts",
        writes="behaviours",
        depends=lambda: [
            rules.lifecycle,
            rules.validation,
            rules.of_environments,
            [interpreter.python for interpreter in discover()],
        ],
        run=lambda tables: behaviours_stage(tables, rules.lifecycle, resources.runner),
        partly=[
            OF_REACH,
            Read(EXAMPLES.table, (*EXAMPLES.columns, "example_of")),
            Read("environments", ("outcome", "python", "lock")),
        ],
    )
    yield declared(
        "model_migrations",
        reads="releases snippets usages symbols changes lifecycles documents migrations environments verdicts",
        writes=" ".join(model_migrations.TABLES),
        depends=lambda: (
            [
                *resources.by_model(rules.drafts.migrated_code),
                rules.drafting,
                rules.lifecycle,
                rules.usage,
                rules.validation,
                sorted(rules.quality.fails_in_target),
            ]
            if resources.has_model
            else []
        ),
        run=partial(draft_migrations, resources),
        partly=[Read("symbols", (*OF_APIS, "overloads", "deprecation")), EXAMPLES, DOCSTRINGS],
    )
    yield declared(
        "mutation_scores",
        reads="releases snippets rewrites drafted_rewrites migrations model_migrations verdicts drafted_verdicts"
        " environments",
        writes="mutation_scores",
        depends=lambda: [rules.mutation, rules.validation],
        run=partial(score_migrations, resources),
        partly=[EXAMPLES],
    )
    yield declared(
        "other_answers",
        reads="releases symbols changes snippets completions drafts documents lifecycles verdicts environments",
        writes="other_answers",
        depends=lambda: [
            *(rules.mutation, rules.drafting, rules.validation),
            sorted(rules.quality.fails_in_target),
        ],
        run=lambda tables: other_answers_stage(
            tables, rules.mutation, rules.drafting, rules.quality.fails_in_target, resources.runner
        ),
        partly=[
            Read(
                "symbols",
                (
                    *("path", "first_version", "last_version", "canonical_path"),
                    *("kind", "parameters", "value", "bases", "file"),
                ),
            ),
            Read("lifecycles", ("path", "replacement")),
            Read("changes", ("old_version", "new_version")),
            EXAMPLES,
            DOCSTRINGS,
        ],
    )
    yield declared(
        "judgements",
        reads="releases symbols importable_names changes documents completions migrations",
        writes="judgements",
        depends=lambda: (
            [*resources.by_model(rules.drafts.rename_judgement), rules.lifecycle] if resources.has_model else []
        ),
        run=partial(judge_renames, resources),
        partly=[DOCSTRINGS],
    )
