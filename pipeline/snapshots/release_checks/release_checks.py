"""Release checks: measures of a candidate, their limits, the resulting status and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.lake.runner import Count
from pipeline.snapshots.comparison.comparison import Comparison
from pipeline.snapshots.release_checks.measures import Family, added, families_of, shift
from pipeline.snapshots.release_checks.rules import Least, Most, ReleaseCheckRules, percent

_RULES_TOO = "; if this is intended, sign it off, or change curation_rules/release_checks.yaml"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A result of a release check: the share `measured` of a number of units (None: not measured), and its limit."""

    kind: CheckKind
    subject: str
    measured: float | None
    of: int
    allowed: str
    status: CheckStatus

    @property
    def advice(self) -> str:
        """What to do where it does not pass."""
        return CHECKS[self.kind].advice + _RULES_TOO

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        return f"{self.kind} ({self.subject}): {self.value} of {self.of:,}; {self.allowed}"

    @property
    def value(self) -> str:
        """The measured value as text."""
        if self.measured is None:
            return "not measured"
        return f"{self.measured:.2f}" if self.kind == CheckKind.AGREEMENT else percent(self.measured)


@dataclass(frozen=True, slots=True)
class CheckInputs:
    """Inputs of release checks: candidate, comparison with the last snapshot, counts of stages, agreement, survival.

    `counts` are the latest ones of every stage and library; `kappa` and `surviving` are None without data.
    """

    candidate: Path
    comparison: Comparison | None
    counts: Sequence[Count]
    libraries_before: int = 0
    kappa: float | None = None
    pairs: int = 0
    surviving: float | None = None
    survivals: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """The inputs, and the families of the candidate, counted once for all checks."""

    inputs: CheckInputs
    families: Mapping[str, Family]


@dataclass(frozen=True, slots=True)
class Check:
    """A release check: a function that returns results for a candidate, and advice."""

    weigh: Callable[[Measured, ReleaseCheckRules], Iterable[CheckResult]]
    advice: str


def weigh(inputs: CheckInputs, rules: ReleaseCheckRules) -> list[CheckResult]:
    """Run every release check."""
    candidate = Measured(inputs, families_of(inputs.candidate))
    return [result for kind in CheckKind for result in CHECKS[kind].weigh(candidate, rules)]


def overall_status(results: Sequence[CheckResult]) -> CheckStatus:
    """Return the strictest status."""
    statuses = {result.status for result in results}
    strictest_first = (CheckStatus.HOLD, CheckStatus.APPROVAL)
    return next((status for status in strictest_first if status in statuses), CheckStatus.PASSED)


def _result(
    kind: CheckKind, subject: str, measured: float | None, of: int, rule: Most | Least, least: int
) -> CheckResult:
    if measured is None or of < least:
        return CheckResult(kind, subject, None, of, rule.allowed, CheckStatus.NOT_MEASURED)
    return CheckResult(kind, subject, round(measured, 6), of, rule.allowed, rule.status(measured))


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _rejected(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    units: Counter[str] = Counter()
    refused: Counter[tuple[str, str | None]] = Counter()
    for count in candidate.inputs.counts:
        units[count.stage] += count.units_in
        for reason, number in (*count.rejected.items(), *count.rejected_before.items()):
            refused[count.stage, reason] += number
            refused[count.stage, None] += number
    for rule in rules.rejected:
        of = units[rule.stage]
        subject = f"{rule.stage}: {rule.reason or 'any reason'}"
        yield _result(CheckKind.REJECTED, subject, _share(refused[rule.stage, rule.reason], of), of, rule, rules.least)


def _internal_errors(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    """Check the internal errors of each stage that had any, in units and their parts, however few units it had."""
    limit = rules.limits[CheckKind.INTERNAL_ERRORS]
    units: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for count in candidate.inputs.counts:
        units[count.stage] += count.units_in
        for reasons in (count.rejected, count.rejected_before, count.noted, count.noted_before):
            failed[count.stage] += reasons.get(RejectReason.INTERNAL_ERROR, 0)
    for stage, number in sorted((+failed).items()):
        share = min(1.0, number / max(1, units[stage]))
        yield _result(CheckKind.INTERNAL_ERRORS, stage, share, units[stage], limit, 0)
    if not +failed:
        total = sum(units.values())
        yield _result(CheckKind.INTERNAL_ERRORS, "all stages", _share(0, total), total, limit, 0)


def _unproven(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    for rule in rules.unproven:
        family = candidate.families[rule.family]
        share = _share(family.with_evidence - family.executed, family.with_evidence)
        yield _result(CheckKind.UNPROVEN, rule.family, share, family.with_evidence, rule, rules.least)


def _duplicates(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    for name, family in candidate.families.items():
        share = _share(family.repeated, family.rows)
        yield _result(CheckKind.DUPLICATES, name, share, family.rows, rules.limits[CheckKind.DUPLICATES], rules.least)


def _agreement(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    inputs, rule = candidate.inputs, rules.agreement
    yield _result(CheckKind.AGREEMENT, "two annotators", inputs.kappa, inputs.pairs, rule, rule.least)


def _survival(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    inputs, rule = candidate.inputs, rules.limits[CheckKind.SURVIVAL]
    yield _result(CheckKind.SURVIVAL, "the last period", inputs.surviving, inputs.survivals, rule, rules.least)


def _unreviewed(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    family = added([*candidate.families.values()])
    share, rule = _share(family.pending, family.reviewable), rules.limits[CheckKind.UNREVIEWED]
    yield _result(CheckKind.UNREVIEWED, "all families", share, family.reviewable, rule, rules.least)


def _lost(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    """Check the removed rows and libraries of the last snapshot."""
    comparison = candidate.inputs.comparison
    if comparison is None:
        return
    for family in INSTANCE_TABLES:
        rows = comparison.rows[family]
        lost, subject = _share(rows.removed, rows.old), f"{family} of {comparison.old}"
        yield _result(CheckKind.LOST, subject, lost, rows.old, rules.limits[CheckKind.LOST], rules.least)
    gone, before = comparison.libraries.removed, candidate.inputs.libraries_before
    subject = f"libraries of {comparison.old}" + (f": {', '.join(gone)}" if gone else "")
    yield _result(CheckKind.LOST, subject, _share(len(gone), before), before, rules.lost_libraries, 1)


def _shifted(candidate: Measured, rules: ReleaseCheckRules) -> Iterator[CheckResult]:
    """Check the distances of columns from the last snapshot."""
    comparison = candidate.inputs.comparison
    for family in INSTANCE_TABLES if comparison else ():
        assert comparison is not None
        rows, moved = comparison.rows[family], shift(comparison, family)
        subject = f"{family}.{moved.column} since {comparison.old}" if moved else f"{family} since {comparison.old}"
        measured, of = moved.distance if moved else None, min(rows.old, rows.new)
        yield _result(CheckKind.SHIFTED, subject, measured, of, rules.limits[CheckKind.SHIFTED], rules.least)


CHECKS: Mapping[CheckKind, Check] = {
    CheckKind.REJECTED: Check(_rejected, "look at the rejects of this stage, and refresh the libraries that they name"),
    CheckKind.INTERNAL_ERRORS: Check(
        _internal_errors,
        (
            "report the traces that summary and report of the refresh show; their rows come with"
            " a Driftline that mends them"
        ),
    ),
    CheckKind.UNPROVEN: Check(
        _unproven, "see the outcomes of environments and verdicts; `driftline doctor` tells what is missing here"
    ),
    CheckKind.DUPLICATES: Check(
        _duplicates, "see which sources repeat each other; snippets.yaml defines similar samples"
    ),
    CheckKind.AGREEMENT: Check(
        _agreement,
        (
            "settle what is in conflict on the page Agreement (`driftline review`), then publish again;"
            " and make the guideline clearer"
        ),
    ),
    CheckKind.SURVIVAL: Check(_survival, "see the table survivals for rows that no longer pass, and why"),
    CheckKind.UNREVIEWED: Check(
        _unreviewed,
        (
            "decide what is pending (`driftline review`, or the page in Airflow), then publish again; that"
            " needs no refresh to count"
        ),
    ),
    CheckKind.LOST: Check(_lost, "see the errata of the candidate for each removed row, and why"),
    CheckKind.SHIFTED: Check(_shifted, "see the values of the column with `driftline compare`"),
}
"""The checks of a release, by kind; a kind without one fails a test."""
