"""What Airflow remembers of its past in its own database, cleaned by its own command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pipeline.core.errors import CodedError
from pipeline.orchestration.retention.rules import Age

DATABASE = "DRIFTLINE_AIRFLOW_DATABASE"
"""Names Airflow's database for cleaning, where it is none of the files of a local Airflow."""
_CONNECTION = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_OF_TASKS = (_CONNECTION, "AIRFLOW__CORE__SQL_ALCHEMY_CONN", "_AIRFLOW_PROCESS_CONTEXT")
"""What Airflow sets in the processes of its tasks, so that their code does not use its database."""


class NotCleaned(CodedError, RuntimeError):
    """Airflow's database could not be cleaned; the message says what to do."""

    code = "metadata_not_cleaned"


def clean_metadata(rule: Age, now: datetime, environment: Mapping[str, str], *, dry_run: bool) -> str | None:
    """Have Airflow take the old rows out of its database, and return what it says; None where no database is here.

    Errors: NotCleaned with the end of what Airflow says.
    """
    reaching = _reaching(environment)
    if reaching is None:
        return None
    before = (now - rule.age).isoformat(timespec="seconds")
    command = ["airflow", "db", "clean", "--clean-before-timestamp", before, "--skip-archive", "--yes"]
    done = subprocess.run(
        [*command, "--error-on-cleanup-failure", *(["--dry-run"] if dry_run else [])],
        env=reaching,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        output = (done.stderr or done.stdout).strip()[-600:]
        raise NotCleaned(f"`{' '.join(command)}` failed; run it where the scheduler runs. Its output: {output}")
    return done.stdout


def _reaching(environment: Mapping[str, str]) -> dict[str, str] | None:
    """Return an environment in which the command reaches the database, None where none is known."""
    named = os.environ.get(DATABASE)
    connection = environment.get(_CONNECTION, "")
    plain = {name: value for name, value in environment.items() if name not in _OF_TASKS}
    if named:
        return plain | {_CONNECTION: named}
    if connection and not connection.startswith("airflow-db-not-allowed"):
        return plain | {_CONNECTION: connection}
    return plain if (Path(environment.get("AIRFLOW_HOME", "")) / "airflow.db").is_file() else None
