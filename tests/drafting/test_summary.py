"""What a refresh says of its drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.summary import draft_lines
from pipeline.drafting.model.tally import Tally, added, usd
from pipeline.drafting.summary import improvable, keep_tally, tally_of
from pipeline.lake import Lake, Row
from pipeline.refresh import Drafts
from pipeline.terms import Improves, RejectReason


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


def test_tallies_of_libraries_add_up(tmp_path: Path) -> None:
    assert tally_of(tmp_path) is None
    keep_tally(tmp_path, "none", "prove", Tally())
    assert tally_of(tmp_path) is None
    keep_tally(tmp_path, "a", "prove", Tally(5, 1, 3, 1, 1, 900, "the month"))
    keep_tally(tmp_path, "b", "prove", Tally(2, 0, 1, 1, 0, 300, "the run"))
    kept = tally_of(tmp_path)
    assert kept == Tally(7, 1, 4, 2, 1, 1200, "the month")
    assert (kept.nano_usd_per_accepted, added([]).nano_usd_per_accepted) == (300, None)


def reject(reason: RejectReason, key: str, stage: str = "drafting") -> Row:
    return {"stage": stage, "library": "lib", "key": key, "reason": reason, "detail": "x"}


def draft(subject: str, *, redacted: bool) -> Row:
    named = {"id": subject, "library": "lib", "subject_id": subject, "field": "description", "text": "[API] it."}
    written = {"drafter": "offline", "model": None, "prompt_sha256": "0" * 64, "tokens": None, "nano_usd": None}
    return {**named, "redacted": redacted, **written}


def test_what_a_model_would_improve_is_counted(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert improvable(lake, ["lib"]) == {Improves.MISSING: 0, Improves.REDACTED: 0}
    rows = [reject(RejectReason.NO_TEXT, "a"), reject(RejectReason.NO_TEXT, "b"), reject(RejectReason.NO_USE, "c")]
    lake.write("rejects", "lib", rows, part="drafting")
    lake.write("rejects", "lib", [reject(RejectReason.NO_TEXT, "q", "contexts")], part="contexts")
    lake.write("drafts", "lib", [draft("d", redacted=True), draft("e", redacted=False)])
    assert improvable(lake, ["lib", "other"]) == {Improves.MISSING: 3, Improves.REDACTED: 1}


@pytest.mark.parametrize(
    ("drafts", "lines"),
    [
        (Drafts(None, 0, {Improves.MISSING: 0, Improves.REDACTED: 0}), []),
        (
            Drafts(None, 0, {Improves.MISSING: 3, Improves.REDACTED: 1}),
            ["3 texts that are missing and 1 with a name cut"],
        ),
        (
            Drafts(Tally(7, 1, 4, 2, 1, 1_200_000, "this month has cost 20"), 900_000, {}),
            [
                "7 requests (1 tried again), 0.0009 US dollars; 4 drafts accepted, 0.0003 US dollars",
                "month has cost 20",
            ],
        ),
        (Drafts(Tally(2, waiting=2), 0, {}), ["0 drafts accepted, 0 refused, 2 waiting", "batch has not ended"]),
    ],
)
def test_what_is_said_of_drafts(drafts: Drafts, lines: list[str]) -> None:
    said = list(draft_lines(drafts))
    assert len(said) == len(lines)
    for line, wanted in zip(said, lines, strict=True):
        assert wanted in line
