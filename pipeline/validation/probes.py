"""Ask an environment which API paths it has: all of them in one process, however some of them behave."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.environments import Environment, Finished, Sandbox
from pipeline.terms import Outcome
from pipeline.validation.cases import OUTCOMES, Report, Result, run_harness
from pipeline.validation.details import clean
from pipeline.validation.rules import ValidationRules


def probe(
    environment: Environment,
    paths: Sequence[str],
    import_names: Sequence[str],
    sandbox: Sandbox,
    rules: ValidationRules,
) -> dict[str, Result]:
    """Return for every API path whether it can be reached: PASSED, API_MISSING, or IMPORT_ERROR.

    A path is reached by importing its longest module prefix (or a shorter one) and taking attributes from there. The
    caller asks only for what hangs on modules and classes: attributes of instances cannot be seen this way. A path
    that ends the process or the time costs itself only, since the rest is asked for in a new process.
    """
    found: dict[str, Result] = {}
    left = list(enumerate(dict.fromkeys(paths)))
    while left:
        spec = {"paths": left, "import_names": list(import_names)}
        finished, report = run_harness(environment, spec, sandbox, rules)
        named = dict(left)
        per_path = finished.duration_s / len(left)
        for line in (line for line in report.lines if "outcome" in line):
            path, outcome = named[line["index"]], OUTCOMES[line["outcome"]]
            detail = None if outcome is Outcome.PASSED else clean(line["message"], environment)
            found[path] = Result(path, outcome, detail, per_path, None)
        if report.end is None:
            culprit = max((line["probing"] for line in report.lines if "probing" in line), default=left[0][0])
            if named[culprit] not in found:
                found[named[culprit]] = _culprit(named[culprit], finished, report, environment)
        left = [(index, path) for index, path in left if path not in found]
    return found


def _culprit(path: str, finished: Finished, report: Report, environment: Environment) -> Result:
    """Return the result of the path that the process was at when it ended."""
    if report.started:
        detail = "the process ended or stood still while importing it"
        return Result(path, Outcome.IMPORT_ERROR, detail, finished.duration_s, None)
    detail = clean(finished.stderr.decode(errors="replace"), environment)
    return Result(path, Outcome.HARNESS_ERROR, detail, finished.duration_s, None)
