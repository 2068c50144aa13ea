"""The rows of the stage `model_migrations`."""

from __future__ import annotations

from pipeline.core.vocabularies.samples import Drafter, DraftField
from pipeline.families.model_migrations.candidates import Candidate
from pipeline.families.model_migrations.llm_code import Attempt
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    DraftedDescriptionRow,
    DraftedRewriteRow,
    MigrationRow,
    RewriteRow,
)
from pipeline.llm.tasks.forms import MigratedCode
from pipeline.llm.tasks.rounds import Drafted


def rewrite_row(attempt: Attempt, candidate: Candidate) -> RewriteRow:
    """Return what was written as a row of `rewrites`; nobody noted what was edited."""
    steps, snippet = attempt.steps, candidate.snippet
    checks = steps.checks(snippet)
    statements = [check["statement"] for check in checks]
    return {
        "id": content_id("drafted", snippet["library"], candidate.key, steps.preamble, steps.code, *statements),
        "library": snippet["library"],
        "version": candidate.target,
        "snippet_id": snippet["id"],
        "snippet_version": candidate.source,
        "changes": [candidate.change["id"]],
        "preamble": steps.preamble,
        "code": steps.code,
        "checks": checks,
        "edits": [],
    }


def drafted_rewrite_row(attempt: Attempt, candidate: Candidate, drafted: Drafted[MigratedCode]) -> DraftedRewriteRow:
    """Return a row of `drafted_rewrites`."""
    return {
        **rewrite_row(attempt, candidate),
        "drafter": Drafter.MODEL,
        "model": drafted.model,
        "prompt_sha256": drafted.prompt_sha256,
        "tries": drafted.tries,
        "tokens": drafted.tokens,
        "nano_usd": drafted.nano_usd,
    }


def description_row(instance: MigrationRow, attempt: Attempt, drafted: Drafted[MigratedCode]) -> DraftedDescriptionRow:
    """Return a row of `drafted_descriptions`."""
    text = attempt.description
    return {
        "id": content_id(instance["id"], DraftField.DESCRIPTION, Drafter.MODEL, text),
        "library": instance["library"],
        "subject_id": instance["id"],
        "field": DraftField.DESCRIPTION,
        "text": text,
        "redacted": False,
        "drafter": Drafter.MODEL,
        "model": drafted.model,
        "prompt_sha256": drafted.prompt_sha256,
        "tokens": drafted.tokens,
        "nano_usd": drafted.nano_usd,
    }
