"""Which libraries a profile takes: chosen by rule out of the most downloaded ones."""

from pipeline.libraries.asking import ask
from pipeline.libraries.choosing import Considered, choose
from pipeline.libraries.facts import KEPT, Fact, Ranked, read_facts, read_ranking, write_facts
from pipeline.libraries.rules import ChoosingRules
from pipeline.libraries.writing import considered_text, profile_text

__all__ = [
    "KEPT",
    "ChoosingRules",
    "Considered",
    "Fact",
    "Ranked",
    "ask",
    "choose",
    "considered_text",
    "profile_text",
    "read_facts",
    "read_ranking",
    "write_facts",
]
