"""Uses of a library's API in code, found with tree-sitter: imports, aliases, attribute chains, scopes."""

from pipeline.usage.api import Api
from pipeline.usage.find import Scan, scan
from pipeline.usage.rules import UsageRules
from pipeline.usage.stage import usage_stage
from pipeline.usage.text import preamble_length, source_of
from pipeline.usage.uses import Unresolved, Use

__all__ = [
    "Api",
    "Scan",
    "Unresolved",
    "UsageRules",
    "Use",
    "preamble_length",
    "scan",
    "source_of",
    "usage_stage",
]
