"""What a refresh says of its drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.refresh import draft_lines
from pipeline.core.vocabularies.drafts import DraftKind, DraftStatus
from pipeline.llm.client.tally import Tally, added, usd
from pipeline.llm.summary import Spent, keep_tallies, tallies_of
from pipeline.orchestration.refresh import Drafts


@pytest.mark.parametrize(
    ("nano_usd", "said"),
    [
        (0, "0 US dollars"),
        (12_345, "0.000012 US dollars"),
        (1_234_567, "0.0012 US dollars"),
        (2_500_000_000, "2.50 US dollars"),
    ],
)
def test_amounts_for_people(nano_usd: int, said: str) -> None:
    assert usd(nano_usd) == said


def test_tallies_of_libraries_add_up_by_kind(tmp_path: Path) -> None:
    described, required = DraftKind.DESCRIPTION, DraftKind.REQUIREMENT
    assert tallies_of(tmp_path) == {}
    keep_tallies(tmp_path, "none", "drafting", {described: Tally()})
    assert tallies_of(tmp_path) == {}
    keep_tallies(tmp_path, "a", "drafting", {required: Tally(1), described: Tally(5, 1, 3, 1, 1, 900, "the month")})
    keep_tallies(tmp_path, "b", "drafting", {described: Tally(2, 0, 1, 1, 0, 300, "the run")})
    kept = tallies_of(tmp_path)
    assert kept == {described: Tally(7, 1, 4, 2, 1, 1200, "the month"), required: Tally(1)}
    assert list(kept) == [described, required]
    assert (kept[described].nano_usd_per_accepted, added([]).nano_usd_per_accepted) == (300, None)


def test_a_repeated_stage_counts_all_requests_and_each_draft_once(tmp_path: Path) -> None:
    described, required = DraftKind.DESCRIPTION, DraftKind.REQUIREMENT
    keep_tallies(tmp_path, "a", "controlled", {described: Tally(1, 0, 1, 0, 0, 50)})
    keep_tallies(tmp_path, "a", "drafting", {described: Tally(5, 1, 3, 0, 0, 900)})
    # Airflow tries again: what is done is not asked again, the stage that broke off is.
    keep_tallies(tmp_path, "a", "controlled", {})
    keep_tallies(tmp_path, "a", "drafting", {described: Tally(2, 0, 6, 1, 0, 1300), required: Tally(1, 0, 1, 0, 0, 7)})
    assert tallies_of(tmp_path) == {described: Tally(8, 1, 7, 1, 0, 1350), required: Tally(1, 0, 1, 0, 0, 7)}


SPENT = Spent(900_000, 2_000_000_000, 900_000, 20_000_000_000)


@pytest.mark.parametrize(
    ("drafts", "lines"),
    [
        (Drafts({}, None, {}), []),
        (
            Drafts({}, None, {DraftKind.INSTRUCTION: {DraftStatus.REDACTED: 1, DraftStatus.MISSING: 3}}),
            ["One would improve: instruction 1 redacted, 3 missing", "`driftline drafts` lists them"],
        ),
        (
            Drafts({DraftKind.PROBLEM: Tally(7, 1, 4, 2, 1, 1_200_000, "this month has cost 20")}, SPENT, {}),
            [
                "7 requests (1 tried again), 0.0009 US dollars; 4 drafts accepted, 0.0003 US dollars",
                "month has cost 20",
            ],
        ),
        (
            Drafts({DraftKind.PROBLEM: Tally(2, waiting=2)}, SPENT, {}),
            ["0 drafts accepted, 0 refused, 2 waiting", "batch has not ended"],
        ),
    ],
)
def test_the_summary_of_drafts(drafts: Drafts, lines: list[str]) -> None:
    said = list(draft_lines(drafts))
    assert len(said) == len(lines)
    for line, wanted in zip(said, lines, strict=True):
        assert wanted in line
