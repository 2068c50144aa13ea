"""Airflow's executor of one machine, with processes that have imported what tasks need."""

from __future__ import annotations

import importlib

from airflow.executors.local_executor import LocalExecutor

TASKS = (
    "pipeline.orchestration.check_libraries",
    "pipeline.orchestration.publishing.publish_snapshot",
    "pipeline.orchestration.refresh",
    "pipeline.orchestration.report.source",
    "pipeline.orchestration.wait_for_turn",
)
"""What nearly every task imports."""


class ImportedExecutor(LocalExecutor):
    """LocalExecutor whose workers are forked after the imports: short tasks consisted mostly of imports."""

    def start(self) -> None:
        """Import what tasks need, and start the workers."""
        for name in TASKS:
            importlib.import_module(name)
        super().start()
