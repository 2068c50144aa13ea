"""Snippets: examples in docstrings and code of others, as programs whose library version is known."""

from pipeline.snippets.extract import extract
from pipeline.snippets.names import free_names
from pipeline.snippets.programs import Example
from pipeline.snippets.rules import SnippetRules
from pipeline.snippets.stage import snippets_stage
from pipeline.usage import source_of

__all__ = ["Example", "SnippetRules", "extract", "free_names", "snippets_stage", "source_of"]
