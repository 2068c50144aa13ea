"""Benchmark instances from real code: completions with the core API masked, and migrations between two versions."""

from pipeline.instances.foreign import LibraryNames
from pipeline.instances.masks import MASKS, Masked, mask, unmask
from pipeline.instances.migrations import version_pattern
from pipeline.instances.rules import MaskingRules
from pipeline.instances.source import BrokenSource, Source, parse_source
from pipeline.instances.stage import instances_stage

__all__ = [
    "MASKS",
    "BrokenSource",
    "LibraryNames",
    "Masked",
    "MaskingRules",
    "Source",
    "instances_stage",
    "mask",
    "parse_source",
    "unmask",
    "version_pattern",
]
