"""The families of instances, in the order in which cards, reports and snapshots list them."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.core.vocabularies.families import Family
from pipeline.families.compatibilities.family import COMPATIBILITIES
from pipeline.families.completions_and_migrations.family import BLOCK_COMPLETIONS, COMPLETIONS, MIGRATIONS
from pipeline.families.contexts.family import CONTEXTS, CONTROLLED_COMPLETIONS
from pipeline.families.family import InstanceFamily
from pipeline.families.functions.family import FUNCTIONS
from pipeline.families.problems.family import PROBLEMS
from pipeline.families.repository_tasks.family import REPOSITORY_TASKS
from pipeline.families.scenes.family import SCENES

FAMILIES = (
    COMPLETIONS,
    MIGRATIONS,
    BLOCK_COMPLETIONS,
    CONTROLLED_COMPLETIONS,
    COMPATIBILITIES,
    PROBLEMS,
    FUNCTIONS,
    REPOSITORY_TASKS,
    SCENES,
    CONTEXTS,
)

BY_NAME: Mapping[Family, InstanceFamily] = {family.name: family for family in FAMILIES}

INSTANCES = tuple(family for family in FAMILIES if family.view_of is None)
"""The families with instances of their own, which people judge; the others are views of these."""

INSTANCE_TABLES = tuple(family.table for family in INSTANCES)
