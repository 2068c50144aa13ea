"""How building an environment fails: for good, in one of a closed set of ways, or because the index did not answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainSerializer, model_validator

from pipeline.core.errors import FatalError, InputError
from pipeline.core.rules.load import Rule, load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.running import EnvironmentOutcome

Step = Literal["build", "import"]


class IndexUnreachable(FatalError):
    """The package index did not answer; the same call may succeed later."""

    code = "index_unreachable"


class StepFailed(Exception):
    """A step of building failed for good: `outcome` says how, `detail` in whose words, `missing` what was not there.

    `culprit` is the distribution that did not build or import, as name==version, where the log names one.
    """

    def __init__(
        self, outcome: EnvironmentOutcome, detail: str, missing: str | None = None, culprit: str | None = None
    ) -> None:
        super().__init__(f"{outcome}: {detail}")
        self.outcome = outcome
        self.detail = detail
        self.missing = missing
        self.culprit = culprit


class Example(Rule):
    """Lines of a log, and what they say is missing."""

    log: str
    missing: str


class Sign(Rule):
    """What the log of a step says where something of the system is missing; the group that matches says what."""

    step: Step
    kind: Literal["compiler", "header", "library", "tool"]
    pattern: Annotated[re.Pattern[str], BeforeValidator(re.compile), PlainSerializer(lambda p: p.pattern, str)]
    examples: tuple[Example, ...]
    not_examples: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _examples_hold(self) -> Sign:
        wrong = [example.log for example in self.examples if self.missing(example.log) != example.missing]
        wrong += [log for log in self.not_examples if self.missing(log)]
        if wrong:
            raise InputError(f"{self.pattern.pattern!r} is wrong about {wrong}", code="rule_example_wrong")
        return self

    def missing(self, log: str) -> str | None:
        """Return what a log says was not there; None where it does not say so."""
        match = self.pattern.search(log)
        return next((group for group in match.groups() if group), None) if match else None


class FailureRules(Rule):
    """The rules of `curation_rules/failures.yaml`."""

    signs: tuple[Sign, ...]

    def missing(self, step: Step, log: str) -> tuple[str, str] | None:
        """Return (kind, name) of what a step lacked, by the first sign in its log; None where no sign is in it."""
        for sign in self.signs:
            if sign.step == step and (name := sign.missing(log)):
                return sign.kind, name
        return None


def failure_rules(folder: Path | None = None) -> FailureRules:
    """Read `failures.yaml` of a folder, by default that of the settings."""
    return load((folder or settings().rules) / "failures.yaml", FailureRules)
