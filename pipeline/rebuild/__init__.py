"""Rows of a snapshot made again from their provenance, by the functions that made them the first time."""

from pipeline.rebuild.outcome import Made, NotMade, NotRebuilt, Rebuilt, reasons, tally
from pipeline.rebuild.sample import DRAWN, MAKERS, Draw, Sample, rebuild_sample

__all__ = [
    "DRAWN",
    "MAKERS",
    "Draw",
    "Made",
    "NotMade",
    "NotRebuilt",
    "Rebuilt",
    "Sample",
    "reasons",
    "rebuild_sample",
    "tally",
]
