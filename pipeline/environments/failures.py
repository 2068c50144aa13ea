"""How building an environment fails: for good, in one of a closed set of ways, or because the index did not answer."""

from __future__ import annotations

from pipeline.terms import EnvironmentOutcome


class IndexUnreachable(Exception):
    """The package index did not answer; the same call may succeed later."""


class StepFailed(Exception):
    """A step of building failed for good: `outcome` says how, `detail` in whose words, `missing` what was not there."""

    def __init__(self, outcome: EnvironmentOutcome, detail: str, missing: str | None = None) -> None:
        super().__init__(f"{outcome}: {detail}")
        self.outcome = outcome
        self.detail = detail
        self.missing = missing
