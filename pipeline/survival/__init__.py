"""Survival: whether what was published still passes in its locked environments, and why what does not.

What runs it is in `pipeline.survival.survive`, which nothing here imports: whoever publishes only reads the figures.
"""

from pipeline.survival.figures import LOOKED, Standing, known_by, last_look, standing_of, surviving_share, told_survival
from pipeline.survival.rules import SurvivalRules, survival_rules

__all__ = [
    "LOOKED",
    "Standing",
    "SurvivalRules",
    "known_by",
    "last_look",
    "standing_of",
    "survival_rules",
    "surviving_share",
    "told_survival",
]
