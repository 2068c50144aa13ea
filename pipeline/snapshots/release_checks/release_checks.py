"""The gates of a snapshot: what was measured of a draft, what is allowed, what that means and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.vocabularies.gates import GateKind, GateStanding
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.runner import Count
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.release_checks.measures import Family, added, families_of, shift
from pipeline.snapshots.release_checks.rules import GateRules, Least, Most, shown

_RULES_TOO = "; if this is as it should be, sign it off, or change curation_rules/gates.yaml"


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate as it was found: `measured` of so many units (None: not measured), what is allowed, what to do."""

    kind: GateKind
    what: str
    measured: float | None
    of: int
    allowed: str
    standing: GateStanding

    @property
    def advice(self) -> str:
        """What to do where it is not passed."""
        return CHECKS[self.kind].advice + _RULES_TOO

    @property
    def told(self) -> str:
        """The gate in a sentence."""
        return f"{self.kind} ({self.what}): {self.value} of {self.of:,}; {self.allowed}"

    @property
    def value(self) -> str:
        """What was measured, as people read it."""
        if self.measured is None:
            return "not measured"
        return f"{self.measured:.2f}" if self.kind == GateKind.AGREEMENT else shown(self.measured)


@dataclass(frozen=True, slots=True)
class Known:
    """What the gates look at: the draft, the last snapshot beside it, what stages did, and what people and runs said.

    `counts` are those of every stage and library when they were last looked at; `kappa` and `surviving` are None where
    there is nothing to tell them by.
    """

    draft: Path
    comparison: Comparison | None
    counts: Sequence[Count]
    libraries_before: int = 0
    kappa: float | None = None
    pairs: int = 0
    surviving: float | None = None
    survivals: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a check measures, and the families of the draft, counted once for all checks."""

    known: Known
    families: Mapping[str, Family]


@dataclass(frozen=True, slots=True)
class Check:
    """A release check: how a draft is weighed, in a gate for each thing that is measured, and what to do."""

    weigh: Callable[[Measured, GateRules], Iterable[Gate]]
    advice: str


def weigh(known: Known, rules: GateRules) -> list[Gate]:
    """Measure a draft at every gate."""
    draft = Measured(known, families_of(known.draft))
    return [gate for kind in GateKind for gate in CHECKS[kind].weigh(draft, rules)]


def standing_of(gates: Sequence[Gate]) -> GateStanding:
    """Return what the gates mean together: the strictest of them counts."""
    found = {gate.standing for gate in gates}
    return next((one for one in (GateStanding.HOLD, GateStanding.SIGN_OFF) if one in found), GateStanding.PASSED)


def _gate(kind: GateKind, what: str, measured: float | None, of: int, rule: Most | Least, least: int) -> Gate:
    if measured is None or of < least:
        return Gate(kind, what, None, of, rule.allowed, GateStanding.NOT_MEASURED)
    return Gate(kind, what, round(measured, 6), of, rule.allowed, rule.standing(measured))


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _rejected(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    seen: Counter[str] = Counter()
    refused: Counter[tuple[str, str | None]] = Counter()
    for count in draft.known.counts:
        seen[count.stage] += count.seen
        for reason, number in (*count.rejected.items(), *count.rejected_before.items()):
            refused[count.stage, reason] += number
            refused[count.stage, None] += number
    for rule in rules.rejected:
        of = seen[rule.stage]
        what = f"{rule.stage}: {rule.reason or 'any reason'}"
        yield _gate(GateKind.REJECTED, what, _share(refused[rule.stage, rule.reason], of), of, rule, rules.least)


def _internal_errors(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    """Weigh the internal errors of each stage that had any, of units and of their parts, however few it looked at."""
    limit = rules.limits[GateKind.INTERNAL_ERRORS]
    seen: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for count in draft.known.counts:
        seen[count.stage] += count.seen
        for reasons in (count.rejected, count.rejected_before, count.noted, count.noted_before):
            failed[count.stage] += reasons.get(RejectReason.INTERNAL_ERROR, 0)
    for stage, number in sorted((+failed).items()):
        share = min(1.0, number / max(1, seen[stage]))
        yield _gate(GateKind.INTERNAL_ERRORS, stage, share, seen[stage], limit, 0)
    if not +failed:
        total = sum(seen.values())
        yield _gate(GateKind.INTERNAL_ERRORS, "all stages", _share(0, total), total, limit, 0)


def _unproven(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    for rule in rules.unproven:
        found = draft.families[rule.family]
        share = _share(found.with_evidence - found.executed, found.with_evidence)
        yield _gate(GateKind.UNPROVEN, rule.family, share, found.with_evidence, rule, rules.least)


def _duplicates(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    for name, found in draft.families.items():
        share = _share(found.repeated, found.rows)
        yield _gate(GateKind.DUPLICATES, name, share, found.rows, rules.limits[GateKind.DUPLICATES], rules.least)


def _agreement(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    known, rule = draft.known, rules.agreement
    yield _gate(GateKind.AGREEMENT, "two annotators", known.kappa, known.pairs, rule, rule.least)


def _survival(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    known, rule = draft.known, rules.limits[GateKind.SURVIVAL]
    yield _gate(GateKind.SURVIVAL, "the last period", known.surviving, known.survivals, rule, rules.least)


def _unreviewed(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    found = added([*draft.families.values()])
    share, rule = _share(found.pending, found.reviewable), rules.limits[GateKind.UNREVIEWED]
    yield _gate(GateKind.UNREVIEWED, "all families", share, found.reviewable, rule, rules.least)


def _lost(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    """Weigh rows of the last snapshot that are gone for good, and libraries."""
    comparison = draft.known.comparison
    if comparison is None:
        return
    for family in INSTANCE_TABLES:
        rows = comparison.rows[family]
        lost, what = _share(rows.went, rows.old), f"{family} of {comparison.old}"
        yield _gate(GateKind.LOST, what, lost, rows.old, rules.limits[GateKind.LOST], rules.least)
    gone, before = comparison.libraries.went, draft.known.libraries_before
    what = f"libraries of {comparison.old}" + (f": {', '.join(gone)}" if gone else "")
    yield _gate(GateKind.LOST, what, _share(len(gone), before), before, rules.lost_libraries, 1)


def _shifted(draft: Measured, rules: GateRules) -> Iterator[Gate]:
    """Weigh how far the columns moved since the last snapshot."""
    comparison = draft.known.comparison
    for family in INSTANCE_TABLES if comparison else ():
        assert comparison is not None
        rows, moved = comparison.rows[family], shift(comparison, family)
        what = f"{family}.{moved.column} since {comparison.old}" if moved else f"{family} since {comparison.old}"
        measured, of = moved.distance if moved else None, min(rows.old, rows.new)
        yield _gate(GateKind.SHIFTED, what, measured, of, rules.limits[GateKind.SHIFTED], rules.least)


CHECKS: Mapping[GateKind, Check] = {
    GateKind.REJECTED: Check(_rejected, "look at the rejects of this stage, and refresh the libraries that they name"),
    GateKind.INTERNAL_ERRORS: Check(
        _internal_errors,
        (
            "report the traces that summary and report of the refresh show; their rows come with"
            " a Driftline that mends them"
        ),
    ),
    GateKind.UNPROVEN: Check(
        _unproven, "see the outcomes of environments and verdicts; `driftline doctor` tells what is missing here"
    ),
    GateKind.DUPLICATES: Check(
        _duplicates, "see which sources repeat each other; snippets.yaml says what is taken for alike"
    ),
    GateKind.AGREEMENT: Check(
        _agreement,
        (
            "settle what is in conflict on the page Agreement (`driftline review`), then publish again;"
            " and make the guideline clearer"
        ),
    ),
    GateKind.SURVIVAL: Check(_survival, "see the table survivals for what no longer passes, and why"),
    GateKind.UNREVIEWED: Check(
        _unreviewed,
        (
            "decide what is pending (`driftline review`, or the page in Airflow), then publish again; that"
            " needs no refresh to count"
        ),
    ),
    GateKind.LOST: Check(_lost, "see the errata of the draft for each row that went, and why"),
    GateKind.SHIFTED: Check(_shifted, "see with `driftline compare` which values the column has now"),
}
"""The checks of a release, by kind; a kind without one fails a test."""
