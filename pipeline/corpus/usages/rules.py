"""The rules of this stage: `curation_rules/usage.yaml`."""

from __future__ import annotations

from pydantic import Field

from pipeline.core.rules.load import Rule


class UsageRules(Rule):
    """What a curator tunes about the finding of uses."""

    nearest_similarity: float = Field(ge=0, le=1)
    returns: dict[str, dict[str, str]]

    def returns_of(self, library: str) -> dict[str, str]:
        """Return what a curator states about the results of a library's calls: path or pattern to class path."""
        return self.returns.get(library, {})
