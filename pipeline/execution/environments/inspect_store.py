"""Compiled modules of a release, described by importing them in its pinned environment; kept beside the artifacts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.execution.environments.inspect import PROGRAM_SHA256, Description, ask
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.environments.resolution.rules import EnvironmentRules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits
from pipeline.lake.damage import read_state
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ReleaseRow
from pipeline.lake.tables import replacing

NOT_INSPECTED = "not inspected"
"""The one key of the description of a module that cannot be described; its value says why."""

_OUTPUT_BYTES = 64 << 20


def inspect_modules(
    environment: Environment, modules: Sequence[str], sandbox: Sandbox, rules: EnvironmentRules
) -> dict[str, Description]:
    """Describe each module by importing it in the sandbox: its public names, and those of its classes.

    Nothing is called. One that cannot be imported, or that ends the process, is {NOT_INSPECTED: reason}.
    """
    limits = Limits(time_s=rules.import_timeout_s, output_bytes=_OUTPUT_BYTES)
    answers = ask(environment, modules, "module", sandbox, limits)
    return {
        name: answer.description
        if answer.description is not None
        else {NOT_INSPECTED: _reason(answer.message, environment)}
        for name, answer in answers.items()
    }


def inspect_release(
    release: ReleaseRow, modules: Sequence[str], store: EnvironmentStore, cache: Path
) -> dict[str, Description]:
    """Describe compiled modules of a release, from the cache or by building or opening its environment.

    Kept by the artifact's sha256, Python, lock and modules, so that each is inspected once in the life of the cache.
    Where there is no environment, every module is {NOT_INSPECTED: reason}, and it is tried again the next time.

    Errors: those of `EnvironmentStore.build` and `open`.
    """
    row = store.build(request_of(release))
    if row["outcome"] != EnvironmentOutcome.BUILT:
        last = (row["detail"] or "").strip().splitlines()[-1:]
        reason = ": ".join(["no environment", row["outcome"], *last])
        return {name: {NOT_INSPECTED: reason} for name in modules}
    key = content_id(release["sha256"], row["python"], row["lock_id"], sorted(modules), PROGRAM_SHA256)
    path = cache / "descriptions" / f"{key}.json"
    if (cached := read_state(path)) is not None:
        return cached
    _write(path, inspect_modules(store.open(row), modules, store.sandbox, store.rules))
    return dict(json.loads(path.read_text()))


def _write(path: Path, value: object) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, sort_keys=True))


def _reason(message: str, environment: Environment) -> str:
    """Return why a module could not be described, without where it lies on this machine."""
    text = message.strip().replace(str(environment.site_packages), "site-packages")
    return text[-500:] or str(Outcome.IMPORT_ERROR)
