"""The instances stage: snippets and their uses become completion and migration instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from pipeline.api.history.rules import LifecycleRules
from pipeline.api.history.tags import Tags
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.blocks import make_blocks
from pipeline.families.completions_and_migrations.codemods.rules import CodemodRules
from pipeline.families.completions_and_migrations.completions import make_completions, witnessed_changes
from pipeline.families.completions_and_migrations.dependent_pairs import changed_dependents
from pipeline.families.completions_and_migrations.expected_outputs import TRACEBACK
from pipeline.families.completions_and_migrations.foreign import LibraryNames
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.migrations import make_migrations
from pipeline.families.completions_and_migrations.pairs import changed_tests
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import BrokenSource, Source, parse_source
from pipeline.lake.guard import guarded, parted
from pipeline.lake.rows import R, SnippetRow, Tables, UsageRow
from pipeline.lake.stage import Output, Reject


def instances_stage(
    tables: Tables,
    tagging: LifecycleRules,
    rules: MaskingRules,
    foreign: Mapping[str, LibraryNames],
    codemods: CodemodRules,
    executable_sources: Collection[SnippetSource],
) -> Output:
    """Make the tables `completions`, `migrations`, `rewrites` and `block_completions` of a library.

    The unit is a candidate of either table: an API of a snippet, in a version, at a level; or two snippets in one
    direction (a snippet or change that finds no partner is one); or a snippet in another language than Python, in which
    `foreign` tells what is the library's. Uses under another name are notes. `tagging` says which tag a version gets
    where several fit. For migration docstrings are paired, the forms of tests, and functions of dependents in their
    releases. Codemods rewrite all snippets of `executable_sources`. Refused as a whole are snippets that do not parse,
    and sessions that go on after an exception. A row of `rewrites` is no unit: its migrations are.
    """
    # slow to import
    from pipeline.families.completions_and_migrations.rewritten_examples import rewritten_examples

    history = History(tables["releases"], tables["symbols"], tables["changes"], Tags(tables["lifecycles"], tagging).at)
    programs, broken = _parse(row for row in tables["snippets"] if row["language"] == Language.PYTHON)
    documenting = [snippet for snippet, _ in programs if snippet["source"] == SnippetSource.DOCSTRING]
    uses = _by_snippet(tables["usages"])
    witnessed = witnessed_changes(tables.get("witnesses", ()), tables["changes"])
    completions = make_completions(programs, uses, history, rules, witnessed)
    alone = [snippet for snippet, _ in programs if snippet["source"] in executable_sources]
    rewritten = rewritten_examples(alone, uses, tables["changes"], tables["lifecycles"], history, codemods)
    most = codemods.max_per_paths_and_versions
    tested = changed_tests(tables.get("witnesses", ()), {snippet["id"]: snippet for snippet, _ in programs}, history)
    of_dependents = changed_dependents(
        [snippet for snippet, _ in programs], uses, tables["changes"], history, rules.migration
    )
    migrations, rewrites = make_migrations(
        *(documenting, uses, tables["changes"], tables["lifecycles"], history, rules.migration),
        *(rewritten, most, [*tested, *of_dependents]),
    )
    blocks = make_blocks(tables["snippets"], foreign, rules.block)
    rejects = [*broken, *completions.rejects, *migrations.rejects, *blocks.rejects]
    row_count = len(completions.rows) + len(migrations.rows) + len(blocks.rows)
    return Output(
        tables={
            "completions": _by_id(completions.rows),
            "migrations": _by_id(migrations.rows),
            "block_completions": _by_id(blocks.rows),
            "rewrites": rewrites,
        },
        units_in=row_count + len(rejects),
        units_out=row_count,
        rejects=sorted(rejects, key=lambda reject: (reject.key, reject.reason, reject.detail)),
        notes=completions.notes,
    )


def _parse(snippets: Iterable[SnippetRow]) -> tuple[list[tuple[SnippetRow, Source]], list[Reject]]:
    return parted(guarded(_by_id(snippets), lambda snippet: str(snippet["id"]), _program))


def _program(snippet: SnippetRow) -> Iterator[tuple[SnippetRow, Source] | Reject]:
    for check in snippet["checks"][:-1] if snippet["source"] == SnippetSource.DOCSTRING else ():
        raises = (check["expected"] or "").lstrip().startswith(TRACEBACK)
        if raises and not check["statement"].lstrip().startswith("print("):
            # A session goes on after an exception, a program does not.
            detail = f"as a program it ends before its last line: {check['statement'].strip()}"
            yield Reject(snippet["id"], RejectReason.BROKEN_EXAMPLE, detail[:300])
            return
    try:
        yield snippet, parse_source(source_of(snippet))
    except BrokenSource as error:
        yield Reject(snippet["id"], RejectReason.BROKEN_EXAMPLE, str(error))


def _by_snippet(usages: Iterable[UsageRow]) -> dict[str, list[UsageRow]]:
    grouped: dict[str, list[UsageRow]] = defaultdict(list)
    for usage in usages:
        grouped[usage["snippet_id"]].append(usage)
    return grouped


def _by_id(rows: Iterable[R]) -> list[R]:
    return sorted(rows, key=lambda row: row["id"])
