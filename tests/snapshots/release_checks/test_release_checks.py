"""Release checks: what is measured of a candidate, against which limit, and what that means."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.core.rules.load import RULES, RuleError
from pipeline.core.vocabularies.release_checks import CheckKind, CheckStatus
from pipeline.core.vocabularies.review import RejectReason, ReviewStatus
from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.index.release_selection import Period
from pipeline.lake.runner import Count
from pipeline.lake.tables import Lake
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.approval_text import describe_changes, describe_checks, request_text
from pipeline.snapshots.candidate import Candidate, make_candidate
from pipeline.snapshots.comparison.comparison import compare_snapshots
from pipeline.snapshots.release_checks.measures import families_of
from pipeline.snapshots.release_checks.release_checks import (
    CHECKS,
    CheckInputs,
    CheckResult,
    Measured,
    overall_status,
    weigh,
)
from pipeline.snapshots.release_checks.rules import Least, Most, ReleaseCheckRules, read_release_check_rules
from pipeline.snapshots.snapshot import place
from tests.errors import raises
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import SAME_CODE_FAILS, candidates, demo_lake, tables

STAGES = [name for names in GROUPS.values() for name in names]
SHIPPED = read_release_check_rules(RULES, STAGES)
SMALL = SHIPPED.model_copy(update={"least": 1})


def candidate_in(lake: Lake, snapshots: Path) -> Candidate:
    return make_candidate(lake, candidates(lake), snapshots, "mine", [LIBRARY], Period(), {}, SAME_CODE_FAILS)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return demo_lake(tmp_path / "lake")


@pytest.fixture(scope="module")
def candidate(tmp_path_factory: pytest.TempPathFactory) -> Candidate:
    """A candidate that tests measure and do not change."""
    place = tmp_path_factory.mktemp("candidate")
    return candidate_in(demo_lake(place / "lake"), place / "snapshots")


def of(results: list[CheckResult], kind: CheckKind, what: str) -> CheckResult:
    (found,) = [result for result in results if result.kind == kind and result.subject.startswith(what)]
    return found


@pytest.mark.parametrize(
    ("rule", "measured", "standing"),
    [
        (Most(approval_above=0.1, hold_above=0.5), 0.1, CheckStatus.PASSED),
        (Most(approval_above=0.1, hold_above=0.5), 0.11, CheckStatus.APPROVAL),
        (Most(approval_above=0.1, hold_above=0.5), 0.51, CheckStatus.HOLD),
        (Most(approval_above=0.1), 1.0, CheckStatus.APPROVAL),
        (Most(hold_above=0.5), 0.5, CheckStatus.PASSED),
        (Least(approval_below=0.9, hold_below=0.5), 0.9, CheckStatus.PASSED),
        (Least(approval_below=0.9, hold_below=0.5), 0.89, CheckStatus.APPROVAL),
        (Least(approval_below=0.9, hold_below=0.5), 0.49, CheckStatus.HOLD),
        (Least(approval_below=0.9, hold_below=0.5), 0.5, CheckStatus.APPROVAL),
        (Least(hold_below=0.5), 0.5, CheckStatus.PASSED),
        (Least(hold_below=0.5), 0.6, CheckStatus.PASSED),
        (Least(approval_below=0.9), 0.0, CheckStatus.APPROVAL),
        (Most(approval_above=0.1, hold_above=0.5), 0.5, CheckStatus.APPROVAL),
    ],
)
def test_what_a_share_means(rule: Most | Least, measured: float, standing: CheckStatus) -> None:
    assert rule.status(measured) == standing


@pytest.mark.parametrize(
    ("rule", "limits", "fits"),
    [
        (Most, {"approval_above": 0.5, "hold_above": 0.5}, True),
        (Most, {"approval_above": 0.6, "hold_above": 0.5}, False),
        (Least, {"approval_below": 0.5, "hold_below": 0.5}, True),
        (Least, {"approval_below": 0.4, "hold_below": 0.5}, False),
        (Most, {"hold_above": 1}, True),
        (Most, {"hold_above": 1.01}, False),
        (Most, {"hold_above": -0.01}, False),
        (Least, {"hold_below": -1}, True),
        (Least, {"hold_below": -1.01}, False),
        (Least, {}, False),
    ],
)
def test_limits_that_meet_are_in_order(rule: type[Most | Least], limits: dict[str, float], fits: bool) -> None:
    with nullcontext() if fits else pytest.raises(ValidationError):
        rule(**limits)


@pytest.mark.parametrize(
    ("seen", "errors", "measured"),
    [(10, 1, 0.1), (10, 10, 1.0), (10, 25, 1.0), (0, 1, 1.0), (10, 0, 0.0), (0, 0, None)],
)
def test_internal_errors_are_a_share_of_the_units_and_never_more_than_all(
    candidate: Candidate, seen: int, errors: int, measured: float | None
) -> None:
    count = counts(seen)[0]
    failed = replace(count, units_in=seen, rejected={RejectReason.INTERNAL_ERROR: errors} if errors else {})
    result = of(weigh(CheckInputs(candidate.path, None, [failed]), SHIPPED), CheckKind.INTERNAL_ERRORS, "")
    assert (result.measured, result.of) == (measured, seen)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("{stage: crawl, approval", "{stage: crwal, approval", "release_check_stage_unknown"),
        ("family: scenes", "family: scene", "rule_reference_unknown"),
        ("duplicates: {approval_above: 0.06", "duplicates: {approval_above: 0.6", "rule_contradiction"),
        ("unreviewed: {approval_above: 0.4}", "unreviewed: {}", "rule_contradiction"),
        ("unreviewed: {approval_above: 0.4}", "unreviewed: {sign_off_over: 0.25}", "rule_unknown_key"),
        ("  lost: {", "  # lost: {", "rule_entry_missing"),
        ("  lost: {", "  agreement: {hold_above: 1}\n  lost: {", "rule_entry_twice"),
        ("within_days: 7", "within_days: 0", "rule_invalid"),
    ],
)
def test_a_check_that_cannot_work_is_an_error_with_its_line(tmp_path: Path, old: str, new: str, code: str) -> None:
    text = (RULES / "release_checks.yaml").read_text()
    assert old in text
    (tmp_path / "release_checks.yaml").write_text(text.replace(old, new))
    with raises(RuleError, "release_checks.yaml", code=code):
        read_release_check_rules(tmp_path, STAGES)


def test_a_candidate_is_counted_as_its_rows_are(candidate: Candidate) -> None:
    published = {name: tables()[f"published_{name}"] for name in INSTANCE_TABLES}
    counted = families_of(candidate.path)
    assert {name: family.rows for name, family in counted.items()} == {
        name: len(rows) for name, rows in published.items()
    }
    completions = published["completions"]
    assert counted["completions"].executed == sum(row["evidence"] == "executed" for row in completions)
    assert counted["completions"].pending == sum(row["review_status"] == ReviewStatus.PENDING for row in completions)
    assert counted["block_completions"].with_evidence == 0


def test_the_same_task_twice_is_a_duplicate_and_another_answer_is_none(lake: Lake, tmp_path: Path) -> None:
    rows = tables()["published_completions"]
    twin, other = rows[0] | {"id": "twin", "source_line": 99}, rows[0] | {"id": "other", "answer": "another"}
    lake.write("published_completions", LIBRARY, [*rows, twin, other])
    for table in ("published_contexts", "published_retrievals"):
        lake.write(table, LIBRARY, [])
    counted = families_of(candidate_in(lake, tmp_path).path)["completions"]
    assert (counted.rows, counted.repeated) == (len(rows) + 2, 1)


def test_every_kind_has_a_check_that_measures_it_and_says_what_to_do(candidate: Candidate) -> None:
    assert CHECKS.keys() == set(CheckKind)
    assert all(check.advice for check in CHECKS.values())
    for kind, check in CHECKS.items():
        measured = Measured(CheckInputs(candidate.path, None, counts(10)), families_of(candidate.path))
        assert {result.kind for result in check.weigh(measured, SHIPPED)} <= {kind}


def test_few_units_are_not_measured(candidate: Candidate) -> None:
    results = weigh(CheckInputs(candidate.path, None, []), SHIPPED)
    assert {result.status for result in results} == {CheckStatus.NOT_MEASURED}
    assert overall_status(results) == CheckStatus.PASSED


def counts(refused: int) -> list[Count]:
    """What two runs left: a library that was looked at now, and one that is as it was."""
    new = Count("acceptance", "a", 100, 100 - refused, {"not_proven": refused}, 0)
    old = Count(
        "acceptance", "b", 100, 0, {}, 100, units_out_before=80, rejected_before={"not_proven": 10, "licence": 10}
    )
    return [new, old, Count("crawl", "a", 10, 10, {}, 0)]


@pytest.mark.parametrize(
    ("refused", "measured", "standing"),
    [(10, 0.1, CheckStatus.PASSED), (50, 0.3, CheckStatus.APPROVAL), (100, 0.55, CheckStatus.HOLD)],
)
def test_refusals_count_against_what_the_stage_looked_at(
    candidate: Candidate, refused: int, measured: float, standing: CheckStatus
) -> None:
    results = weigh(CheckInputs(candidate.path, None, counts(refused)), SHIPPED)
    found = of(results, CheckKind.REJECTED, "acceptance: not_proven")
    assert (found.measured, found.of, found.status) == (measured, 200, standing)
    assert of(results, CheckKind.REJECTED, "acceptance: licence").measured == 0.05
    assert of(results, CheckKind.REJECTED, "crawl").status == CheckStatus.NOT_MEASURED
    assert overall_status(results) == standing


@pytest.mark.parametrize(
    ("failed", "noted", "standing"),
    [
        (0, 0, CheckStatus.PASSED),
        (1, 0, CheckStatus.PASSED),
        (1, 1, CheckStatus.APPROVAL),
        (30, 1, CheckStatus.HOLD),
    ],
)
def test_internal_errors_of_units_and_parts_are_weighed_by_stage(
    candidate: Candidate, failed: int, noted: int, standing: CheckStatus
) -> None:
    one = Count("acceptance", "a", 100, 100 - failed, {"internal_error": failed} if failed else {}, 0)
    other = Count("acceptance", "b", 200, 0, {}, 200, noted_before={"internal_error": noted} if noted else {})
    results = weigh(CheckInputs(candidate.path, None, [one, other, Count("crawl", "a", 9, 9, {}, 0)]), SHIPPED)
    found = of(results, CheckKind.INTERNAL_ERRORS, "acceptance" if failed else "all stages")
    assert (found.status, found.of) == (standing, 300 if failed else 309)
    assert found.measured == round((failed + noted) / found.of, 6)


def test_of_a_stage_of_few_units_an_internal_error_counts_all_the_same(candidate: Candidate) -> None:
    results = weigh(
        CheckInputs(candidate.path, None, [Count("environments", "a", 3, 2, {"internal_error": 1}, 0)]), SHIPPED
    )
    assert of(results, CheckKind.INTERNAL_ERRORS, "environments").status == CheckStatus.HOLD


@pytest.mark.parametrize(
    ("known", "kind", "standing"),
    [
        ({"kappa": 0.7, "pairs": 40}, CheckKind.AGREEMENT, CheckStatus.PASSED),
        ({"kappa": 0.5, "pairs": 40}, CheckKind.AGREEMENT, CheckStatus.APPROVAL),
        ({"kappa": 0.1, "pairs": 40}, CheckKind.AGREEMENT, CheckStatus.HOLD),
        ({"kappa": 0.1, "pairs": 29}, CheckKind.AGREEMENT, CheckStatus.NOT_MEASURED),
        ({"kappa": None, "pairs": 40}, CheckKind.AGREEMENT, CheckStatus.NOT_MEASURED),
        ({"surviving": 0.95, "survivals": 100}, CheckKind.SURVIVAL, CheckStatus.PASSED),
        ({"surviving": 0.4, "survivals": 100}, CheckKind.SURVIVAL, CheckStatus.HOLD),
        ({"surviving": 0.4, "survivals": 99}, CheckKind.SURVIVAL, CheckStatus.NOT_MEASURED),
    ],
)
def test_what_people_and_later_runs_say(
    candidate: Candidate, known: dict[str, float], kind: CheckKind, standing: CheckStatus
) -> None:
    results = weigh(replace(CheckInputs(candidate.path, None, []), **known), SHIPPED)  # type: ignore[arg-type]
    assert of(results, kind, "").status == standing


def test_flagged_rows_that_nobody_has_decided_on_ask_for_a_person(candidate: Candidate) -> None:
    # One completion of the small lake is flagged.
    found = of(weigh(CheckInputs(candidate.path, None, []), SMALL), CheckKind.UNREVIEWED, "all families")
    reviewable = sum(family.reviewable for family in families_of(candidate.path).values())
    assert (found.measured, found.of) == (round(1 / reviewable, 6), reviewable)
    strict = SMALL.model_copy(update={"limits": SMALL.limits | {CheckKind.UNREVIEWED: Most(approval_above=0)}})
    assert (
        of(weigh(CheckInputs(candidate.path, None, []), strict), CheckKind.UNREVIEWED, "").status
        == CheckStatus.APPROVAL
    )


def after(
    lake: Lake, snapshots: Path, rules: ReleaseCheckRules, change: Callable[[], object]
) -> tuple[Candidate, list[CheckResult], list[str]]:
    """Publish a lake, change it, and weigh what it is then against that."""
    last = place(candidate_in(lake, snapshots), snapshots)
    change()
    candidate = candidate_in(lake, snapshots)
    comparison = compare_snapshots(last.path, candidate.path)
    return (
        candidate,
        weigh(CheckInputs(candidate.path, comparison, [], libraries_before=1), rules),
        describe_changes(comparison),
    )


def test_rows_that_are_gone_are_a_loss(lake: Lake, tmp_path: Path) -> None:
    candidate, results, changes = after(lake, tmp_path, SMALL, lambda: lake.write("published_migrations", LIBRARY, []))
    rows = len(tables()["published_migrations"])
    lost = of(results, CheckKind.LOST, "migrations")
    assert (lost.measured, lost.of, lost.status) == (1.0, rows, CheckStatus.HOLD)
    assert of(results, CheckKind.LOST, "completions").measured == 0
    assert f"migrations: {rows} rows became 0: {rows} removed" in changes
    told = describe_checks(candidate, results, CheckStatus.HOLD)
    assert "is held back, `latest` stays as it was" in told
    assert "lost (migrations of mine-" in told
    assert "100%" in told
    assert "above 50% nothing is published. What to do: see the errata" in told


def test_a_column_that_is_another_than_it_was_asks_for_a_person(lake: Lake, tmp_path: Path) -> None:
    flagged = [row | {"review_status": ReviewStatus.ACCEPTED} for row in tables()["published_completions"]]
    _, results, _ = after(lake, tmp_path, SMALL, lambda: lake.write("published_completions", LIBRARY, flagged))
    shifted = of(results, CheckKind.SHIFTED, "completions.review_status since mine-")
    assert (shifted.measured, shifted.status) == (1.0, CheckStatus.APPROVAL)


def test_nothing_differs_from_the_same(lake: Lake, tmp_path: Path) -> None:
    _, results, changes = after(lake, tmp_path, SMALL, lambda: None)
    assert {result.measured for result in results if result.kind in {CheckKind.LOST, CheckKind.SHIFTED}} == {0.0}
    assert [change.partition(" from ")[0] for change in changes] == ["nothing differs"]


def test_the_approval_text_names_the_failed_checks_and_the_changes(candidate: Candidate) -> None:
    results = weigh(CheckInputs(candidate.path, None, counts(50)), SHIPPED)
    text = request_text(candidate, results, ["migrations: 2 | <b> removed"], [("Queue", "http://x/?status=pending")])
    assert "rejected (acceptance: not\\_proven): 30% of 200; above 25% a person must approve it" in text
    assert "[Queue](http://x/?status=pending)" in text
    assert "- migrations: 2 \\| &lt;b&gt; removed" in text
    assert "acceptance: licence" not in text


def test_the_shipped_release_checks_let_the_starter_profile_pass() -> None:
    """The figures of a first refresh of it, from which nobody may have to wait for a person."""
    shares = {CheckKind.UNREVIEWED: 0.14, CheckKind.DUPLICATES: 0.03}
    measured = {"completions": 0.15, "controlled_completions": 0.16, "repository_tasks": 0.0, "scenes": 0.23}
    assert all(rule.status(measured[rule.family]) == CheckStatus.PASSED for rule in SHIPPED.unproven)
    assert {SHIPPED.limits[kind].status(share) for kind, share in shares.items()} == {CheckStatus.PASSED}
