"""Prompts: the rows of a snapshot in the words of a setting, by the templates of `curation_rules/prompts/`."""

from pipeline.prompts.attempts import read_attempts
from pipeline.prompts.code import UnreadableCode, without_imports
from pipeline.prompts.make import Prompt, Without, leaking, prompts
from pipeline.prompts.rows import Attempt, Attempts
from pipeline.prompts.rules import PromptRules, prompt_rules

__all__ = [
    "Attempt",
    "Attempts",
    "Prompt",
    "PromptRules",
    "UnreadableCode",
    "Without",
    "leaking",
    "prompt_rules",
    "prompts",
    "read_attempts",
    "without_imports",
]
