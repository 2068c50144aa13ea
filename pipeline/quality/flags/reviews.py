"""Decisions as the acceptance stages read them, and the content of an instance that they hold for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pipeline.core.errors import present
from pipeline.core.vocabularies.annotation import DecisionKind, Objection
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.masks import unmask
from pipeline.families.family import DESCRIPTION
from pipeline.lake.ids import content_id
from pipeline.lake.rows import AnyRow, BlockCompletionRow, R, ReleaseRow, ReviewRow, SnippetRow
from pipeline.llm.names import redact
from pipeline.llm.rules import DraftingRules


def reviewed_content(family: Family, instance: AnyRow, description: str | None) -> str:
    """Return the hash of the reviewed columns of an instance: decisions count while it stays."""
    return content_id(family, description, [instance[column] for column in BY_NAME[family].judged])


def block_description(
    instance: BlockCompletionRow, snippets: Mapping[str, SnippetRow], drafting: DraftingRules
) -> str | None:
    """Return the description of a block of another language: its post's title, without the name."""
    title = snippets[instance["snippet_id"]]["title"]
    return redact(title, (instance["core_token"],), drafting) if title else None


@dataclass(frozen=True, slots=True)
class Review:
    """A settled decision on an instance as it is: a row of `reviews`."""

    row: ReviewRow

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
        return Objection(present(self.row["objection"], f"the objection of the review of {self.row['instance_id']}"))


class Reviews:
    """The rows of `reviews` of a library by instance; a decision on other content does not count.

    An acceptance does not count either where a flag was raised since; a rejection does.
    """

    def __init__(self, rows: Iterable[ReviewRow]) -> None:
        self._rows = {row["instance_id"]: row for row in rows}

    def of(
        self, family: Family, instance: AnyRow, flags: Collection[FlagKind], description: str | None = None
    ) -> Review | None:
        """Return the decision on an instance as it is now."""
        row = self._rows.get(instance["id"])
        if row is None or row["content"] != reviewed_content(family, instance, description):
            return None
        review = Review(row)
        return review if review.kind == DecisionKind.REJECT or set(flags) <= set(row["flags"]) else None


def edited(family: Family, instance: R, edits: Mapping[str, str], releases: Mapping[str, ReleaseRow]) -> R:
    """Return an instance with an edit; derived columns follow the edited ones. `releases` are by version."""
    row: dict[str, Any] = {**instance, **{name: value for name, value in edits.items() if name != DESCRIPTION}}
    if "masked_code" in BY_NAME[family].edited:
        level = Granularity(row.get("granularity", Granularity.BLOCK))
        row |= {"code": unmask(row["masked_code"], level, row["answer"], row["core_token"])}
    if row["version"] != instance["version"]:
        release = releases[row["version"]]
        row |= {"release_time": release["release_time"], "previous_version": release["predecessor"]}
    return cast("R", row)
