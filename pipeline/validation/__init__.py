"""Running: what passes, fails or is missing in which pinned environment, and what of it becomes a verdict."""

from pipeline.validation.cases import Case, Coverage, Result, run_case, run_cases
from pipeline.validation.probes import probe
from pipeline.validation.rules import ValidationRules
from pipeline.validation.runs import Run, plan_runs, wanted_versions
from pipeline.validation.stage import Runner, validation_stage

__all__ = [
    "Case",
    "Coverage",
    "Result",
    "Run",
    "Runner",
    "ValidationRules",
    "plan_runs",
    "probe",
    "run_case",
    "run_cases",
    "validation_stage",
    "wanted_versions",
]
