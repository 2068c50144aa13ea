"""The lock of an environment as a file for strangers: plain uv or pip installs it, on that Python, anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.execution.environments.resolution.pinned import read_lock
from pipeline.lake.rows import EnvironmentRow


def lock_to_publish(rows: Sequence[EnvironmentRow]) -> str:
    """Return the lock that some `environments` rows share, headed by what it is and how to install it."""
    row = rows[0]
    built = [pin.requirement for pin in read_lock(row["lock"] or "") if pin.built]
    head = [
        f"Environment {row['lock_id']}: " + ", ".join(f"{row['library']} {row['version']}" for row in rows),
        f"Python {row['python']}, dependencies as of {row['cutoff']:%Y-%m-%d}",
        f"uv:  uv venv --python {row['python']} && uv pip sync FILE",
        f"pip: python{row['python']} -m pip install --require-hashes -r FILE",
    ]
    if built:
        head.append(f"From source, so that a compiler may be needed: {', '.join(built)}")
    return "".join(f"# {line}\n" for line in head) + str(row["lock"])
