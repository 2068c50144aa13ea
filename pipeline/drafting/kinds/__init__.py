"""What a model is asked to write, a module for each kind."""

from pipeline.drafting.kinds.description import DescriptionRules, DescriptionWriter
from pipeline.drafting.kinds.rounds import Drafted, Judge, KindRules, Subject, draft

__all__ = ["DescriptionRules", "DescriptionWriter", "Drafted", "Judge", "KindRules", "Subject", "draft"]
