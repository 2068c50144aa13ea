"""Texts for the approver of a snapshot: differences from the last one, and release checks that need approval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.gates import CheckStatus
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.candidate import Candidate
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.comparison.table_comparison import NameDiff, RowDiff
from pipeline.snapshots.description.markdown import cell
from pipeline.snapshots.release_checks.release_checks import CheckResult


def describe_checks(draft: Candidate, gates: Sequence[CheckResult], status: CheckStatus) -> str:
    """Return why a candidate is held back or waits, with advice for each check; empty where all checks pass."""
    if status == CheckStatus.PASSED:
        return ""
    matching = [gate for gate in gates if gate.status == status]
    again = f"driftline publish --profile {draft.profile}"
    if status == CheckStatus.HOLD:
        head = f"{draft.name} is held back, `latest` stays as it was. When that is put right: {again}"
    else:
        head = (
            f"{draft.name} waits for a person to sign it off, until then `latest` stays as it was:"
            f" {again} --signed-by NAME"
        )
    return "\n".join([head, *(f"  {gate.summary}. What to do: {gate.advice}" for gate in matching)])


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
    draft: Candidate, gates: Sequence[CheckResult], changes: Sequence[str], links: Sequence[tuple[str, str]]
) -> str:
    """Return the request for approval as Markdown; `links` are texts and addresses."""
    asking = [gate for gate in gates if gate.status == CheckStatus.APPROVAL]
    passed = sum(gate.status == CheckStatus.PASSED for gate in gates)
    lines = [
        f"**{cell(draft.name)}** has {sum(draft.rows.get(family, 0) for family in INSTANCE_TABLES):,} instances.",
        "",
    ]
    lines += ["These release checks need approval:", ""]
    lines += [f"- {cell(gate.summary)}. What to do: {cell(gate.advice)}" for gate in asking]
    lines += ["", f"{passed} checks pass. " + " · ".join(f"[{text}]({address})" for text, address in links), ""]
    lines += [f"Against {cell(draft.last)}:" if draft.last else "It is the first snapshot of its profile.", ""]
    lines += [f"- {cell(change)}" for change in changes]
    lines += ["", "*Approve* publishes it and moves `latest`. *Reject* leaves `latest` as it is; say why in the note."]
    profile = cell(draft.profile)
    lines += ["Later decisions in the queue are not in this candidate. To include them: *Reject*, then trigger the"]
    lines += [f"DAG `publish` with profile {profile}, or `driftline publish --profile {profile}`."]
    return "\n".join(lines)
