"""Scores of predictions: the metrics of the five benchmarks, each as a function of one prediction and its reference."""

from pipeline.scores.api import api_f1, api_hit
from pipeline.scores.critical import CriticalDiff, critical_diff, exact_match
from pipeline.scores.estimate import Estimate, estimate, expected_best
from pipeline.scores.retrieval import recall, reciprocal_rank
from pipeline.scores.similarity import identifier_sequence_match, prefix_match

__all__ = [
    "CriticalDiff",
    "Estimate",
    "api_f1",
    "api_hit",
    "critical_diff",
    "estimate",
    "exact_match",
    "expected_best",
    "identifier_sequence_match",
    "prefix_match",
    "recall",
    "reciprocal_rank",
]
