"""Which stages make some families of instances: the others need not run, and leave their tables as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pipeline.families.all_families import FAMILIES
from pipeline.lake.runner import Stage

_ALWAYS = ("crawl", "gather", "sites", "flags", "decisions")
_OF_FLAGS = "judgements"
"""A stage whose rows only flags are made of: of the instances that a codemod or an example gave."""

_OF_ALL = frozenset({"flags", "reviews"})
"""Tables that are made of every family: whoever reads them needs not all of what they were made of."""


def stages_for(families: Collection[str], stages: Mapping[str, Stage]) -> frozenset[str]:
    """Return the names of the stages that families need, all of them where none is named."""
    if not families:
        return frozenset(stages)
    makers = {table: stage for stage in stages.values() for table in stage.writes}
    needed: set[str] = set()
    published = {family.table: family.published for family in FAMILIES}
    tables = [published[family] for family in families]
    while tables:
        maker = makers[tables.pop()]
        if maker.name not in needed:
            needed.add(maker.name)
            tables += [table for table in maker.reads if table not in _OF_ALL]
    if makers["completions"].name in needed:
        needed.add(_OF_FLAGS)
    return frozenset(needed | set(_ALWAYS))
