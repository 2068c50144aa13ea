"""The instances stage: snippets and their uses become completion and migration instances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pipeline.instances.completions import make_completions
from pipeline.instances.history import History
from pipeline.instances.migrations import make_migrations
from pipeline.instances.rules import MaskingRules
from pipeline.instances.source import BrokenSource, Source, parse_source
from pipeline.lake import Output, Reject, Row
from pipeline.lifecycle import LifecycleRules, Tags
from pipeline.snippets import source_of
from pipeline.terms import RejectReason


def instances_stage(
    releases: Sequence[Row],
    snippets: Sequence[Row],
    usages: Sequence[Row],
    symbols: Sequence[Row],
    changes: Sequence[Row],
    lifecycles: Sequence[Row],
    tagging: LifecycleRules,
    rules: MaskingRules,
) -> Output:
    """Make the tables `completions` and `migrations` of a library.

    The unit is a candidate of either table: an API of a snippet, in a version, at a level; or two snippets in one
    direction (a snippet or change that finds no partner is one). Uses under another name are notes. `tagging` says
    which tag a version gets where several fit.
    """
    history = History(releases, symbols, changes, Tags(lifecycles, tagging).at)
    programs, broken = _parse(snippets)
    readable = [snippet for snippet, _ in programs]
    uses = _by_snippet(usages)
    completions = make_completions(programs, uses, history, rules)
    migrations = make_migrations(readable, uses, changes, lifecycles, history, rules.migration)
    rejects = [*broken, *completions.rejects, *migrations.rejects]
    made = len(completions.rows) + len(migrations.rows)
    return Output(
        tables={"completions": _by_id(completions.rows), "migrations": _by_id(migrations.rows)},
        seen=made + len(rejects),
        made=made,
        rejects=sorted(rejects, key=lambda reject: (reject.key, reject.reason, reject.detail)),
        notes=completions.notes,
    )


def _parse(snippets: Iterable[Row]) -> tuple[list[tuple[Row, Source]], list[Reject]]:
    programs: list[tuple[Row, Source]] = []
    broken: list[Reject] = []
    for snippet in _by_id(snippets):
        try:
            programs.append((snippet, parse_source(source_of(snippet))))
        except BrokenSource as error:
            broken.append(Reject(snippet["id"], RejectReason.BROKEN_EXAMPLE, str(error)))
    return programs, broken


def _by_snippet(usages: Iterable[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for usage in usages:
        grouped[usage["snippet_id"]].append(usage)
    return grouped


def _by_id(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["id"])
