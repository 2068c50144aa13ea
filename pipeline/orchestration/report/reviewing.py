"""How the review goes: what the queue of the review database holds, how fast it shrinks, how far people agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.settings import Settings
from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.orchestration.report.figures import Bar, Figure
from pipeline.quality.annotation_rules import AnnotationRules


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """The review database of now. `trouble` says why it could not be asked; then nothing else is known.

    `decisions` and `median_s` are of the last 30 days; `kappa` is None where nobody has judged what another judged.
    """

    trouble: str | None
    figures: Sequence[Figure] = ()
    samples: int = 0
    open: int = 0
    decisions: int = 0
    median_s: float | None = None
    kappa: float | None = None
    pairs: int = 0


def review_figures(settings: Settings, rules: AnnotationRules) -> ReviewSummary | None:
    """Return how the review goes, None where there is no review database yet."""
    if settings.reviews is None and not settings.reviews_file.is_file():
        return None
    # slow to import
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.quality.annotation.store import StoreError

    try:
        return _figures(settings, rules)
    except (SQLAlchemyError, StoreError, OSError) as error:
        return ReviewSummary(f"the review database did not answer: {type(error).__name__}; see DRIFTLINE_REVIEWS")


def _figures(settings: Settings, rules: AnnotationRules) -> ReviewSummary:
    from pipeline.quality.annotation.agreement import agreement
    from pipeline.quality.annotation.pace import pace
    from pipeline.quality.annotation.queue import OPEN, Filter, choices, progress
    from pipeline.quality.annotation.store import open_store

    store = open_store(settings.reviews_url, rules)
    counts, of_all = choices(store), progress(store)
    families = [
        Bar(family, family.meaning, _parts(progress(store, Filter(family=family)))) for family in counts.families
    ]
    flags = [Bar(flag, flag.meaning, _parts(progress(store, Filter(flag=flag)))) for flag in counts.flags]
    speed, agreed = pace(store), agreement(store)
    note = "Samples of the queue as it is now, by where their review stands."
    statuses = [status for status in QueueStatus if of_all[status]]
    figures = [
        Figure("queue", "Review queue by family", note, statuses, [bar for bar in families if bar.total]),
        Figure("queue_flags", "Review queue by flag", f"{note} One may have several.", statuses, flags),
    ]
    return ReviewSummary(
        trouble=None,
        figures=[figure for figure in figures if figure.bars],
        samples=sum(of_all.values()),
        open=sum(of_all[status] for status in OPEN),
        decisions=sum(speed.by_day.values()),
        median_s=speed.median_s,
        kappa=agreed.kappa,
        pairs=agreed.pairs,
    )


def _parts(counted: dict[QueueStatus, int]) -> dict[str, int]:
    return {str(status): number for status, number in counted.items()}
