"""Published changes: with the observations of probes in both releases, and without those that a run refutes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pipeline.core.vocabularies.changes import GONE, OFFERED, PROBED, RELOCATED, WHOLE
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.probe_result import ProbeResult
from pipeline.families.proof import Runs
from pipeline.lake.guard import attempt
from pipeline.lake.rows import ChangeRow, PublishedChangeRow
from pipeline.lake.stage import Reject
from pipeline.quality.acceptance.predicates import Finding, judge


class ChangeVerdict(StrEnum):
    """The result of running a change in both releases."""

    HELD = "held"
    REFUTED = "refuted"
    UNDECIDED = "not decided"


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A change after runs in both releases."""

    change: ChangeRow
    result: PublishedChangeRow | Reject
    """Its row, or the reject: LABEL_REFUTED if runs contradict it, INTERNAL_ERROR if judging it failed."""
    undecided: str = ""
    """Why runs do not decide it, "" if they do."""

    @property
    def verdict(self) -> ChangeVerdict:
        """Whether the change held, was refuted, or was not decided."""
        if self.undecided:
            return ChangeVerdict.UNDECIDED
        return ChangeVerdict.REFUTED if isinstance(self.result, Reject) else ChangeVerdict.HELD


def prove_changes(changes: Iterable[ChangeRow], runs: Runs) -> list[PublishedChangeRow | Reject]:
    """Return each change as a row of `published_changes`, or as the reject LABEL_REFUTED.

    A removal that still runs is no removal, and an introduction that was there before is none. An added or removed
    path is `executed` where a probe finds it in one release and misses it in the other. After a rename or move a probe
    must also find the new path in the new release. Other changes are judged by the descriptions of both releases
    (`PREDICATES`), those of parameters by calls that are bound in both: a confirmed one is `executed`, a contradicted
    one is refuted, and the others keep the evidence of the comparison (`judge_change` says why). Where the descriptions
    decide whether calls break, `breaking` follows them. No change of an API that the library does not offer is
    breaking.
    """
    return [judge_change(change, runs).result for change in changes]


def judge_change(change: ChangeRow, runs: Runs) -> JudgedChange:
    """Return a change as `prove_changes` does, with the reason where the runs do not decide it.

    An exception is the reject INTERNAL_ERROR, and decides nothing.
    """
    judged = attempt(str(change["id"]), _judge, change, runs)
    return failed(change, judged) if isinstance(judged, Reject) else judged


def failed(change: ChangeRow, error: Reject) -> JudgedChange:
    """Return a change that could not be judged, of which `error` is the reject INTERNAL_ERROR."""
    return JudgedChange(change, error, f"{error.reason}: {error.detail.partition(chr(10))[0]}")


def _judge(change: ChangeRow, runs: Runs) -> JudgedChange:
    if change["kind"] in WHOLE:
        return _added_or_removed(change, runs)
    return _differs(change, runs)


def _added_or_removed(change: ChangeRow, runs: Runs) -> JudgedChange:
    outcomes = _outcomes(change, runs)
    without, having = outcomes[::-1] if change["kind"] in GONE else outcomes
    if having == without == Outcome.PASSED:
        if _bound_elsewhere(change, runs):
            return _judged(change, outcomes, Finding(None, reason="its path is another module in each release"))
        return _refuted(change, f"runs in {change['old_version']} and in {change['new_version']}")
    finding = Finding(held=True)
    if having != Outcome.PASSED or without != Outcome.API_MISSING:
        finding = Finding(None, reason=_of_outcomes(outcomes))
    elif change["kind"] in RELOCATED:
        after = runs.outcome(str(change["new"]), change["new_version"])
        if after != Outcome.PASSED:
            finding = Finding(None, reason=f"its new path is {_word(after)} in the new release")
    return _judged(change, outcomes, finding)


def _bound_elsewhere(change: ChangeRow, runs: Runs) -> bool:
    """Return whether a path is a module in one release, and bound to a module of another name in the other.

    `import a.b` needs a module that is called so; `from a import b` takes either.
    """
    names = {each.name for each in _descriptions(change, runs) if each is not None and each.kind == SymbolKind.MODULE}
    return len(names) > 1


def _differs(change: ChangeRow, runs: Runs) -> JudgedChange:
    if change["kind"] not in PROBED:
        return _judged(change, [None, None], Finding(None, reason="no call and no import shows a change of this kind"))
    outcomes = _outcomes(change, runs)
    old, new = _descriptions(change, runs)
    if old is None or new is None:
        return _judged(change, outcomes, Finding(None, reason=_of_outcomes(outcomes)))
    finding = judge(old, new, change)
    if finding.held is False:
        return _refuted(
            change, f"is {old.words()} in {change['old_version']}, {new.words()} in {change['new_version']}"
        )
    return _judged(change, outcomes, finding)


def _of_outcomes(outcomes: list[str | None]) -> str:
    """Return the reason where probes did not find the same path in both releases, or did not describe it."""
    return "its path is {} in the old release, {} in the new one".format(*map(_word, outcomes))


def _word(outcome: str | None) -> str:
    if outcome is None:
        return "not probed"
    return {Outcome.PASSED.value: "found", Outcome.API_MISSING.value: "missing"}.get(outcome, outcome)


def _descriptions(change: ChangeRow, runs: Runs) -> list[ProbeResult | None]:
    return [runs.probe_result(change["path"], change[side]) for side in ("old_version", "new_version")]


def _outcomes(change: ChangeRow, runs: Runs) -> list[str | None]:
    return [runs.outcome(change["path"], change[side]) for side in ("old_version", "new_version")]


def _refuted(change: ChangeRow, observed: str) -> JudgedChange:
    about = f" {change['parameter']}" if change["parameter"] else ""
    detail = f"{change['kind']}{about}: {change['path']} {observed}"
    return JudgedChange(change, Reject(change["id"], RejectReason.LABEL_REFUTED, detail))


def _judged(change: ChangeRow, outcomes: list[str | None], finding: Finding) -> JudgedChange:
    can_fail = change["breaking"] if finding.breaking is None else finding.breaking
    row: PublishedChangeRow = {
        **change,
        "breaking": can_fail and change["reach"] in OFFERED,
        # griffe reports a breakage: where there is none it would have been wrong
        "griffe_kind": None if finding.breaking is False else change["griffe_kind"],
        "evidence": Evidence.EXECUTED if finding.held else change["evidence"],
        "old_outcome": outcomes[0],
        "new_outcome": outcomes[1],
    }
    # runs of a program have shown a change of behaviour already
    return JudgedChange(change, row, "" if row["evidence"] == Evidence.EXECUTED else finding.reason)
