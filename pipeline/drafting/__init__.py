"""Texts that instances need: descriptions that do not give the hidden name away."""

from pipeline.drafting.names import find_names, redact
from pipeline.drafting.prose import plain, sentences
from pipeline.drafting.rules import DraftingRules
from pipeline.drafting.stage import drafting_stage
from pipeline.drafting.writers import OfflineWriter, Request, Text, Writer

__all__ = [
    "DraftingRules",
    "OfflineWriter",
    "Request",
    "Text",
    "Writer",
    "drafting_stage",
    "find_names",
    "plain",
    "redact",
    "sentences",
]
