"""Instances made again from their own rows, by the functions that stages and gates call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from more_itertools import first

from pipeline.audit.rebuild.context import World
from pipeline.audit.rebuild.outcome import Made, NotMade, NotRebuilt, of_id, told
from pipeline.core.vocabularies.review import ReviewStatus
from pipeline.core.vocabularies.samples import Drafter, Granularity, MigrationBasis, SnippetSource
from pipeline.corpus.usages.text import source_of
from pipeline.execution.mutation.score import SCORED, MutationScore
from pipeline.execution.validation.runs import subjects_of
from pipeline.families.completions_and_migrations.blocks import make_blocks
from pipeline.families.completions_and_migrations.completions import make_completions
from pipeline.families.completions_and_migrations.migrations import make_migrations
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.families.contexts.controlled import controlled_stage
from pipeline.families.contexts.retrieval import retrievers
from pipeline.families.contexts.stage import contexts_stage
from pipeline.families.functions.masking import mask_function
from pipeline.families.proof import Runs
from pipeline.lake.ids import content_id
from pipeline.lake.rows import (
    CompletionRow,
    DraftRow,
    MigrationRow,
    MutationScoreRow,
    PublishedBlockCompletionRow,
    PublishedChangeRow,
    PublishedCompletionRow,
    PublishedContextRow,
    PublishedControlledCompletionRow,
    PublishedFunctionRow,
    PublishedMigrationRow,
    PublishedProblemRow,
    Tables,
)
from pipeline.lake.schema import Row, table
from pipeline.lake.stage import Output, Reject
from pipeline.llm.stage import drafting_stage
from pipeline.quality.acceptance.changes import prove_changes
from pipeline.quality.acceptance.controlled import controlled_gate_stage
from pipeline.quality.acceptance.gate import gate_stage
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.sourced import columns_of_change, source_columns

_DESCRIBED = frozenset({"description", "drafter", "model", "prompt_sha256"})
_BY_MODEL = "a model wrote the description"
_JUDGED = frozenset({"review_status"})


def completion(world: World, row: PublishedCompletionRow) -> Made:
    """Mask the snippet of a completion again around its use, tag, describe and prove it as stages and gate do."""
    snippet = world.snippets[row["snippet_id"]]
    made = make_completions(
        [(snippet, parse_source(source_of(snippet)))],
        {snippet["id"]: world.usages[snippet["id"]]},
        world.history,
        world.rules.masking,
    )
    instance = of_id(made.rows, row["id"], made.rejects)
    return _gated(world, row, completions=[instance], drafts=_drafts(world, [instance], []))


def migration(world: World, row: PublishedMigrationRow) -> Made:
    """Pair the two snippets of a migration again, or write the one that a codemod wrote, and prove it."""
    if row["basis"] == MigrationBasis.MODEL:
        raise NotRebuilt("a model wrote one side")
    # slow to import
    from pipeline.families.completions_and_migrations.rewritten_examples import rewritten_examples

    ids = dict.fromkeys((row["snippet_id"], row["target_snippet_id"]))
    snippets = [world.snippets[snippet_id] for snippet_id in ids]
    usages = {snippet_id: world.usages[snippet_id] for snippet_id in ids}
    changes, lives, rules = world.rows("changes"), world.rows("lifecycles"), world.rules
    rewritten = rewritten_examples(snippets, usages, changes, lives, world.history, rules.codemods)
    documenting = [one for one in snippets if one["source"] == SnippetSource.DOCSTRING]
    most = rules.codemods.max_per_paths_and_versions
    made, _ = make_migrations(
        documenting, usages, changes, lives, world.history, rules.masking.migration, rewritten, most
    )
    instance = of_id(made.rows, row["id"], made.rejects)
    drafts, scores = _drafts(world, [], [instance]), _scores(row)
    gated = _gated(world, row, migrations=[instance], drafts=drafts, scores=scores)
    why = gated.why or "what stated outputs notice is what running mutants gave"
    return replace(gated, left=gated.left | {*SCORED}, why=why) if scores else gated


def _scores(row: PublishedMigrationRow) -> list[MutationScoreRow]:
    """Return the score that a migration has, for the gate: mutants are not run again."""
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


def block_completion(world: World, row: PublishedBlockCompletionRow) -> Made:
    """Mask a block of another language again."""
    snippet = world.snippets[row["snippet_id"]]
    made = make_blocks([snippet], world.house.foreign_names(), world.rules.masking.block)
    return _gated(world, row, block_completions=[of_id(made.rows, row["id"], made.rejects)])


def controlled_completion(world: World, row: PublishedControlledCompletionRow) -> Made:
    """Fill the template of a controlled completion again from the document of its API, and prove it."""
    rules = world.rules
    output = controlled_stage(
        {
            "releases": world.rows("releases"),
            "api_documents": [one for one in world.rows("api_documents") if one["path"] == row["path"]],
            "symbols": world.rows("symbols"),
            "changes": world.rows("changes"),
            "lifecycles": world.rows("lifecycles"),
        },
        rules.lifecycle,
        rules.contexts.controlled,
        world.writer,
        ignore_case=rules.masking.ignore_case,
    )
    left = frozenset({"description", "left_context", "redacted", "id"}) if _by_model(row) else frozenset[str]()
    gated = controlled_gate_stage(
        {
            "controlled_completions": [of_id(output.tables["controlled_completions"], row["id"], output.rejects)],
            "releases": world.rows("releases"),
            "changes": world.rows("changes"),
            "published_changes": world.rows("changes"),
            "verdicts": world.rows("verdicts"),
            "flags": world.flags,
            "reviews": [],
        },
        _quality(world, row),
    )
    return _published(gated, "published_controlled_completions", row, left)


def context(world: World, row: PublishedContextRow) -> Made:
    """Cut the context of a completion again, and have its documents retrieved again; `hits` are those documents."""
    completions = [one for one in world.rows("completions") if one["id"] == row["completion_id"]]
    rules = world.rules
    output = contexts_stage(
        {
            "releases": world.rows("releases"),
            "usages": [use for one in completions for use in world.usages[one["snippet_id"]]],
            "api_documents": world.rows("api_documents"),
            "published_completions": completions,
        },
        rules.contexts,
        world.writer,
        retrievers(rules.contexts.retrieval),
        ignore_case=rules.masking.ignore_case,
    )
    if not output.tables["published_contexts"]:
        raise NotMade(told(output.rejects))
    made = dict(output.tables["published_contexts"][0])
    hits = ranked(output.tables["published_retrievals"])
    if row["query_drafter"] == Drafter.MODEL:
        return Made(made, frozenset({"query", "query_redacted", "query_drafter", "hits"}), "a model wrote the query")
    return Made(made | {"hits": hits})


def ranked(hits: Sequence[Row]) -> list[Row]:
    """Return what retrievers found in a fixed order."""
    return sorted((dict(hit) for hit in hits), key=lambda hit: (str(hit["retriever"]), int(hit["rank"])))


def function(world: World, row: PublishedFunctionRow) -> Made:
    """Mask a task function again around the core API; program and tests are what models or recorded runs gave."""
    use = row["core_start_byte"], row["core_end_byte"]
    level = Granularity(row["granularity"])
    masked = mask_function(parse_source(row["code"]), use, level, world.rules.masking)
    why = "program, tests and proof are what runs gave: driftline survive runs them again"
    if isinstance(masked, Reject):
        raise NotMade(f"{masked.reason}: {masked.detail}")
    made = {
        "id": content_id("masked function", row["function_id"], level, masked.masked_code),
        "masked_code": masked.masked_code,
        "answer": masked.answer,
        **source_columns(world.snippets[row["snippet_id"]]),
    }
    return Made(made, why=why)


def problem(world: World, row: PublishedProblemRow) -> Made:
    """Say again where a problem comes from; program, tests and proof are what runs gave."""
    if row["snippet_id"] is not None:
        made = source_columns(world.snippets[row["snippet_id"]])
    else:
        made = columns_of_change(world.releases[row["version"]])
    described = {"description": row["problem"].partition("\n\n")[0]}
    why = "program, tests and proof are what runs gave: driftline survive runs them again"
    return Made(made | described, why=why)


def change(world: World, row: PublishedChangeRow) -> Made:
    """Judge a change again by what probes saw in both releases."""
    original: Row = {name: value for name, value in row.items() if name not in ("old_outcome", "new_outcome")}
    made = prove_changes([original], Runs(world.rows("verdicts")))[0]
    if isinstance(made, Reject):
        raise NotMade(f"{made.reason}: {made.detail}")
    names = ("id", "kind", "breaking", "evidence", "old_outcome", "new_outcome")
    return Made(
        {name: value for name, value in made.items() if name in names},
        why="that the releases differ takes the surfaces of both",
    )


def _drafts(world: World, completions: Sequence[CompletionRow], migrations: Sequence[MigrationRow]) -> list[Row]:
    snippets, documents = world.rows("snippets"), world.rows("documents")
    output = drafting_stage(
        {"completions": completions, "migrations": migrations, "snippets": snippets, "documents": documents},
        world.rules.drafting,
    )
    return list(output.tables["drafts"])


def _quality(world: World, row: Row) -> QualityRules:
    """Return the rules of the gate; what a person let through is held back by no flag."""
    if row["review_status"] == ReviewStatus.EDITED:
        raise NotRebuilt("a person edited it; what they wrote is in the review database")
    accepted = row["review_status"] == ReviewStatus.ACCEPTED
    return world.rules.quality.model_copy(update={"hold_back": frozenset()}) if accepted else world.rules.quality


def _gated(
    world: World,
    row: Row,
    drafts: Sequence[DraftRow] = (),
    scores: Sequence[MutationScoreRow] = (),
    **families: Sequence[Row],
) -> Made:
    """Put an instance through the gate again, with the verdicts, flags and changes of the snapshot."""
    tables: Tables = {
        "completions": families.get("completions", ()),
        "migrations": families.get("migrations", ()),
        "block_completions": families.get("block_completions", ()),
    }
    gated = gate_stage(
        {
            **tables,
            "drafts": drafts,
            "flags": world.flags,
            "snippets": world.rows("snippets"),
            "releases": world.rows("releases"),
            "verdicts": world.rows("verdicts"),
            "environments": world.rows("environments"),
            "changes": [one for one in world.rows("changes") if one["id"] == row.get("change_id")],
            "reviews": [],
            "mutation_scores": scores,
        },
        rules=_quality(world, row),
        run_alone=world.rules.validation.run_alone,
        drafting=world.rules.drafting,
        mutation=world.rules.mutation,
    )
    name = f"published_{first(families)}"
    return _published(gated, name, row, _DESCRIBED if _by_model(row) else frozenset())


def _published(gated: Output, name: str, row: Row, left: frozenset[str]) -> Made:
    """Return what the gate let through; columns that a person or a model gave are left out."""
    made = of_id(gated.by_table[name], row["id"], gated.rejects)
    names = {column.name for column in table(name).columns}
    published = {column: value for column, value in made.items() if column in names}
    if row["review_status"] == ReviewStatus.ACCEPTED:
        return Made(published, left | _JUDGED, "a person accepted it; decisions stay in the review database")
    return Made(published, left, _BY_MODEL if left else "")


def _by_model(row: Row) -> bool:
    """Say whether a model wrote the description, or may have: controlled completions do not tell."""
    return bool(row.get("drafter") == Drafter.MODEL)
