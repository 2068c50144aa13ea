"""The acceptance of compatibilities: of the programs that ask for the same knowledge the shortest is published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.compatibilities.rules import CompatibilityRules
from pipeline.lake.rows import CompatibilityRow, PublishedCompatibilityRow, SnippetRow, Tables
from pipeline.lake.stage import Output, Reject
from pipeline.quality.acceptance.quality import QualityRules
from pipeline.quality.acceptance.reviewed import LibraryReviews, accepted, refusing
from pipeline.quality.acceptance.sourced import source_columns


def compatibilities_acceptance_stage(tables: Tables, rules: QualityRules, own_rules: CompatibilityRules) -> Output:
    """Make the table `published_compatibilities`; the unit is a program with its releases.

    Refused are, in this order: LICENCE, REVIEWED_OUT and FLAGGED, and NEAR_DUPLICATE (a shorter program, or the same
    one for another change, asks for the same knowledge).
    """
    reviews = LibraryReviews.of(tables, rules)
    snippets = {row["id"]: row for row in tables["snippets"]}
    published_changes = {row["id"]: row for row in tables["published_changes"]}
    table = "published_compatibilities"
    output = accepted(
        table, tables["compatibilities"], lambda row: [_published(row, snippets, published_changes, reviews)]
    )
    rows: list[PublishedCompatibilityRow] = []
    rejects: list[Reject] = []
    chosen: dict[tuple[str, ...], list[str]] = defaultdict(list)
    programs: dict[str, str] = {}
    for row in sorted(output.tables["published_compatibilities"], key=lambda row: (len(row["code"]), row["id"])):
        change = published_changes.get(row["change_id"] or "")
        # Another parameter of the API is another thing to know.
        of_api = chosen[row["path"], (change and change["parameter"]) or "", *row["compatible"]]
        other = programs.get(row["code"]) or (of_api[0] if len(of_api) >= own_rules.per_api else None)
        if other is None:
            of_api.append(row["id"])
            programs[row["code"]] = row["id"]
            rows.append(row)
        else:
            rejects.append(Reject(row["id"], RejectReason.NEAR_DUPLICATE, f"{other} asks for the same"))
    return refusing(output, table, rows, rejects)


def _published(
    original: CompatibilityRow,
    snippets: Mapping[str, SnippetRow],
    published_changes: Collection[str],
    reviews: LibraryReviews,
) -> PublishedCompatibilityRow | Reject:
    reviewed = reviews.reviewed(Family.COMPATIBILITY, original)
    row = reviewed.row
    snippet = snippets[row["snippet_id"]]
    if refusal := reviews.unlicensed(row["id"], snippet["licence"]) or reviewed.refusal():
        return refusal
    return {
        **row,
        "change_id": row["change_id"] if row["change_id"] in published_changes else None,
        **source_columns(snippet),
        **reviewed.columns(),
        "description": None,
        "drafter": None,
        "model": None,
        "prompt_sha256": None,
        "evidence": Evidence.EXECUTED,
        "discriminating": True,
    }
