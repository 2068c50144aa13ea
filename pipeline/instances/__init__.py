"""Benchmark instances from real code: completions with the core API masked, and migrations between two versions."""

from pipeline.instances.codemods import CodemodRules
from pipeline.instances.foreign import LibraryNames
from pipeline.instances.head import tags_of
from pipeline.instances.history import PLAIN, History, Tagging
from pipeline.instances.masks import MASKS, Masked, mask, readable, unmask
from pipeline.instances.migrations import version_pattern
from pipeline.instances.rules import MaskingRules
from pipeline.instances.source import BrokenSource, Source, Span, parse_source
from pipeline.instances.stage import instances_stage

__all__ = [
    "MASKS",
    "PLAIN",
    "BrokenSource",
    "CodemodRules",
    "History",
    "LibraryNames",
    "Masked",
    "MaskingRules",
    "Source",
    "Span",
    "Tagging",
    "instances_stage",
    "mask",
    "parse_source",
    "readable",
    "tags_of",
    "unmask",
    "version_pattern",
]
