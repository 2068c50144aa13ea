"""Mutation testing of references: changed programs that the tests of a row should notice."""

from pipeline.mutation.operators import Mutant, mutants_of
from pipeline.mutation.rules import MutationRules
from pipeline.mutation.running import hurried, score_by_tests
from pipeline.mutation.score import SCORED, MutationScore, too_weak

__all__ = ["SCORED", "Mutant", "MutationRules", "MutationScore", "hurried", "mutants_of", "score_by_tests", "too_weak"]
