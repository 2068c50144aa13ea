"""The runs that an annotator sees of an instance: those in the releases that it is about."""

from __future__ import annotations

from pathlib import Path

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.functions import FunctionRun
from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.families.all_families import BY_NAME
from pipeline.lake.tables import Lake
from pipeline.quality.annotation.proofs import Proofs
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.families.functions import rows as functions
from tests.families.problems import rows as problems


def test_runs_in_releases_that_an_instance_is_not_about_are_not_shown(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    of_problem = [problems.run(role, Outcome.PASSED) for role in (ProblemRun.HIDDEN, ProblemRun.OTHER_RELEASE)]
    of_function = [functions.run(role, Outcome.PASSED) for role in (FunctionRun.TESTS, FunctionRun.OTHER_RELEASE)]
    lake.write("problem_runs", LIBRARY, of_problem)
    lake.write("function_runs", LIBRARY, of_function)
    problem, function = problems.problem(), functions.function()
    instances = {Family.PROBLEM: problem, Family.FUNCTION: function}

    def values(*columns: str) -> list[str]:
        return sorted({row[name] for row in instances.values() for name in columns if row.get(name)})

    proofs = Proofs(lake, LIBRARY, values)
    roles = {family: [run.subject for run in proofs.runs(BY_NAME[family], row)] for family, row in instances.items()}
    assert roles == {Family.PROBLEM: [ProblemRun.HIDDEN], Family.FUNCTION: [FunctionRun.TESTS]}
