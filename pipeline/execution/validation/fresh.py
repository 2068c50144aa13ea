"""Runs a case in a sandbox of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.permissions import Permissions
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Finished, Limits
from pipeline.execution.validation import harness
from pipeline.execution.validation.cases import (
    Attempt,
    Case,
    Specification,
    harness_limits,
    limits_of,
    specifications,
    together,
    variables,
)
from pipeline.execution.validation.judging import judge, judge_unanswered

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.execution.validation.rules import ValidationRules

_START_S = 15.0  # more time for sandbox and harness to start than a case has, which the harness itself ends
_ANSWER_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Fresh:
    """Runs cases one by one, each in a new sandbox."""

    environment: Environment
    sandbox: Sandbox
    rules: ValidationRules

    def attempt(self, case: Case, repeat: int) -> Attempt:
        """Run a case once, as the repeat of that number."""
        attempts: list[Attempt] = []
        for specification in specifications(case, self.rules, repeat):
            attempts.append(self._run(specification, limits_of(case, self.rules), repeat))
            if not attempts[-1].passed:
                break
        return together(attempts)

    def _run(self, specification: Specification, limits: Limits, repeat: int) -> Attempt:
        nonce = harness.new_nonce()
        finished = self.sandbox.run(
            harness.command(self.environment.python),
            environment=self.environment,
            files={},
            stdin=harness.opening([specification.sent], (), last=True)
            + harness.asking(specification.sent, harness_limits(limits), nonce),
            limits=replace(
                limits,
                time_s=limits.time_s + _START_S,
                output_bytes=_ANSWER_BYTES,
                processes=limits.processes + 1,
            ),
            variables=variables(self.rules, repeat),
            grants=Permissions(second_uid=self.sandbox.two_users),
        )
        return _judged(finished, nonce, specification)


def _judged(finished: Finished, nonce: bytes, specification: Specification) -> Attempt:
    answers = harness.frames(finished.stdout)
    try:
        harness.read_ready(answers[0] if answers else b"")
        observation = harness.read_observation(answers[1] if len(answers) > 1 else b"", nonce)
        return judge(observation, specification.judge)
    except harness.NoAnswer as error:
        return judge_unanswered(finished, str(error), is_ready=bool(answers))
