"""What a model is shown of a completion: in-line contexts, documents of its version, and the controlled scenario."""

from pipeline.contexts.controlled import controlled_stage
from pipeline.contexts.documents import Documentation, searched_text
from pipeline.contexts.retrieval import Bm25, Embedding, Hit, Retriever, retrievers
from pipeline.contexts.rules import ContextRules
from pipeline.contexts.stage import contexts_stage

__all__ = [
    "Bm25",
    "ContextRules",
    "Documentation",
    "Embedding",
    "Hit",
    "Retriever",
    "contexts_stage",
    "controlled_stage",
    "retrievers",
    "searched_text",
]
