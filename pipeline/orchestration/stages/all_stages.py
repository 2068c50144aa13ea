"""The stages in the order of the picture: what each reads, writes and depends on."""

from __future__ import annotations

from pipeline.lake.runner import Stage
from pipeline.orchestration.resources.resources import House
from pipeline.orchestration.stages.analysis import analysis, collection
from pipeline.orchestration.stages.families import families
from pipeline.orchestration.stages.gates import gates
from pipeline.orchestration.stages.proof import proof

<<<<<<< HEAD
GROUPS: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl", "gather", "sites"),
    "prove": (
        "surface",
        "lifecycle",
        "directives",
        "api_documents",
        "snippets",
        "usage",
        "own_tests",
        "instances",
        "drafting",
        "controlled",
        "environments",
        "validation",
        "own_test_runs",
        "migrated_code",
        "judgements",
        "problems",
        "functions",
        "projects",
        "repository_tasks",
        "scenes",
        "review",
        "reviews",
        "gate",
        "problems_gate",
        "functions_gate",
        "controlled_gate",
        "contexts",
        "repository_gate",
        "scenes_gate",
    ),
}
"""The stages that one Airflow task runs for a library: what waits for the index, and what needs a core.

A task costs more than a second before it does any work, so the short stages of analysis have none of their own.
"""

=======
>>>>>>> bb26f2a (Each group of stages is a task of its own in the grid, and a library without news ends after its crawl)

def stages_of(house: House) -> dict[str, Stage]:
    """Return all stages by name, in the order in which data flows."""
    return {
        stage.name: stage
        for stage in (*collection(house), *analysis(house), *proof(house), *families(house), *gates(house))
    }
