"""Rebuild instances from their own rows, by the functions of stages and acceptance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from more_itertools import first

from pipeline.audit.rebuild.context import RebuildContext
from pipeline.audit.rebuild.outcome import NotRebuilt, NotReproduced, RebuiltRow, describe_rejects, of_id
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.core.vocabularies.samples import Drafter, Granularity, MigrationBasis, SnippetSource
from pipeline.corpus.usages.text import source_of
from pipeline.execution.mutation.score import SCORED, MutationScore
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.completions_and_migrations.blocks import make_blocks
from pipeline.families.completions_and_migrations.completions import WitnessChange, make_completions
from pipeline.families.completions_and_migrations.dependent_pairs import changed_dependents
from pipeline.families.completions_and_migrations.migrations import make_migrations
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.contexts.controlled import controlled_stage
from pipeline.families.contexts.retrieval import retrievers
from pipeline.families.contexts.stage import contexts_stage
from pipeline.families.functions.masking import mask_function
from pipeline.families.proof import Runs
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    AnyRow,
    BehaviourRow,
    CompletionRow,
    DraftRow,
    MigrationRow,
    MutationScoreRow,
    OtherAnswerRow,
    PublishedBlockCompletionRow,
    PublishedChangeRow,
    PublishedCompatibilityRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedControlledCompletionRow,
    PublishedFunctionRow,
    PublishedMigrationRow,
    PublishedProblemRow,
    PublishedRetrievalRow,
    Tables,
)
from pipeline.lake.schema import table
from pipeline.lake.stage import Output, Reject
from pipeline.llm.stage import drafting_stage
from pipeline.quality.acceptance.changes import prove_changes
from pipeline.quality.acceptance.completions_and_migrations import acceptance_stage
from pipeline.quality.acceptance.controlled import controlled_acceptance_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.sourced import columns_of_change, source_columns

_DESCRIBED = frozenset({"description", "drafter", "model", "prompt_sha256"})
_BY_MODEL = "a model wrote the description"
_JUDGED = frozenset({"review_status"})


def completion(context: RebuildContext, row: PublishedCompletionRow) -> RebuiltRow:
    """Mask the snippet of a completion again around its use, tag, describe and prove it."""
    snippet = context.snippets[row["snippet_id"]]
    is_witness = snippet["source"] in (SnippetSource.OWN_TEST, SnippetSource.CHANGE)
    witnessed = [each for each in context.tables["changes"] if is_witness and each["id"] == row["change_id"]]
    source, uses = parse_source(source_of(snippet)), context.usages[snippet["id"]]
    # A run has found at which statement it fails in the other release: of a published row that of its use.
    failing = {source.place_of((use["start_byte"], use["end_byte"])) for use in uses if use["id"] == row["usage_id"]}
    output = make_completions(
        [(snippet, source)],
        {snippet["id"]: uses},
        context.history,
        context.rules.masking,
        {snippet["id"]: WitnessChange(witnessed[0], next(iter(failing), None))} if witnessed else {},
    )
    instance = of_id(output.rows, row["id"], output.rejects)
    drafts, other_answers = _drafts(context, [instance], []), _other_answers(row)
    return _accepted(context, row, {"completions": [instance]}, drafts, other_answers=other_answers)


def _other_answers(row: PublishedCompletionRow) -> list[OtherAnswerRow]:
    """Return what came of other names in a program, for acceptance: none passed, and they are not run again."""
    if row["neighbour_answers"] is None:
        return []
    return [
        {
            "id": row["id"],
            "completion_id": row["id"],
            "library": row["library"],
            "version": row["version"],
            "lock_id": row["lock_id"],
            "tried": 0,
            "passing": [],
            "neighbour_version": row["neighbour_version"],
            "neighbour_answers": row["neighbour_answers"],
        }
    ]


def migration(context: RebuildContext, row: PublishedMigrationRow) -> RebuiltRow:
    """Pair the two snippets of a migration again, or write the one that a codemod wrote, and prove it."""
    if row["basis"] == MigrationBasis.MODEL:
        raise NotRebuilt("a model wrote one side", code="rebuild_by_model")
    if row["basis"] == MigrationBasis.TEST_CHANGED:
        raise NotRebuilt("runs chose the lines that are left of a test", code="rebuild_by_run")
    # slow to import
    from pipeline.families.completions_and_migrations.rewritten_examples import rewritten_examples

    ids = dict.fromkeys((row["snippet_id"], row["target_snippet_id"]))
    snippets = [context.snippets[snippet_id] for snippet_id in ids]
    usages = {snippet_id: context.usages[snippet_id] for snippet_id in ids}
    changes, lifecycles, rules = context.tables["changes"], context.tables["lifecycles"], context.rules
    rewritten = rewritten_examples(snippets, usages, changes, lifecycles, context.history, rules.codemods)
    documenting = [snippet for snippet in snippets if snippet["source"] == SnippetSource.DOCSTRING]
    most = rules.codemods.max_per_paths_and_versions
    of_dependents = changed_dependents(snippets, usages, changes, context.history, rules.masking.migration)
    output, _ = make_migrations(
        *(documenting, usages, changes, lifecycles, context.history, rules.masking.migration),
        *(rewritten, most, of_dependents),
    )
    instance = of_id(output.rows, row["id"], output.rejects)
    drafts, scores = _drafts(context, [], [instance]), _scores(row)
    accepted = _accepted(context, row, {"migrations": [instance]}, drafts, scores)
    why = accepted.why or "the mutation score comes from runs"
    return replace(accepted, excluded=accepted.excluded | {*SCORED}, why=why) if scores else accepted


def _scores(row: PublishedMigrationRow) -> list[MutationScoreRow]:
    """Return the score that a migration has, for acceptance: mutants are not run again."""
    if row["mutants"] is None:
        return []
    score = MutationScore(row["mutants"], row["mutants_killed"] or 0, row["mutants_equivalent"] or 0)
    return [
        {
            "id": row["id"],
            "subject_id": subjects_of(row)[1],
            "library": row["library"],
            "version": row["target_version"],
            "lock_id": row["target_lock_id"],
            **score.columns,
        }
    ]


def block_completion(context: RebuildContext, row: PublishedBlockCompletionRow) -> RebuiltRow:
    """Mask a block of another language again."""
    snippet = context.snippets[row["snippet_id"]]
    output = make_blocks([snippet], context.resources.foreign_names(), context.rules.masking.block)
    return _accepted(context, row, {"block_completions": [of_id(output.rows, row["id"], output.rejects)]})


def controlled_completion(context: RebuildContext, row: PublishedControlledCompletionRow) -> RebuiltRow:
    """Fill the template of a controlled completion again from the document of its API, and prove it."""
    rules = context.rules
    output = controlled_stage(
        {
            "releases": context.tables["releases"],
            "api_documents": [
                document for document in context.tables["api_documents"] if document["path"] == row["path"]
            ],
            "symbols": context.tables["symbols"],
            "changes": context.tables["changes"],
            "lifecycles": context.tables["lifecycles"],
        },
        rules.lifecycle,
        rules.contexts.controlled,
        context.writer,
        ignore_case=rules.masking.ignore_case,
    )
    excluded = frozenset({"description", "left_context", "redacted", "id"}) if _by_model(row) else frozenset[str]()
    accepted = controlled_acceptance_stage(
        {
            "controlled_completions": [of_id(output.tables["controlled_completions"], row["id"], output.rejects)],
            "releases": context.tables["releases"],
            "symbols": context.tables["symbols"],
            "changes": context.tables["changes"],
            "behaviours": _behaviours(context.tables["changes"]),
            "published_changes": context.tables["changes"],
            "verdicts": context.tables["verdicts"],
            "flags": context.flags,
            "reviews": [],
        },
        _quality(context, row),
        rules.drafting.spelled_name,
    )
    return _published(accepted, "published_controlled_completions", row, excluded)


def context(context: RebuildContext, row: PublishedContextRow) -> RebuiltRow:
    """Cut the context of a completion again, and retrieve its documents again as `hits`."""
    completions = [published for published in context.tables["completions"] if published["id"] == row["completion_id"]]
    rules = context.rules
    output = contexts_stage(
        {
            "releases": context.tables["releases"],
            "usages": [use for published in completions for use in context.usages[published["snippet_id"]]],
            "api_documents": context.tables["api_documents"],
            "published_completions": completions,
        },
        rules.contexts,
        context.writer,
        retrievers(rules.contexts.retrieval),
        rules.masking,
    )
    if not output.tables["published_contexts"]:
        raise NotReproduced(describe_rejects(output.rejects))
    rebuilt: AnyRow = output.tables["published_contexts"][0]
    hits = ranked(output.tables["published_retrievals"])
    if row["query_drafter"] == Drafter.MODEL:
        return RebuiltRow(
            rebuilt, frozenset({"query", "query_redacted", "query_drafter", "hits"}), "a model wrote the query"
        )
    return RebuiltRow({**rebuilt, "hits": hits})


def ranked(hits: Iterable[PublishedRetrievalRow]) -> list[PublishedRetrievalRow]:
    """Return retrieved documents in a fixed order."""
    return sorted(hits, key=lambda hit: (str(hit["retriever"]), int(hit["rank"])))


def function(context: RebuildContext, row: PublishedFunctionRow) -> RebuiltRow:
    """Mask a task function again around the core API; program and tests come from models or recorded runs."""
    use = row["core_start_byte"], row["core_end_byte"]
    level = Granularity(row["granularity"])
    description = row["description"] or ""
    masked = mask_function(parse_source(row["code"]), use, level, context.rules.masking, description, row["path"])
    why = "program, tests and proof come from runs: driftline survive runs them again"
    if isinstance(masked, Reject):
        raise NotReproduced(f"{masked.reason}: {masked.detail}")
    rebuilt = {
        "id": content_id("masked function", row["function_id"], level, masked.masked_code),
        "masked_code": masked.masked_code,
        "answer": masked.answer,
        **source_columns(context.snippets[row["snippet_id"]]),
    }
    return RebuiltRow(rebuilt, why=why)


def compatibility(context: RebuildContext, row: PublishedCompatibilityRow) -> RebuiltRow:
    """Read the program of a compatibility again; the releases come from runs."""
    snippet = context.snippets[row["snippet_id"]]
    rebuilt = {"code": source_of(snippet), **source_columns(snippet)}
    return RebuiltRow(rebuilt, why="the releases come from runs: driftline survive runs the program again")


def problem(context: RebuildContext, row: PublishedProblemRow) -> RebuiltRow:
    """Derive the source of a problem again; program, tests and proof come from runs."""
    if row["snippet_id"] is not None:
        rebuilt = source_columns(context.snippets[row["snippet_id"]])
    else:
        rebuilt = columns_of_change(context.releases[row["version"]])
    described = {"description": row["problem"].partition("\n\n")[0]}
    why = "program, tests and proof come from runs: driftline survive runs them again"
    return RebuiltRow({**rebuilt, **described}, why=why)


def change(context: RebuildContext, row: PublishedChangeRow) -> RebuiltRow:
    """Judge a change again by the probes in both releases."""
    if row["kind"] == ChangeKind.BEHAVIOUR:
        raise NotRebuilt("runs of a program showed it", code="rebuild_by_run")
    proved = prove_changes([row], Runs(context.tables["verdicts"]))[0]
    if isinstance(proved, Reject):
        raise NotReproduced(f"{proved.reason}: {proved.detail}")
    names = ("id", "kind", "breaking", "evidence", "old_outcome", "new_outcome")
    return RebuiltRow(
        {name: value for name, value in proved.items() if name in names},
        why="a comparison of the releases needs the surfaces of both",
    )


def _drafts(
    context: RebuildContext, completions: Sequence[CompletionRow], migrations: Sequence[MigrationRow]
) -> list[DraftRow]:
    snippets, documents = context.tables["snippets"], context.tables["documents"]
    output = drafting_stage(
        {"completions": completions, "migrations": migrations, "snippets": snippets, "documents": documents},
        context.rules.drafting,
    )
    return list(output.tables["drafts"])


def _quality(context: RebuildContext, row: AnyRow) -> QualityRules:
    """Return the rules of acceptance; flags do not hold back rows that a person accepted."""
    if row["review_status"] == ReviewStatus.EDITED:
        raise NotRebuilt("a person edited it; edits are in the review database", code="rebuild_by_person")
    accepted = row["review_status"] == ReviewStatus.ACCEPTED
    return context.rules.quality.model_copy(update={"hold_back": frozenset()}) if accepted else context.rules.quality


def _behaviours(changes: Iterable[PublishedChangeRow]) -> list[BehaviourRow]:
    """Return the changes that only running showed, which no stage before acceptance knows."""
    behaviours = [change for change in changes if change["kind"] == ChangeKind.BEHAVIOUR]
    # The program that showed it is not published, and acceptance does not ask for it.
    return cast("list[BehaviourRow]", behaviours)


def _accepted(
    context: RebuildContext,
    row: AnyRow,
    families: Tables,
    drafts: Sequence[DraftRow] = (),
    scores: Sequence[MutationScoreRow] = (),
    other_answers: Sequence[OtherAnswerRow] = (),
) -> RebuiltRow:
    """Run acceptance of an instance again, with the verdicts, flags and changes of the snapshot."""
    tables: Tables = {
        "completions": families.get("completions", ()),
        "migrations": families.get("migrations", ()),
        "block_completions": families.get("block_completions", ()),
    }
    changes = [published for published in context.tables["changes"] if published["id"] == row.get("change_id")]
    accepted = acceptance_stage(
        {
            **tables,
            "drafts": drafts,
            "flags": context.flags,
            "snippets": context.tables["snippets"],
            "releases": context.tables["releases"],
            "symbols": context.tables["symbols"],
            "verdicts": context.tables["verdicts"],
            "environments": context.tables["environments"],
            "changes": [change for change in changes if change["kind"] != ChangeKind.BEHAVIOUR],
            "behaviours": _behaviours(changes),
            "reviews": [],
            "mutation_scores": scores,
            "other_answers": other_answers,
        },
        rules=_quality(context, row),
        executable_sources=context.rules.validation.executable_sources,
        drafting=context.rules.drafting,
        mutation=context.rules.mutation,
    )
    name = f"published_{first(families)}"
    return _published(accepted, name, row, _DESCRIBED if _by_model(row) else frozenset())


def _published(accepted: Output, name: str, row: AnyRow, excluded: frozenset[str]) -> RebuiltRow:
    """Return the accepted row; columns by a person or a model are excluded."""
    instance = of_id(accepted.by_table[name], row["id"], accepted.rejects)
    names = {column.name for column in table(name).columns}
    published = {column: value for column, value in instance.items() if column in names}
    if row["review_status"] == ReviewStatus.ACCEPTED:
        return RebuiltRow(published, excluded | _JUDGED, "a person accepted it; decisions stay in the review database")
    return RebuiltRow(published, excluded, _BY_MODEL if excluded else "")


def _by_model(row: AnyRow) -> bool:
    """Say whether a model wrote the description; controlled completions do not record it."""
    return bool(row.get("drafter") == Drafter.MODEL)
