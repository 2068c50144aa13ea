"""Running: what passes, fails or is missing in which pinned environment, and what of it becomes a verdict."""

from pipeline.validation.cases import Case, Coverage, Result
from pipeline.validation.engine import Engine, run_jobs
from pipeline.validation.planning import Catalogue
from pipeline.validation.probes import probe
from pipeline.validation.rules import ValidationRules
from pipeline.validation.running import run_cases
from pipeline.validation.runs import Run, plan_runs, wanted_versions
from pipeline.validation.samples import Sample, SampleError, read_sample
from pipeline.validation.stage import Runner, validation_stage
from pipeline.validation.validate import Asked, NothingToValidate, Range, Summary, validate_file
from pipeline.validation.verdict_file import NoVerdicts, Verdict, read_verdicts
from pipeline.validation.versions import Bisection, bisect, matrix, spans

__all__ = [
    "Asked",
    "Bisection",
    "Case",
    "Catalogue",
    "Coverage",
    "Engine",
    "NoVerdicts",
    "NothingToValidate",
    "Range",
    "Result",
    "Run",
    "Runner",
    "Sample",
    "SampleError",
    "Summary",
    "ValidationRules",
    "Verdict",
    "bisect",
    "matrix",
    "plan_runs",
    "probe",
    "read_sample",
    "read_verdicts",
    "run_cases",
    "run_jobs",
    "spans",
    "validate_file",
    "validation_stage",
    "wanted_versions",
]
