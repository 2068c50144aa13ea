"""Ask an environment which API paths it has, and what stands there: all of them in one process."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.environments.inspect import Answer, ask
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.validation.cases import Result
from pipeline.execution.validation.details import clean
from pipeline.execution.validation.rules import ValidationRules


def probe(
    environment: Environment, paths: Sequence[str], sandbox: Sandbox, rules: ValidationRules
) -> dict[str, Result]:
    """Return for every API path whether it can be reached (PASSED, API_MISSING, or IMPORT_ERROR) and what is there.

    A path is reached by importing its longest module prefix (or a shorter one) and taking attributes from there. The
    caller asks only for what hangs on modules and classes: attributes of instances cannot be seen this way.
    """
    answers = ask(environment, paths, "path", sandbox, rules.probe_limits(len(paths)))
    return {path: _result(answer, environment) for path, answer in answers.items()}


def without_value(description: str | None) -> str | None:
    """Return a description without the value of an attribute: one that is made at import is another in each run."""
    described = json.loads(description or "{}")
    described.pop("value", None)
    return json.dumps(described, sort_keys=True) if description else None


def _result(answer: Answer, environment: Environment) -> Result:
    detail = None if answer.outcome is Outcome.PASSED else clean(answer.message, environment)
    observation = None if answer.description is None else json.dumps(answer.description, sort_keys=True)
    return Result(answer.name, answer.outcome, detail, answer.duration_s, None, observation)
