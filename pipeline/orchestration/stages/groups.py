"""The stages by the task that runs them; DAG files read this, so it imports nothing of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, tuple[str, ...]] = {
    "crawl": ("crawl", "gather", "sites", "decisions"),
    "read": ("surface", "lifecycle"),
    "analyse": (
        "directives",
        "api_documents",
        "own_tests",
        "witnesses",
        "snippets",
        "usage",
        "instances",
        "drafting",
        "controlled",
    ),
    "build": ("environments",),
    "prove": (
        "validation",
        "behaviour",
        "model_migrations",
        "mutation_scores",
        "other_answers",
        "judgements",
        "compatibilities",
        "problems",
        "functions",
        "projects",
        "repository_tasks",
        "scenes",
    ),
    "assemble": (
        "flags",
        "acceptance",
        "problems_acceptance",
        "functions_acceptance",
        "controlled_acceptance",
        "compatibilities_acceptance",
        "contexts",
        "repository_acceptance",
        "scenes_acceptance",
    ),
}
"""The stages that one Airflow task runs for a library, so that the grid shows which of them is slow or failed.

A task costs more than a second before it does any work, so short stages have none of their own.
"""
