"""The stages in the order in which data flows: what each reads, writes and depends on."""

from __future__ import annotations

from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.acceptance import acceptance
from pipeline.orchestration.stages.analysis import analysis, collection
from pipeline.orchestration.stages.families import families
from pipeline.orchestration.stages.proof import proof


def stages_of(resources: Resources) -> dict[str, Stage]:
    """Return all stages by name, in the order in which data flows."""
    return {
        stage.name: stage
        for stage in (
            *collection(resources),
            *analysis(resources),
            *proof(resources),
            *families(resources),
            *acceptance(resources),
        )
    }
