"""What changed between releases, when each API came and went, and what the benchmarks call it."""

from pipeline.lifecycle.compare import compare
from pipeline.lifecycle.documented import directives_stage, document_changes
from pipeline.lifecycle.history import History, history_of
from pipeline.lifecycle.index import Index
from pipeline.lifecycle.matching import near_misses
from pipeline.lifecycle.rules import LifecycleRules
from pipeline.lifecycle.stage import lifecycle_stage
from pipeline.lifecycle.states import describe_state
from pipeline.lifecycle.tags import Tags

__all__ = [
    "History",
    "Index",
    "LifecycleRules",
    "Tags",
    "compare",
    "describe_state",
    "directives_stage",
    "document_changes",
    "history_of",
    "lifecycle_stage",
    "near_misses",
]
