"""What a model is asked to write, a module for each kind."""

from pipeline.drafting.kinds.description import DescriptionRules, DescriptionWriter

__all__ = ["DescriptionRules", "DescriptionWriter"]
