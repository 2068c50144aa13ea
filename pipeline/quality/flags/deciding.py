"""Which run of a problem shows whether the version decides."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.running import Outcome
from pipeline.lake.rows import ProblemRunRow, ReviewEditRun

_OF_OTHER = (ProblemRun.OTHER_EXAMPLE, ProblemRun.OTHER_CODEMOD, ProblemRun.OTHER_MODEL)


def deciding_run(runs: Mapping[str, ProblemRunRow | ReviewEditRun]) -> ProblemRun | None:
    """Return the role of the run, of those of a problem by role, that shows best whether the version decides.

    It is that of code which passes in the other version; where there is none, that of the reference there.
    """
    there = runs.get(ProblemRun.OTHER_THERE)
    if there is not None and there["outcome"] == Outcome.PASSED:
        return next((role for role in _OF_OTHER if role in runs), None)
    return ProblemRun.REFERENCE_ELSEWHERE if ProblemRun.REFERENCE_ELSEWHERE in runs else None
