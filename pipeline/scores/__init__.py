"""Scores of predictions: the metrics of the five benchmarks, and what a whole file of predictions comes to."""

from pipeline.scores.api import api_f1, api_hit
from pipeline.scores.critical import CriticalDiff, critical_diff, exact_match
from pipeline.scores.estimate import Estimate, estimate, expected_best
from pipeline.scores.predictions import Excluded, Prediction, read_predictions
from pipeline.scores.retrieval import mentioned, recall, reciprocal_rank
from pipeline.scores.rules import ScoreRules
from pipeline.scores.running import Runners
from pipeline.scores.score import Scored, score_predictions, write
from pipeline.scores.similarity import identifier_sequence_match, prefix_match
from pipeline.scores.table import score_rows
from pipeline.scores.tally import Tally, tally
from pipeline.scores.tasks import Task, read_tasks

__all__ = [
    "CriticalDiff",
    "Estimate",
    "Excluded",
    "Prediction",
    "Runners",
    "ScoreRules",
    "Scored",
    "Tally",
    "Task",
    "api_f1",
    "api_hit",
    "critical_diff",
    "estimate",
    "exact_match",
    "expected_best",
    "identifier_sequence_match",
    "mentioned",
    "prefix_match",
    "read_predictions",
    "read_tasks",
    "recall",
    "reciprocal_rank",
    "score_predictions",
    "score_rows",
    "tally",
    "write",
]
