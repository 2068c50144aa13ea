"""Scores of predictions: the metrics of the five benchmarks, and what a whole file of predictions comes to."""
