"""Curation rules: what a curator edits, as frozen models."""

from pipeline.rules.load import RULES, Rule, RuleError, load

__all__ = ["RULES", "Rule", "RuleError", "load"]
