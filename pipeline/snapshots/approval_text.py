"""What a person who signs a snapshot off is told: how it differs from the last one, and which gates ask why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.core.vocabularies.gates import GateStanding
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.candidate import Draft
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.comparison.table_comparison import RowDiff
from pipeline.snapshots.description.markdown import cell
from pipeline.snapshots.release_checks.release_checks import Gate


def told_gates(draft: Draft, gates: Sequence[Gate], standing: GateStanding) -> str:
    """Return why a draft is held back or waits, with what to do for each gate; empty where nothing is in its way."""
    if standing == GateStanding.PASSED:
        return ""
    found = [gate for gate in gates if gate.standing == standing]
    again = f"driftline publish --profile {draft.profile}"
    if standing == GateStanding.HOLD:
        head = f"{draft.name} is held back, `latest` stays as it was. When that is put right: {again}"
    else:
        head = (
            f"{draft.name} waits for a person to sign it off, until then `latest` stays as it was:"
            f" {again} --signed-by NAME"
        )
    return "\n".join([head, *(f"  {gate.told}. What to do: {gate.advice}" for gate in found)])


def told_changes(comparison: Comparison) -> list[str]:
    """Return in sentences how a draft differs from the last snapshot; families without a difference are left out."""
    moved = comparison.libraries
    lines = [
        *_moved("libraries", moved.came, moved.went),
        *_moved("releases", comparison.releases.came, comparison.releases.went),
    ]
    lines += [
        f"{family}: {_rows(comparison.rows[family])}" for family in INSTANCE_TABLES if not comparison.rows[family].same
    ]
    lines += [f"errata: {number} {reason}" for reason, number in comparison.errata_by_reason.items()]
    return lines or [f"nothing differs from {comparison.old}"]


def told_unjudged(profile: str, libraries: Sequence[str]) -> list[str]:
    """Return the sentence on libraries whose latest reviews are not in a draft, with what to do; none where all are."""
    if not libraries:
        return []
    return [
        f"what people decided of {', '.join(libraries)} since the refresh is not in it, since more than their gates has"
        f" to run again: driftline refresh --profile {profile} --libraries {','.join(libraries)}"
    ]


def _moved(what: str, came: Sequence[str], went: Sequence[str]) -> Iterator[str]:
    for verb, names in (("came", came), ("went", went)):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield f"{what} that {verb}: {', '.join(names[:_SHOWN])}{more}"


_SHOWN = 10


def _rows(rows: RowDiff) -> str:
    parts = {"came": rows.came, "went": rows.went, "replaced": rows.replaced, "say something else": rows.changed}
    told = ", ".join(f"{number:,} {verb}" for verb, number in parts.items() if number)
    return f"{rows.old:,} rows became {rows.new:,}: {told}"


def request_text(draft: Draft, gates: Sequence[Gate], changes: Sequence[str], links: Sequence[tuple[str, str]]) -> str:
    """Return in Markdown what the person sees who is asked to sign; `links` are texts and addresses."""
    asking = [gate for gate in gates if gate.standing == GateStanding.SIGN_OFF]
    passed = sum(gate.standing == GateStanding.PASSED for gate in gates)
    lines = [
        f"**{cell(draft.name)}** has {sum(draft.rows.get(family, 0) for family in INSTANCE_TABLES):,} instances.",
        "",
    ]
    lines += ["These gates ask for a person:", ""]
    lines += [f"- {cell(gate.told)}. What to do: {cell(gate.advice)}" for gate in asking]
    lines += ["", f"{passed} gates are passed. " + " · ".join(f"[{text}]({address})" for text, address in links), ""]
    lines += [f"Against {cell(draft.last)}:" if draft.last else "It is the first snapshot of its profile.", ""]
    lines += [f"- {cell(change)}" for change in changes]
    lines += ["", "*Approve* publishes it and moves `latest`. *Reject* leaves `latest` as it is; say why in the note."]
    lines += [
        "What is decided in the queue from now on is not in this draft. To have it in: *Reject*, then trigger the"
    ]
    lines += [
        f"DAG `publish` with profile {cell(draft.profile)}, or `driftline publish --profile {cell(draft.profile)}`."
    ]
    return "\n".join(lines)
