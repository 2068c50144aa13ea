"""Published changes: with the observations of probes in both releases, and without those that a run refutes."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.core.vocabularies.changes import GONE, OFFERED, PROBED, RELOCATED, WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.execution.probe_result import ProbeResult
from pipeline.families.proof import Runs
from pipeline.lake.guard import guarded
from pipeline.lake.rows import ChangeRow, PublishedChangeRow
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.predicates import UNDECIDED, Finding, judge


def prove_changes(changes: Iterable[ChangeRow], runs: Runs) -> list[PublishedChangeRow | Reject]:
    """Return each change as a row of `published_changes`, or as the reject LABEL_REFUTED.

    A removal that still runs is no removal, and an introduction that was there before is none. An added or removed
    path is `executed` where a probe finds it in one release and misses it in the other. After a rename or move a probe
    must also find the new path in the new release. Other changes are judged by the descriptions of both releases
    (`PREDICATES`), those of parameters by calls that are bound in both: a confirmed one is `executed`, a contradicted
    one is refuted, and the others keep the evidence of the comparison (`undecided` says why). Where the descriptions
    decide whether calls break, `breaking` follows them. No change of an API that the library does not offer is
    breaking.
    """
    return list(guarded(changes, lambda change: str(change["id"]), lambda change: [_prove(change, runs)]))


def undecided(change: ChangeRow, runs: Runs) -> str:
    """Return why running both releases does not decide whether a change holds, "" if it does."""
    proven = _prove(change, runs)
    if isinstance(proven, Reject) or proven["evidence"] == Evidence.EXECUTED:
        return ""
    if change["kind"] not in WHOLE | PROBED:
        return "no call and no import shows a change of this kind"
    return "importing does not reach it" if change["kind"] in WHOLE else _finding(change, runs).reason


def _prove(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    if change["kind"] in WHOLE:
        return _added_or_removed(change, runs)
    return _differs(change, runs)


def _added_or_removed(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    outcomes = _outcomes(change, runs)
    without, having = outcomes[::-1] if change["kind"] in GONE else outcomes
    if having == without == Outcome.PASSED and not _bound_elsewhere(change, runs):
        return _refuted(change, f"runs in {change['old_version']} and in {change['new_version']}")
    proven = having == Outcome.PASSED and without == Outcome.API_MISSING
    if change["kind"] in RELOCATED:
        proven = proven and runs.outcome(str(change["new"]), change["new_version"]) == Outcome.PASSED
    return _published(change, outcomes, Finding(proven or None))


def _bound_elsewhere(change: ChangeRow, runs: Runs) -> bool:
    """Return whether a path is a module in one release, and bound to a module of another name in the other.

    `import a.b` needs a module that is called so; `from a import b` takes either.
    """
    names = {each.name for each in _descriptions(change, runs) if each is not None and each.kind == "module"}
    return len(names) > 1


def _differs(change: ChangeRow, runs: Runs) -> PublishedChangeRow | Reject:
    if change["kind"] not in PROBED:
        return _published(change, [None, None], UNDECIDED)
    finding = _finding(change, runs)
    old, new = _descriptions(change, runs)
    if old and new and finding.held is False:
        return _refuted(
            change, f"is {old.words()} in {change['old_version']}, {new.words()} in {change['new_version']}"
        )
    return _published(change, _outcomes(change, runs), finding)


def _finding(change: ChangeRow, runs: Runs) -> Finding:
    old, new = _descriptions(change, runs)
    return judge(old, new, change) if old and new else Finding(None, reason="importing does not reach it")


def _descriptions(change: ChangeRow, runs: Runs) -> list[ProbeResult | None]:
    return [runs.probe_result(change["path"], change[side]) for side in ("old_version", "new_version")]


def _outcomes(change: ChangeRow, runs: Runs) -> list[str | None]:
    return [runs.outcome(change["path"], change[side]) for side in ("old_version", "new_version")]


def _refuted(change: ChangeRow, observed: str) -> Reject:
    about = f" {change['parameter']}" if change["parameter"] else ""
    return Reject(change["id"], RejectReason.LABEL_REFUTED, f"{change['kind']}{about}: {change['path']} {observed}")


def _published(change: ChangeRow, outcomes: list[str | None], finding: Finding) -> PublishedChangeRow:
    can_fail = change["breaking"] if finding.breaking is None else finding.breaking
    return {
        **change,
        "breaking": can_fail and change["reach"] in OFFERED,
        # griffe reports a breakage: where there is none it would have been wrong
        "griffe_kind": None if finding.breaking is False else change["griffe_kind"],
        "evidence": Evidence.EXECUTED if finding.held else change["evidence"],
        "old_outcome": outcomes[0],
        "new_outcome": outcomes[1],
    }
