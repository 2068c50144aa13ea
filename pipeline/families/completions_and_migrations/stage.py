"""The instances stage: snippets and their uses become completion and migration instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.tags import Tags
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.blocks import make_blocks
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.families.completions_and_migrations.completions import make_completions
from pipeline.families.completions_and_migrations.foreign import LibraryNames
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.migrations import make_migrations
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import BrokenSource, Source, parse_source
from pipeline.lake.guard import guarded, parted
from pipeline.lake.schema import Row
from pipeline.lake.stage import Output, Reject, as_tables


def instances_stage(
    releases: Sequence[Row],
    snippets: Sequence[Row],
    usages: Sequence[Row],
    symbols: Sequence[Row],
    changes: Sequence[Row],
    lifecycles: Sequence[Row],
    tagging: LifecycleRules,
    rules: MaskingRules,
    foreign: Mapping[str, LibraryNames],
    codemods: CodemodRules,
    run_alone: Collection[SnippetSource],
) -> Output:
    """Make the tables `completions`, `migrations`, `rewrites` and `block_completions` of a library.

    The unit is a candidate of either table: an API of a snippet, in a version, at a level; or two snippets in one
    direction (a snippet or change that finds no partner is one); or a snippet in another language than Python, in which
    `foreign` tells what is the library's. Uses under another name are notes. `tagging` says which tag a version gets
    where several fit. Only docstrings are paired for migration: both sides of a pair must run and be about one API.
    Codemods rewrite snippets of all sources of `run_alone`. A row of `rewrites` is no unit: its migrations are.
    """
    # slow to import
    from pipeline.families.completions_and_migrations.rewritten_examples import rewritten_examples

    history = History(releases, symbols, changes, Tags(lifecycles, tagging).at)
    programs, broken = _parse(row for row in snippets if row["language"] == Language.PYTHON)
    documenting = [snippet for snippet, _ in programs if snippet["source"] == SnippetSource.DOCSTRING]
    uses = _by_snippet(usages)
    completions = make_completions(programs, uses, history, rules)
    alone = [snippet for snippet, _ in programs if snippet["source"] in run_alone]
    rewritten = rewritten_examples(alone, uses, changes, lifecycles, history, codemods)
    most = codemods.max_per_paths_and_versions
    migrations, rewrites = make_migrations(
        documenting, uses, changes, lifecycles, history, rules.migration, rewritten, most
    )
    blocks = make_blocks(snippets, foreign, rules.block)
    rejects = [*broken, *completions.rejects, *migrations.rejects, *blocks.rejects]
    families = {"completions": completions, "migrations": migrations, "block_completions": blocks}
    made = sum(len(family.rows) for family in families.values())
    return Output(
        tables=as_tables({name: _by_id(family.rows) for name, family in families.items()} | {"rewrites": rewrites}),
        seen=made + len(rejects),
        made=made,
        rejects=sorted(rejects, key=lambda reject: (reject.key, reject.reason, reject.detail)),
        notes=completions.notes,
    )


def _parse(snippets: Iterable[Row]) -> tuple[list[tuple[Row, Source]], list[Reject]]:
    return parted(guarded(_by_id(snippets), lambda snippet: str(snippet["id"]), _program))


def _program(snippet: Row) -> Iterator[tuple[Row, Source] | Reject]:
    try:
        yield snippet, parse_source(source_of(snippet))
    except BrokenSource as error:
        yield Reject(snippet["id"], RejectReason.BROKEN_EXAMPLE, str(error))


def _by_snippet(usages: Iterable[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for usage in usages:
        grouped[usage["snippet_id"]].append(usage)
    return grouped


def _by_id(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["id"])
