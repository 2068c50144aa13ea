"""Samples of a small queue, and a clock that tests turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.quality.annotation.entries import Flag, Validation
from pipeline.quality.annotation.filling import Flagged, fill
from pipeline.quality.annotation.store import Store, open_store
from pipeline.quality.annotation.view import Choice, Pane, View
from pipeline.quality.annotation_rules import AnnotationRules

ANNOTATION = load(RULES / "annotation.yaml", AnnotationRules)
ONCE = ANNOTATION.model_copy(update={"twice": ANNOTATION.twice.model_copy(update={"share": 0.0})})
TWICE = ANNOTATION.model_copy(update={"twice": ANNOTATION.twice.model_copy(update={"share": 1.0})})
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
PASSED, FAILED = Validation(True, None, ()), Validation(False, "the code ends as wrong_exception", ())


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def turn(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def address_in(folder: Path) -> str:
    """The address of the review database of a folder; the tests of PostgreSQL put another function in its place."""
    return f"sqlite:///{folder / 'reviews.sqlite'}"


def store_in(folder: Path, rules: AnnotationRules = ONCE) -> tuple[Store, Clock]:
    """The review database of a folder, with a clock."""
    clock = Clock()
    return replace(open_store(address_in(folder), rules), clock=clock), clock


def sample(
    number: int,
    *kinds: FlagKind,
    library: str = "lib",
    family: Family = Family.COMPLETION,
    source: SnippetSource = SnippetSource.DOCSTRING,
    content: str = "first",
) -> Flagged:
    """A flagged instance with a description and a version to edit."""
    choice = Choice("version", "Version", "1.0", ("1.0", "2.0"))
    panes = (
        Pane("description", "Description", f"Text {number}.", "text", editable=True),
        Pane("code", "Code", "f()", "python"),
    )
    flags = tuple(Flag(kind, f"evidence of {kind}") for kind in kinds or (FlagKind.AUDIT,))
    title = f"lib.f{number % 3}"
    return Flagged(f"id{number}", family, library, "1.0", title, source, flags, content, View(title, panes, (choice,)))


def filled(store: Store, samples: Iterable[Flagged]) -> Store:
    """The store with these samples of one library."""
    given = list(samples)
    fill(store, given[0].library, given)
    return store


OBJECTIONS = {DecisionKind.REJECT: Objection.BAD_CODE}
