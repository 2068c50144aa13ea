"""Completion instances: each API of a snippet, masked at each level, in each version where that says something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.completions_and_migrations.head import Made, head, tags_of, within_quota
from pipeline.families.completions_and_migrations.history import PLAIN, History
from pipeline.families.completions_and_migrations.masks import Masked, mask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import Source, Span
from pipeline.lake.guard import guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import CompletionRow, SnippetRow, UsageRow
from pipeline.lake.stage import Reject


def make_completions(
    programs: Iterable[tuple[SnippetRow, Source]],
    usages: Mapping[str, Sequence[UsageRow]],
    history: History,
    rules: MaskingRules,
) -> Made[CompletionRow]:
    """Make the completion instances of snippets with their parsed programs; `usages` are keyed by snippet id.

    A candidate is an API of a snippet (its first use under its own name; of code of others one that no other snippet of
    the same origin stands for), a version and a level. The versions are,
    within the snippet's run, the first whose predecessor the lake holds, and each in which the API is new, about to
    go or modified. Without its predecessor nobody knows whether an API is new in a version.
    """
    made: Made[CompletionRow] = Made()
    documented: dict[str, str | None] = {}
    for snippet, source in programs:
        documented[snippet["id"]] = snippet["path"]
        examples, unfit = core_usages(usages.get(snippet["id"], ()), rules)
        made.notes += unfit
        suitable = [usage for usage in examples if _is_example(snippet, usage["path"])]
        work = partial(_of_usage, snippet, source, uses=usages.get(snippet["id"], ()), history=history, rules=rules)
        for result in guarded(suitable, _candidate, work):
            made.add(result)
    made.rows, surplus = within_quota(
        made.rows,
        kind_of=lambda row: (row["path"], row["version"], row["granularity"]),
        rank_of=lambda row: (documented[row["snippet_id"]] != row["path"], row["id"], row["usage_id"]),
        limit=rules.max_per_path_and_version,
    )
    made.rejects += surplus
    return made


def _is_example(snippet: SnippetRow, path: str) -> bool:
    """Say whether a snippet may stand for an API: code of others shows each API once for each of its authors."""
    return snippet["example_of"] is None or path in snippet["example_of"]


def core_usages(usages: Iterable[UsageRow], rules: MaskingRules) -> tuple[list[UsageRow], list[Reject]]:
    """Return the first use of each API that goes by the API's own name, and a note for each API without one."""
    first: dict[str, UsageRow] = {}
    unfit: dict[str, UsageRow] = {}
    for usage in sorted(usages, key=lambda row: (row["start_byte"], row["end_byte"], row["path"])):
        own_name = usage["name"] == usage["path"].rpartition(".")[2]
        fits = own_name and len(usage["name"]) >= rules.min_name_length
        (first if fits else unfit).setdefault(usage["path"], usage)
    notes = [
        Reject(f"{row['snippet_id']} {path}", RejectReason.UNFIT_NAME, f"used as {row['name']!r} in line {row['line']}")
        for path, row in sorted(unfit.items())
        if path not in first
    ]
    return [first[path] for path in sorted(first)], notes


def _candidate(usage: UsageRow) -> str:
    return f"{usage['snippet_id']} {usage['path']}"


def _of_usage(
    snippet: SnippetRow,
    source: Source,
    usage: UsageRow,
    *,
    uses: Sequence[UsageRow],
    history: History,
    rules: MaskingRules,
) -> Iterator[CompletionRow | Reject]:
    spans = [_name_span(use) for use in uses]
    versions = _versions(snippet, usage["path"], history)
    for level in rules.granularities:
        masked = _mask(source, usage, spans, level, rules)
        for version in versions:
            yield _instance(snippet, usage, version, level, source.text, masked, history)


def _versions(snippet: SnippetRow, path: str, history: History) -> list[str]:
    run = history.between(snippet["version"], snippet["last_version"])
    compared = [version for version in run if history.previous(version)]
    return [*(compared or run)[:1], *(v for v in compared[1:] if (history.tags(path, v) or PLAIN) != PLAIN)]


def _mask(
    source: Source, usage: UsageRow, uses: Sequence[Span], level: Granularity, rules: MaskingRules
) -> Masked | Reject:
    use = _name_span(usage)
    if source.text_of(use) != usage["name"]:
        raise ValueError(f"usage {usage['id']}: {usage['name']!r} does not stand at bytes {use} of its snippet")
    return mask(source, use, uses, level, rules)


def _name_span(usage: UsageRow) -> Span:
    return usage["name_start_byte"], usage["name_end_byte"]


def _instance(
    snippet: SnippetRow,
    usage: UsageRow,
    version: str,
    level: Granularity,
    code: str,
    masked: Masked | Reject,
    history: History,
) -> CompletionRow | Reject:
    path = usage["path"]
    key = f"{snippet['id']} {path} {version} {level}"
    if isinstance(masked, Reject):
        return Reject(key, masked.reason, masked.detail)
    tags = tags_of(key, path, version, history)
    if isinstance(tags, Reject):
        return tags
    id_ = content_id("completion", snippet["library"], version, path, level, code, masked.masked_code)
    return {
        **head(id_, snippet, path, version, tags, history),
        "usage_id": usage["id"],
        "granularity": level,
        "code": code,
        "masked_code": masked.masked_code,
        "answer": masked.answer,
        "core_token": usage["name"],
        "access": usage["access"],
    }
