"""What Inspect finds by the name `driftline`, which names its tasks: `inspect eval driftline/problems`."""

from __future__ import annotations

from pipeline.evaluation.harnesses.inspect_tasks import tasks_of

# Inspect loads this module by its entry point, and names a task by the module of its function.
globals().update(tasks_of(__name__))
