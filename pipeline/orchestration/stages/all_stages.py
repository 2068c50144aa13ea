"""The stages in the order of the picture: what each reads, writes and depends on."""

from __future__ import annotations

from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.resources import House
from pipeline.orchestration.stages.analysis import analysis, collection
from pipeline.orchestration.stages.families import families
from pipeline.orchestration.stages.gates import gates
from pipeline.orchestration.stages.proof import proof


def stages_of(house: House) -> dict[str, Stage]:
    """Return all stages by name, in the order in which data flows."""
    return {
        stage.name: stage
        for stage in (*collection(house), *analysis(house), *proof(house), *families(house), *gates(house))
    }
