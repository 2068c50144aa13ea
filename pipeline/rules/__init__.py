"""Curation rules: what a curator edits, as frozen models."""

from pipeline.rules.fingerprint import plain
from pipeline.rules.load import RULES, Rule, RuleError, load
from pipeline.rules.profiles import CodeRule, LibraryRule, Profile, load_profile, profile_names

__all__ = [
    "RULES",
    "CodeRule",
    "LibraryRule",
    "Profile",
    "Rule",
    "RuleError",
    "load",
    "load_profile",
    "plain",
    "profile_names",
]
