"""Version-conditioned problems: functions to be written for one release of a library, with tests that prove them."""

from pipeline.problems.drafted import ProblemWriter
from pipeline.problems.rules import ProblemRules
from pipeline.problems.stage import problems_stage

__all__ = ["ProblemRules", "ProblemWriter", "problems_stage"]
