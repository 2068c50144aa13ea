"""Changes as they are published: with what probes in both releases saw, and without those that running refutes."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.core.vocabularies.changes import GONE, PROBED, RELOCATED, WHOLE, Reach
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.families.proof import Runs
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, PublishedChangeRow
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.predicates import Finding, judge


def prove_changes(changes: Iterable[ChangeRow], runs: Runs) -> list[PublishedChangeRow | Reject]:
    """Return each change as a row of `published_changes`, or as the reject LABEL_REFUTED.

    A removal that still runs is not a removal, and an introduction that was there before is not one. A path that came
    or went is `executed` where a probe finds it in the one release and finds it missing in the other; after a rename
    or move the new path must besides be found in the new release. Other changes are judged by what the probes
    describe in both releases (`PREDICATES`): what they show is `executed`, what they show not to be so is refuted,
    and what they do not tell keeps the evidence that the comparison gave it. Where they show that the change breaks
    calls, or that it does not, `breaking` says so, whatever the comparison took it for; but no change of an unlisted
    API is breaking.
    """
    return list(guarded(changes, lambda change: str(change["id"]), lambda change: [_prove(change, runs)]))


def _prove(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    if change["kind"] in WHOLE:
        return _came_or_went(change, runs)
    return _differs(change, runs)


def _came_or_went(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    outcomes = _outcomes(change, runs)
    without, having = outcomes[::-1] if change["kind"] in GONE else outcomes
    if having == without == Outcome.PASSED and not _bound_elsewhere(change, runs):
        return _refuted(change, f"runs in {change['old_version']} and in {change['new_version']}")
    proven = having == Outcome.PASSED and without == Outcome.API_MISSING
    if change["kind"] in RELOCATED:
        proven = proven and runs.outcome(str(change["new"]), change["new_version"]) == Outcome.PASSED
    return _published(change, outcomes, Finding(proven or None))


def _bound_elsewhere(change: ChangeRow, runs: Runs) -> bool:
    """Say whether a path is a module in one release, and in the other a module of another name that is bound there.

    `import a.b` needs a module that is called so; `from a import b` takes either.
    """
    seen = [runs.seen(change["path"], change[side]) for side in ("old_version", "new_version")]
    names = {each.name for each in seen if each is not None and each.kind == "module"}
    return len(names) > 1


def _differs(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    if change["kind"] not in PROBED:
        return _published(change, [None, None], Finding(None))
    old, new = (runs.seen(change["path"], change[side]) for side in ("old_version", "new_version"))
    finding = judge(old, new, change) if old and new else Finding(None)
    if old and new and finding.held is False:
        return _refuted(
            change, f"is {old.words()} in {change['old_version']}, {new.words()} in {change['new_version']}"
        )
    return _published(change, _outcomes(change, runs), finding)


def _outcomes(change: ChangeRow, runs: Runs) -> list[str | None]:
    return [runs.outcome(change["path"], change[side]) for side in ("old_version", "new_version")]


def _refuted(change: ChangeRow, seen: str) -> Reject:
    about = f" {change['parameter']}" if change["parameter"] else ""
    return Reject(change["id"], RejectReason.LABEL_REFUTED, f"{change['kind']}{about}: {change['path']} {seen}")


def _published(change: ChangeRow, outcomes: list[str | None], finding: Finding) -> PublishedChangeRow:
    can_fail = change["breaking"] if finding.breaking is None else finding.breaking
    return {
        **change,
        "breaking": can_fail and change["reach"] != Reach.UNLISTED,
        # griffe reports a breakage: where there is none it would have been wrong
        "griffe_kind": None if finding.breaking is False else change["griffe_kind"],
        "evidence": Evidence.EXECUTED if finding.held else change["evidence"],
        "old_outcome": outcomes[0],
        "new_outcome": outcomes[1],
    }
