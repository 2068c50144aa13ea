"""What verifiers finds by the id `driftline-verifiers`: one taskset, its harness and its environment."""

from __future__ import annotations

from pipeline.evaluation.harnesses.verifiers_tasks import DriftlineEnv, DriftlineHarness, DriftlineTaskset

__all__ = ["DriftlineEnv", "DriftlineHarness", "DriftlineTaskset"]
