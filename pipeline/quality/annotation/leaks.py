"""An edit gives no name away, and its masks can be undone."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.masks import MASKS, readable
from pipeline.lake.rows import AnyRow
from pipeline.llm.names import find_names
from pipeline.quality.all_rules import CurationRules

_PROSE = ("description", "problem")


def leak_of(family: Family, row: AnyRow, changed: Mapping[str, str], rules: CurationRules) -> str | None:
    """Return what is wrong with an edited instance: a hidden name that can be read, or a mask that is not there."""
    hidden = BY_NAME[family].hidden
    if hidden is None:
        return None
    name = row[hidden.column]
    for field in _among(changed, [column for column in hidden.readable_columns if column not in _PROSE]):
        if leaked := readable(changed[field], name, ignore_case=rules.masking.ignore_case):
            return f"{field}: {leaked!r} can be read, and it is what is asked for: write {MASKS[Granularity.TOKEN]}"
    for field in _among(changed, _PROSE):
        if spans := find_names(changed[field], (name,), rules.drafting):
            leaked_words = changed[field][slice(*spans[0])]
            return f"{field}: {leaked_words!r} gives the name away that is asked for: say it in other words"
    if "masked_code" in row:
        mask = MASKS[Granularity(row.get("granularity", Granularity.BLOCK))]
        if (row["masked_code"].count(mask) != 1 and mask != MASKS[Granularity.TOKEN]) or mask not in row["masked_code"]:
            return f"masked_code: {mask} has to stand there, where the answer goes"
    return None


def _among(changed: Mapping[str, str], fields: Collection[str]) -> list[str]:
    return [field for field in fields if field in changed]
