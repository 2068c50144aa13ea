"""What the report says of the review is what the review database holds; one that does not answer breaks no report."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.settings import settings
from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.orchestration.report.reviewing import review_figures
from pipeline.quality.annotation.decisions import NewDecision, decide
from tests.quality.annotation.rows import ONCE, filled, sample, store_in


def test_the_queue_is_told_by_family_and_flag(data: Path) -> None:
    data.mkdir()
    assert review_figures(settings(), ONCE) is None
    store, _ = store_in(data)
    problem = sample(3, FlagKind.FLAKY, family=Family.PROBLEM)
    filled(store, [sample(1), sample(2, FlagKind.AUDIT, FlagKind.FLAKY), problem])
    decide(store, "id1", "ada", NewDecision(DecisionKind.ACCEPT))
    told = review_figures(settings(), ONCE)
    assert told is not None
    assert (told.samples, told.open) == (3, 2)
    assert (told.trouble, told.kappa, told.pairs) == (None, None, 0)
    families, flags = ({bar.label: {k: n for k, n in bar.parts.items() if n} for bar in f.bars} for f in told.figures)
    assert families == {"completion": {"submitted": 1, "pending": 1}, "problem": {"pending": 1}}
    assert flags == {"flaky": {"pending": 2}, "audit": {"submitted": 1, "pending": 1}}


@pytest.mark.parametrize("content", ["this is no database", ""])
def test_a_database_that_cannot_be_read_is_said_to_be_one(data: Path, content: str) -> None:
    data.mkdir()
    (data / "reviews.sqlite").write_text(content)
    told = review_figures(settings(), ONCE)
    assert told is not None
    assert (told.trouble is None) == (content == "")
    assert content == "" or "DRIFTLINE_REVIEWS" in str(told.trouble)
