"""Changes as they are published: with what probes in both releases saw, and without those that running refutes."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.lake import Reject, Row
from pipeline.review import Runs
from pipeline.terms import ChangeKind, Evidence, Outcome, RejectReason

GONE = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})
"""Kinds after which the old path must be missing."""


def prove_changes(changes: Iterable[Row], runs: Runs) -> list[Row | Reject]:
    """Return each change as a row of `published_changes`, or as the reject LABEL_REFUTED.

    A removal that still runs is not a removal, and an introduction that was there before is not one. A change is
    `executed` where a probe finds the path in the one release and finds it missing in the other; what only a
    signature or a value shows keeps the evidence that the comparison gave it.
    """
    return [_prove(change, runs) for change in changes]


def _prove(change: Row, runs: Runs) -> Row | Reject:
    came = change["kind"] == ChangeKind.INTRODUCED
    if not came and change["kind"] not in GONE:
        return {**change, "old_outcome": None, "new_outcome": None}
    outcomes = [runs.outcome(change["path"], change[side]) for side in ("old_version", "new_version")]
    without, having = outcomes if came else outcomes[::-1]
    if having == Outcome.PASSED and without == Outcome.PASSED:
        both = f"{change['path']} runs in {change['old_version']} and in {change['new_version']}"
        return Reject(change["id"], RejectReason.LABEL_REFUTED, f"{change['kind']}: {both}")
    proven = having == Outcome.PASSED and without == Outcome.API_MISSING
    return {
        **change,
        "evidence": Evidence.EXECUTED if proven else change["evidence"],
        "old_outcome": outcomes[0],
        "new_outcome": outcomes[1],
    }
