"""The stage that writes the `usages` table."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Language
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.rules import UsageRules
from pipeline.corpus.usages.state import MAX_DEPTH
from pipeline.corpus.usages.text import preamble_length, source_of
from pipeline.corpus.usages.uses import Unresolved, usage_row
from pipeline.lake.collector import without_collector
from pipeline.lake.guard import attempt
from pipeline.lake.intervals import holding_at
from pipeline.lake.rows import ReleaseRow, SnippetRow, SymbolRow, Tables, UsageRow
from pipeline.lake.stage import Output, Reject


def usage_stage(tables: Tables, rules: UsageRules) -> Output:
    """Find the uses in each snippet of a library, against the API of the snippet's own version.

    What the preamble uses is not counted: it is there for the code's sake. The unit is a chain that starts at the
    library: it becomes a use or the reject UNRESOLVED_NAME. A snippet that nests too deep to be looked into everywhere
    is a note. Snippets in other languages than Python are left alone: there is no API to hold them against.
    """
    usages: list[UsageRow] = []
    rejects: list[Reject] = []
    notes: list[Reject] = []
    of_version: dict[str, list[SnippetRow]] = defaultdict(list)
    for row in tables["snippets"]:
        if row["language"] == Language.PYTHON:
            of_version[row["version"]].append(row)
    with without_collector():
        for release in tables["releases"]:
            for snippet, api in _with_api(of_version[release["version"]], release, tables["symbols"], rules):
                uses = attempt(snippet["id"], _uses, snippet, api, rules)
                if isinstance(uses, Reject):
                    rejects.append(uses)
                    continue
                usages += uses.rows
                rejects += uses.rejects
                notes += uses.notes
    return Output({"usages": usages}, len(usages) + len(rejects), len(usages), rejects, notes)


class _Uses(NamedTuple):
    """What a snippet uses, the chains that lead nowhere, and notes."""

    rows: list[UsageRow]
    rejects: list[Reject]
    notes: list[Reject]


def _uses(snippet: SnippetRow, api: Api, rules: UsageRules) -> _Uses:
    scanned, start = scan(source_of(snippet), api), preamble_length(snippet)
    deep = [Reject(snippet["id"], RejectReason.TOO_LONG, f"nested deeper than {MAX_DEPTH} levels")]
    return _Uses(
        [
            usage_row(use, snippet["id"], snippet["library"], snippet["version"])
            for use in scanned.uses
            if use.name_start_byte >= start
        ],
        [_reject(snippet, chain, api, rules) for chain in scanned.unresolved if chain.start_byte >= start],
        deep if scanned.too_deep else [],
    )


def _with_api(
    snippets: Sequence[SnippetRow], release: ReleaseRow, symbols: Sequence[SymbolRow], rules: UsageRules
) -> Iterator[tuple[SnippetRow, Api]]:
    """Yield each snippet with the API of the release, which is made only where it is needed."""
    if snippets:
        at = {row["path"]: row for row in holding_at(symbols, release["version"])}
        api = Api(at, release["import_names"], rules.returns_of(release["library"]))
        for snippet in snippets:
            yield snippet, api


def _reject(snippet: SnippetRow, chain: Unresolved, api: Api, rules: UsageRules) -> Reject:
    key = f"{snippet['id']} {chain.chain} @{chain.start_byte}"
    detail = f"line {chain.line}: {chain.path}; {why_not(chain.path, api, rules.nearest_similarity)}"
    return Reject(key, RejectReason.UNRESOLVED_NAME, detail)


def why_not(path: str, api: Api, similarity: float) -> str:
    """Say why a path is not public, and what a reader may have meant by it."""
    if public := api.defined_at(path):
        return f"private; public path of it: {public}"
    near = nearest(path, api, similarity)
    parent = path.rpartition(".")[0]
    hidden = f"the sources do not show all names of {parent}; " if parent and api.is_open(parent) else ""
    return f"{hidden}nearest public path: {near or 'none'}"


def nearest(path: str, api: Api, similarity: float) -> str | None:
    """Return the public path most like one that does not exist: a sibling, or the same name elsewhere."""
    close_matches = difflib.get_close_matches(path, api.like(path), 1, similarity)
    return close_matches[0] if close_matches else None
