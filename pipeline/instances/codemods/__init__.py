"""Codemods: libcst writes a snippet for another release of its library, as the changes between the two want it."""

from pipeline.instances.codemods.rules import CodemodRules

__all__ = ["CodemodRules"]
