"""The stage `environments`: the pinned environment of every release that something is to be run in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.permanent_failures import may_pass
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.guard import attempt, parted
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, ReleaseRow, Tables
from pipeline.lake.stage import Output, Reject

_ANOTHER_TRY = frozenset({EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})
"""What may come out otherwise under the same rules."""


def environments_stage(
    tables: Tables,
    requested: Collection[str],
    store: EnvironmentStore,
    progress: Mapping[str, str] | None = None,
) -> Output:
    """Build the environments of one library's requested versions, some at a time; the unit is a requested release.

    Rows from a run under the same rules stand if the request was the same then (`progress`): what could not be built is
    not tried again for every new release.

    One that cannot be built is a reject NO_ENVIRONMENT and still has its row, which says why. Where the index did
    not answer nothing is known, so there is no row. INDEX_UNREACHABLE and NO_SPACE have the stage run again.
    """
    versions = frozenset(requested)
    chosen = sorted(
        (release for release in tables["releases"] if release["version"] in versions),
        key=lambda row: Version(row["version"]),
    )
    requests = {release["version"]: content_id(asdict(request_of(release))) for release in chosen}
    final = {
        row["version"]: row
        for row in tables["environments"]
        if _is_final(row) and (progress or {}).get(row["version"]) == requests.get(row["version"])
    }

    def build(release: ReleaseRow) -> EnvironmentRow | Reject:
        row = final.get(release["version"])
        return row if row is not None else attempt(release["version"], _build, store, release)

    with ThreadPoolExecutor(store.workers) as pool:
        rows, rejects = parted(pool.map(build, chosen))
    rejects += [_refusal(row) for row in rows if row["outcome"] != EnvironmentOutcome.BUILT]
    return Output(
        {"environments": rows},
        units_in=len(chosen),
        units_out=len(chosen) - len(rejects),
        rejects=rejects,
        progress=requests,
    )


def _is_final(row: EnvironmentRow) -> bool:
    return row["outcome"] == EnvironmentOutcome.BUILT or not (row["outcome"] in _ANOTHER_TRY or may_pass(row))


def _build(store: EnvironmentStore, release: ReleaseRow) -> EnvironmentRow | Reject:
    try:
        with at_release(release["version"]):
            return store.build(request_of(release))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))


def _refusal(row: EnvironmentRow) -> Reject:
    last = (row["detail"] or "").strip().splitlines()[-1:]
    full = row["outcome"] == EnvironmentOutcome.NO_SPACE
    reason = RejectReason.NO_SPACE if full else RejectReason.NO_ENVIRONMENT
    return Reject(row["version"], reason, ": ".join([row["outcome"], *last]))
