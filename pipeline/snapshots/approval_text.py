"""Texts for the approver of a snapshot: differences from the last one, and release checks that need approval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.release_checks import CheckStatus
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.candidate import Candidate
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.comparison.table_comparison import NameDiff, RowDiff
from pipeline.snapshots.description.markdown import cell
from pipeline.snapshots.release_checks.release_checks import CheckResult


def describe_checks(candidate: Candidate, results: Sequence[CheckResult], status: CheckStatus) -> str:
    """Return why a candidate is held back or waits, with advice for each check; empty where all checks pass."""
    if status == CheckStatus.PASSED:
        return ""
    matching = [result for result in results if result.status == status]
    again = f"driftline publish --profile {candidate.profile}"
    if status == CheckStatus.HOLD:
        head = f"{candidate.name} is held back, `latest` stays as it was. When that is put right: {again}"
    else:
        head = (
            f"{candidate.name} waits for a person to sign it off, until then `latest` stays as it was:"
            f" {again} --signed-by NAME"
        )
    return "\n".join([head, *(f"  {result.summary}. What to do: {result.advice}" for result in matching)])


def describe_changes(comparison: Comparison) -> list[str]:
    """Return the differences of a candidate from the last snapshot as sentences; equal families are left out."""
    lines = [*_names("libraries", comparison.libraries), *_names("releases", comparison.releases)]
    lines += [
        f"{family}: {_rows(comparison.rows[family])}" for family in INSTANCE_TABLES if not comparison.rows[family].same
    ]
    lines += [f"errata: {number} {reason}" for reason, number in comparison.errata_by_reason.items()]
    return lines or [f"nothing differs from {comparison.old}"]


def describe_unapplied(profile: str, libraries: Sequence[str]) -> list[str]:
    """Return a sentence on libraries whose latest decisions are not in a candidate, with advice; none if all are."""
    if not libraries:
        return []
    return [
        f"decisions on {', '.join(libraries)} since the refresh are not in it, since more than acceptance has to run"
        f" again: driftline refresh --profile {profile} --libraries {','.join(libraries)}"
    ]


_LISTED = 10


def _names(kind: str, diff: NameDiff) -> Iterator[str]:
    for change, names in (("added", diff.added), ("removed", diff.removed)):
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            yield f"{kind} {change}: {', '.join(names[:_LISTED])}{more}"


def _rows(rows: RowDiff) -> str:
    parts = {"added": rows.added, "removed": rows.removed, "replaced": rows.replaced, "changed": rows.changed}
    changes = ", ".join(f"{number:,} {verb}" for verb, number in parts.items() if number)
    return f"{rows.old:,} rows became {rows.new:,}: {changes}"


def request_text(
    candidate: Candidate, results: Sequence[CheckResult], changes: Sequence[str], links: Sequence[tuple[str, str]]
) -> str:
    """Return the request for approval as Markdown; `links` are texts and addresses."""
    instances = sum(candidate.rows.get(family, 0) for family in INSTANCE_TABLES)
    asking = [result for result in results if result.status == CheckStatus.APPROVAL]
    passed = sum(result.status == CheckStatus.PASSED for result in results)
    lines = [
        f"**{cell(candidate.name)}** has {instances:,} instances.",
        "",
    ]
    lines += ["These release checks need approval:", ""]
    lines += [f"- {cell(result.summary)}. What to do: {cell(result.advice)}" for result in asking]
    lines += ["", f"{passed} checks pass. " + " · ".join(f"[{text}]({address})" for text, address in links), ""]
    lines += [f"Against {cell(candidate.last)}:" if candidate.last else "It is the first snapshot of its profile.", ""]
    lines += [f"- {cell(change)}" for change in changes]
    lines += ["", "*Approve* publishes it and moves `latest`. *Reject* leaves `latest` as it is; say why in the note."]
    profile = cell(candidate.profile)
    lines += ["Later decisions in the queue are not in this candidate. To include them: *Reject*, then trigger the"]
    lines += [f"DAG `publish` with profile {profile}, or `driftline publish --profile {profile}`."]
    return "\n".join(lines)
