"""A trial: every receiver is told that this is one. A program of its own, since the command line imports no Airflow."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from pipeline.core.rules.load import RuleError
from pipeline.core.vocabularies.alerts import AlertKind
from pipeline.orchestration.alerts.notifier import alerts
from pipeline.orchestration.alerts.rules import alert_rules

BAD_USAGE = 2


def main() -> int:
    """Tell the receivers of each kind of alert; say how many there are, or what is in the way."""
    try:
        receivers = alert_rules().receivers
    except RuleError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the output of a program
        return BAD_USAGE
    task = SimpleNamespace(task_id="trial", log_url="")
    context = {"dag": None, "run_id": "", "ti": task, "task": None, "exception": "this is a trial: nothing has failed"}
    problems = []
    for kind in AlertKind:
        try:
            alerts(kind)(dict(context))
        except RuntimeError as error:
            problems.append(str(error))
    print("\n".join(problems) or len(receivers), file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
