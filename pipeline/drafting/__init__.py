"""Texts that instances need: descriptions that do not give the hidden name away."""

from pipeline.drafting.names import find_names, redact
from pipeline.drafting.prose import plain, sentences
from pipeline.drafting.refusals import notes_of, untold
from pipeline.drafting.rules import DraftingRules
from pipeline.drafting.stage import drafting_stage
from pipeline.drafting.writers import Improver, OfflineWriter, Refusal, Request, Text, Writer, Written

__all__ = [
    "DraftingRules",
    "Improver",
    "OfflineWriter",
    "Refusal",
    "Request",
    "Text",
    "Writer",
    "Written",
    "drafting_stage",
    "find_names",
    "notes_of",
    "plain",
    "redact",
    "sentences",
    "untold",
]
