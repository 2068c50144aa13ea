"""Completion instances: each API of a snippet, masked at each level, in each version where that says something."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from pipeline.core.vocabularies.changes import OF_PARAMETERS, WHOLE, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.witnesses.changed_uses import NOT_BY_NAME
from pipeline.corpus.witnesses.distinctive import is_informative
from pipeline.corpus.witnesses.scripts import OUTPUT
from pipeline.families.completions_and_migrations.guessing import refuse_unknowable
from pipeline.families.completions_and_migrations.head import Candidates, head, tags_of, within_quota
from pipeline.families.completions_and_migrations.history import PLAIN, History
from pipeline.families.completions_and_migrations.masks import Masked, mask
from pipeline.families.completions_and_migrations.rules import MaskingRules
from pipeline.families.completions_and_migrations.source import Source, Span
from pipeline.lake.guard import guarded
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ChangeRow, CompletionRow, SnippetRow, UsageRow, WitnessRow
from pipeline.lake.stage import Reject

_TAKES_BY_NAME = frozenset(
    {ChangeKind.PARAMETER_ADDED_OPTIONAL, ChangeKind.PARAMETER_ADDED_REQUIRED, ChangeKind.PARAMETER_RENAMED}
)
_OUTPUT = re.compile(rf"{re.escape(OUTPUT)}.*$", re.MULTILINE)
_ADDED = _TAKES_BY_NAME - {ChangeKind.PARAMETER_RENAMED}


def make_completions(
    programs: Iterable[tuple[SnippetRow, Source]],
    usages: Mapping[str, Sequence[UsageRow]],
    history: History,
    rules: MaskingRules,
    witnessed: Mapping[str, WitnessChange] = MappingProxyType({}),
) -> Candidates[CompletionRow]:
    """Make the completion instances of snippets with their parsed programs; `usages` are keyed by snippet id.

    `witnessed` are the changes that running a snippet showed: of it nothing is masked but what the other release lacks.

    A candidate is an API of a snippet (its first use under its own name; of code of others one that no other snippet of
    the same origin stands for), a version and a level. Of its uses under that name the first is masked of which a line
    can be known. The versions are,
    within the snippet's run, the first whose predecessor the lake holds, and each in which the API is new, about to
    go or modified. Without its predecessor nobody knows whether an API is new in a version.
    """
    candidates: Candidates[CompletionRow] = Candidates()
    documented: dict[str, str | None] = {}
    for snippet, source in programs:
        documented[snippet["id"]] = snippet["path"]
        witness, uses = witnessed.get(snippet["id"]), usages.get(snippet["id"], ())
        if witness is not None:
            uses = [use for use in uses if _bears(witness.change, use)] or uses
        examples, unfit = core_usages(uses, rules)
        candidates.notes += unfit
        suitable = [usage for usage in examples if _is_example(snippet, usage["path"])]
        every = usages.get(snippet["id"], ())
        work = partial(_of_usage, snippet, source, uses=every, history=history, rules=rules, witness=witness)
        for result in guarded(suitable, _candidate, work):
            candidates.add(result)
    candidates.rows, surplus = within_quota(
        candidates.rows,
        kind_of=lambda row: (row["path"], row["version"], row["granularity"]),
        rank_of=lambda row: (documented[row["snippet_id"]] != row["path"], row["id"], row["usage_id"]),
        limit=rules.max_per_path_and_version,
    )
    candidates.rejects += surplus
    return candidates


def _is_example(snippet: SnippetRow, path: str) -> bool:
    """Say whether a snippet may stand for an API: code of others shows each API once for each of its authors."""
    return snippet["example_of"] is None or path in snippet["example_of"]


@dataclass(frozen=True, slots=True)
class WitnessChange:
    """The change that running a snippet shows, and the statement at which it fails in the other release, from 0."""

    change: ChangeRow
    fails_at: int | None = None


def witnessed_changes(witnesses: Iterable[WitnessRow], changes: Iterable[ChangeRow]) -> dict[str, WitnessChange]:
    """Return the change that a snippet shows distinctively, by its id."""
    by_id = {change["id"]: change for change in changes}
    by_snippet: dict[str, WitnessChange] = {}
    for row in sorted((row for row in witnesses if row["distinctive"]), key=lambda row: row["id"], reverse=True):
        if row["change_id"] is None:
            continue
        change = by_id[row["change_id"]]
        forms = (row["old_snippet_id"], row["old_fails_at"]), (row["new_snippet_id"], row["new_fails_at"])
        by_snippet |= {key: WitnessChange(change, place) for key, place in forms if key}
    return by_snippet


def keywords_of(change: ChangeRow) -> Collection[str]:
    """Return the names by which the parameter that a change is about is given on either side of it."""
    if change["kind"] not in OF_PARAMETERS or change["parameter"] is None:
        return ()
    return {change["parameter"], *([str(change["new"])] if change["kind"] == ChangeKind.PARAMETER_RENAMED else [])}


def _bears(change: ChangeRow, usage: UsageRow) -> bool:
    return not frozenset(keywords_of(change)).isdisjoint(usage["keywords"])


def core_usages(usages: Iterable[UsageRow], rules: MaskingRules) -> tuple[list[UsageRow], list[Reject]]:
    """Return the first use of each API that goes by the API's own name, and a note for each API without one."""
    first: dict[str, UsageRow] = {}
    unfit: dict[str, UsageRow] = {}
    for usage in sorted(usages, key=lambda row: (row["start_byte"], row["end_byte"], row["path"])):
        own_name = usage["name"] == usage["path"].rpartition(".")[2]
        # Nobody can guess a private name.
        public = not usage["name"].startswith("_")
        fits = own_name and public and len(usage["name"]) >= rules.min_name_length
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
    witness: WitnessChange | None,
) -> Iterator[CompletionRow | Reject]:
    if source.text_of(_name_span(usage)) != usage["name"]:
        span = _name_span(usage)
        raise ValueError(f"usage {usage['id']}: {usage['name']!r} does not stand at bytes {span} of its snippet")
    versions = _versions(snippet, usage["path"], history)
    if witness is None:
        for version in versions:
            yield from _of_example(snippet, source, usage, uses, version, history, rules)
        return
    differing = _differing(source, usage, uses, witness, history, rules)
    if isinstance(differing, Reject):
        yield replace(differing, key=f"{snippet['id']} {usage['path']}")
        return
    span, level = differing
    shows_value = any(is_informative((check["expected"] or "").rstrip("\n")) for check in snippet["checks"])
    asks_for_call = shows_value and _asks_for_its_call(source, usage, witness, rules)
    levels = [level, *([Granularity.LINE] if asks_for_call else [])]
    for version in versions:
        for each in dict.fromkeys(level for level in levels if level in rules.granularities):
            masked = _masked(source, span, uses, each, rules, of_witness=True)
            yield _instance(snippet, usage, version, each, source, span, masked, history, witness.change)


def _asks_for_its_call(source: Source, usage: UsageRow, witness: WitnessChange, rules: MaskingRules) -> bool:
    """Say whether a line asks for more than the name of an API that came, went or moved: for how it is called.

    Of an argument that changed it does not: one may give it by position, or use what both releases have.
    """
    calls = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and source.end_of(node.func) == usage["name_end_byte"]
    ]
    place = witness.fails_at
    # An import may fail in its stead.
    fails_here = place is not None and (source.body[place].imports or source.place_of(_name_span(usage)) == place)
    is_call = any(len(call.args) + len(call.keywords) >= rules.line.least_arguments for call in calls)
    return witness.change["kind"] in WHOLE and fails_here and is_call


def _of_example(
    snippet: SnippetRow,
    source: Source,
    usage: UsageRow,
    uses: Sequence[UsageRow],
    version: str,
    history: History,
    rules: MaskingRules,
) -> Iterator[CompletionRow | Reject]:
    """Yield the instances of an API in an example: the token is an argument that is new in a release, if any."""
    # An example often begins with values that nobody can know, and goes on with the same API on what is there.
    alike = [use for use in uses if (use["path"], use["name"]) == (usage["path"], usage["name"])]
    fit = [use for use in alike if isinstance(_masked(source, _name_span(use), uses, Granularity.LINE, rules), Masked)]
    change, argument = _new_argument(source, usage, uses, version, history, rules)
    for level in rules.granularities:
        spans = [(use, _name_span(use)) for use in (*fit, *alike)]
        if argument is not None and level == Granularity.TOKEN:
            spans.insert(0, (usage, argument))
        masks = [(use, span, _masked(source, span, uses, level, rules)) for use, span in spans]
        use, span, masked = next((each for each in masks if isinstance(each[2], Masked)), masks[0])
        yield _instance(snippet, use, version, level, source, span, masked, history, change)


def _masked(
    source: Source,
    span: Span,
    uses: Sequence[UsageRow],
    level: Granularity,
    rules: MaskingRules,
    *,
    of_witness: bool = False,
) -> Masked | Reject:
    """Mask a program, where anybody can know what is hidden; the outputs of a witness do not show its values."""
    masked = mask(source, span, [_name_span(use) for use in uses], level, rules)
    if isinstance(masked, Reject):
        return masked
    without_outputs = replace(masked, masked_code=_OUTPUT.sub("", masked.masked_code)) if of_witness else masked
    return refuse_unknowable(source, without_outputs, source.text_of(span), level, rules.guessing) or masked


def _new_argument(
    source: Source, usage: UsageRow, uses: Sequence[UsageRow], version: str, history: History, rules: MaskingRules
) -> tuple[ChangeRow, Span] | tuple[None, None]:
    """Return the change by which a release takes an argument that an example gives by name, and where it gives it.

    The name of the API is the same in the release before: what differs is the argument.
    """
    for change in history.modifications(usage["path"], version):
        if change["kind"] in _TAKES_BY_NAME and any(
            _bears(change, use) for use in uses if use["path"] == usage["path"]
        ):
            differing = _differing(source, usage, uses, WitnessChange(change), history, rules)
            if not isinstance(differing, Reject) and differing[1] == Granularity.TOKEN:
                return change, differing[0]
    return None, None


def _differing(
    source: Source,
    usage: UsageRow,
    uses: Sequence[UsageRow],
    witness: WitnessChange,
    history: History,
    rules: MaskingRules,
) -> tuple[Span, Granularity] | Reject:
    """Return what of a use differs in the other release, and the level at which it is masked.

    A line or block of a test has more in it than what differs: values that nobody can guess. Rejects have no key.
    """
    change, span = witness.change, _name_span(usage)
    if change["kind"] in WHOLE:
        return span, Granularity.TOKEN
    # The name of the API is the same in the other release: what differs is the argument, or the call.
    keywords = keywords_of(change)
    if change["kind"] == ChangeKind.PARAMETER_KIND and NOT_BY_NAME.isdisjoint((change["old"], change["new"])):
        keywords = ()  # the name is right in either release
    arguments = _arguments_of(source, [use for use in uses if use["path"] == usage["path"]], keywords)
    argument = min((each for each in arguments if each[0] >= usage["name_end_byte"]), default=None)
    if argument is not None:
        if source.text_of(argument) in rules.common_parameters and _only_adds(change, history):
            detail = f"anybody would write the new parameter {source.text_of(argument)}, whatever the release"
            return Reject("", RejectReason.LEAKS_ANSWER, detail)
        if frozenset(source.names[source.text_of(argument)]).issubset(arguments):
            return argument, Granularity.TOKEN
        detail = f"{source.text_of(argument)} is a variable or an argument of another API, too"
        return Reject("", RejectReason.UNFIT_NAME, detail)
    if change["kind"] == ChangeKind.PARAMETER_KIND:
        return Reject("", RejectReason.UNCHANGED, "given in the other way the parameter is taken in either release")
    failing = [
        use for use in uses if use["path"] == usage["path"] and source.place_of(_name_span(use)) == witness.fails_at
    ]
    if witness.fails_at is None or usage["id"] not in {use["id"] for use in failing}:
        return Reject("", RejectReason.OTHER_CAUSE, "another line fails in the other release, and would stay visible")
    if len(failing) > 1:
        detail = f"which of {len(failing)} uses in one statement fails in the other release is not known"
        return Reject("", RejectReason.OTHER_CAUSE, detail)
    return span, Granularity.LINE


def _only_adds(change: ChangeRow, history: History) -> bool:
    """Return whether a parameter came in the place of none: one that went in the same release may be its old name."""
    beside = history.modifications(change["path"], change["new_version"])
    return change["kind"] in _ADDED and all(other["kind"] != ChangeKind.PARAMETER_REMOVED for other in beside)


def _arguments_of(source: Source, uses: Iterable[UsageRow], keywords: Collection[str]) -> list[Span]:
    """Return where calls of uses give some arguments by name."""
    ends = {use["name_end_byte"] for use in uses}
    return [
        source.name_span(keyword, keyword.arg)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and source.end_of(node.func) in ends
        for keyword in node.keywords
        if keyword.arg is not None and keyword.arg in keywords
    ]


def _versions(snippet: SnippetRow, path: str, history: History) -> list[str]:
    run = history.between(snippet["version"], snippet["last_version"])
    compared = [version for version in run if history.previous(version)]
    return [*(compared or run)[:1], *(v for v in compared[1:] if (history.tags(path, v) or PLAIN) != PLAIN)]


def _name_span(usage: UsageRow) -> Span:
    return usage["name_start_byte"], usage["name_end_byte"]


def _instance(
    snippet: SnippetRow,
    usage: UsageRow,
    version: str,
    level: Granularity,
    source: Source,
    span: Span,
    masked: Masked | Reject,
    history: History,
    change: ChangeRow | None,
) -> CompletionRow | Reject:
    path = usage["path"]
    key = f"{snippet['id']} {path} {version} {level}"
    if isinstance(masked, Reject):
        return Reject(key, masked.reason, masked.detail)
    tags = tags_of(key, path, version, history, is_about_change=change is not None)
    if isinstance(tags, Reject):
        return tags
    id_ = content_id("completion", snippet["library"], version, path, level, source.text, masked.masked_code)
    common = head(id_, snippet, path, version, tags, history)
    return {
        **common,
        "change_id": change["id"] if change else common["change_id"],
        "usage_id": usage["id"],
        "granularity": level,
        "code": source.text,
        "masked_code": masked.masked_code,
        "answer": masked.answer,
        "core_token": source.text_of(span),
        "access": usage["access"],
    }
