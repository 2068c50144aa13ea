"""What people decided, as the gates read it, and what exactly of an instance it is that people judge and edit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Family
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.lake.ids import content_id
from pipeline.lake.schema import Row
from pipeline.llm.names import redact
from pipeline.llm.rules import DraftingRules

DESCRIPTION = "description"

_TAGS = ("versicode_tag", "libevolutioneval_tag")

JUDGED: Mapping[Family, tuple[str, ...]] = {
    Family.COMPLETION: ("version", "path", "code", "masked_code", "answer", "core_token", *_TAGS),
    Family.MIGRATION: ("version", "target_version", "path", "target_path", "source_code", "target_code", *_TAGS),
    Family.BLOCK_COMPLETION: ("version", "code", "masked_code", "answer", "core_token"),
    Family.CONTROLLED: ("version", "path", "left_context", "hint", "reference_call", *_TAGS),
    Family.PROBLEM: ("version", "path", "problem", "starting_code", "solution", "test", "hidden_tests", *_TAGS),
    Family.FUNCTION: ("version", "path", "code", "tests", *_TAGS),
    Family.REPOSITORY_TASK: ("version", "namespace", "functionality", "arguments", "reference", "tests"),
    Family.SCENE: ("version", "scene", "block_key", "middle", "unit_test_ids"),
}
"""The columns of each family that a decision is about, beside the description."""

EDITED: Mapping[Family, tuple[str, ...]] = {
    Family.COMPLETION: (DESCRIPTION, "masked_code", "answer", "version", *_TAGS),
    Family.MIGRATION: (DESCRIPTION, "source_code", "target_code", *_TAGS),
    Family.BLOCK_COMPLETION: (DESCRIPTION, "masked_code", "answer"),
    Family.CONTROLLED: (DESCRIPTION, "left_context", *_TAGS),
    Family.PROBLEM: ("problem", "starting_code", "solution", "test", "hidden_tests", *_TAGS),
    Family.FUNCTION: (DESCRIPTION, *_TAGS),
    Family.REPOSITORY_TASK: ("functionality", "arguments"),
    Family.SCENE: (),
}
"""The columns that an edit may change."""


def judged(family: Family, instance: Row, description: str | None) -> str:
    """Return the content hash of what is judged of an instance: decisions count while it stays."""
    return content_id(family, description, [instance[column] for column in JUDGED[family]])


def block_description(instance: Row, snippets: Mapping[str, Row], drafting: DraftingRules) -> str | None:
    """Return what says what a block of another language does: its post's title, without the name."""
    title = snippets[instance["snippet_id"]]["title"]
    return redact(title, (instance["core_token"],), drafting) if title else None


@dataclass(frozen=True, slots=True)
class Review:
    """A settled decision on an instance as it is: a row of `reviews`."""

    row: Row

    @property
    def kind(self) -> DecisionKind:
        """Accept, reject or edit."""
        return DecisionKind(self.row["kind"])

    @property
    def edits(self) -> dict[str, str]:
        """The columns that it changes."""
        return {edit["name"]: edit["value"] for edit in self.row["edits"]}

    @property
    def objection(self) -> Objection:
        """Why it was rejected."""
        return Objection(self.row["objection"])


class Reviews:
    """The rows of `reviews` of a library, looked up by instance; one on other content is none.

    With a flag that has come up since, an acceptance is none either, and a rejection still is one.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = {row["instance_id"]: row for row in rows}

    def of(
        self, family: Family, instance: Row, flags: Collection[FlagKind], description: str | None = None
    ) -> Review | None:
        """Return what was decided of an instance as it is now."""
        row = self._rows.get(instance["id"])
        if row is None or row["content"] != judged(family, instance, description):
            return None
        review = Review(row)
        return review if review.kind == DecisionKind.REJECT or set(flags) <= set(row["flags"]) else None


def edited(family: Family, instance: Row, edits: Mapping[str, str], releases: Mapping[str, Row]) -> Row:
    """Return an instance with an edit; what follows from the edited columns follows it. `releases` are by version."""
    row = instance | {name: value for name, value in edits.items() if name != DESCRIPTION}
    if family in {Family.COMPLETION, Family.BLOCK_COMPLETION}:
        level = Granularity(row.get("granularity", Granularity.BLOCK))
        row |= {"code": unmask(row["masked_code"], level, row["answer"], row["core_token"])}
    if row["version"] != instance["version"]:
        release = releases[row["version"]]
        row |= {"release_time": release["release_time"], "previous_version": release["predecessor"]}
    return row
