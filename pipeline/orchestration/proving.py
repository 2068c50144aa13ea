"""Changes that comparing sources found, run: the paths of each in both releases, in their pinned environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from pipeline.core.vocabularies.changes import RELOCATED, REPLACEABLE_APIS, ChangeKind
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome, VerdictRole
from pipeline.core.vocabularies.surface import SymbolKind
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.probes import probe
from pipeline.families.proof import Runs
from pipeline.lake.guard import attempt
from pipeline.lake.rows import ChangeRow, VerdictRow
from pipeline.lake.stage import Reject
from pipeline.orchestration.adhoc import NoAnswerError, Reporter
from pipeline.orchestration.resources.resources import Resources
from pipeline.quality.acceptance.changes import JudgedChange, failed, judge_change


def run_changes(
    changes: Sequence[ChangeRow], resources: Resources, report: Reporter = lambda step, done, total: None
) -> list[JudgedChange]:
    """Return what running both releases shows of each change, in the order given.

    Paths are imported in both releases, and calls are bound there (`judge_change`). What running shows has the
    evidence `executed`. See also `judge_runs`.

    Errors: NoAnswerError for a release that has no environment here.
    """
    if not changes:
        return []
    library, versions = changes[0]["library"], [changes[0][side] for side in ("old_version", "new_version")]
    paths = sorted({path for change in changes for path in _paths(change)})
    verdicts: list[VerdictRow] = []
    for version in versions:
        report(f"running {library} {version}", 0, 0)
        row = resources.environments.build(EnvironmentRequest(library, version))
        if row["outcome"] != EnvironmentOutcome.BUILT:
            raise NoAnswerError(
                f"{library} {version} has no environment: {row['outcome']}: {row['detail']}",
                code="release_no_environment",
            )
        probed = probe(resources.environments.open(row), paths, find_sandbox(), resources.rules.validation)
        verdicts += [
            {
                "id": path,
                "subject_id": path,
                "library": library,
                "version": version,
                "role": VerdictRole.PROBE,
                "outcome": result.outcome,
                "python": row["python"] or "",
                "lock_id": row["lock_id"] or "",
                "detail": result.detail,
                "observation": result.observation,
                "duration_s": result.duration_s,
                "peak_memory_bytes": result.peak_memory_bytes,
            }
            for path, result in probed.items()
        ]
    return judge_runs(changes, Runs(verdicts))


def judge_runs(changes: Sequence[ChangeRow], runs: Runs) -> list[JudgedChange]:
    """Return each change as the runs of its paths show it; see `run_changes`.

    A new path or a replacement that the new release lacks is no advice: what moved there went, and it is not named.
    """
    return [_judge(change, runs) for change in changes]


def _judge(change: ChangeRow, runs: Runs) -> JudgedChange:
    possible = attempt(str(change["id"]), _without_missing, change, runs)
    return failed(change, possible) if isinstance(possible, Reject) else judge_change(possible, runs)


def _paths(change: ChangeRow) -> Iterator[str]:
    yield change["path"]
    for path in (change["new"] if change["kind"] in RELOCATED else None, change["replacement"]):
        if _is_own(path, change):
            yield from (path, path.rpartition(".")[0])


def _is_own(path: str | None, change: ChangeRow) -> TypeGuard[str]:
    """Return whether what to use instead is a path of the same package: other words cannot be imported."""
    top = f"{change['path'].partition('.')[0]}."
    return path is not None and change["kind"] in RELOCATED | REPLACEABLE_APIS and path.startswith(top)


def _without_missing(change: ChangeRow, runs: Runs) -> ChangeRow:
    version = change["new_version"]
    if change["kind"] in RELOCATED and _is_missing(change["new"], runs, version):
        return change | {"kind": ChangeKind.REMOVED, "new": None, "replacement": None, "confidence": 1.0}
    lacks = _is_own(change["replacement"], change) and _is_missing(change["replacement"], runs, version)
    return change | {"replacement": None} if lacks else change


def _is_missing(path: str | None, runs: Runs, version: str) -> bool:
    """Return whether a module lacks a name; attributes of objects cannot be seen on their class."""
    if path is None:
        return False
    owner = runs.probe_result(path.rpartition(".")[0], version)
    return runs.outcome(path, version) == Outcome.API_MISSING and owner is not None and owner.kind == SymbolKind.MODULE
