"""The stage `environments`: the pinned environment of every release that something is to be run in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

from packaging.version import Version

from pipeline.environments.failures import IndexUnreachable
from pipeline.environments.store import EnvironmentStore
from pipeline.environments.wanted import wanted_of
from pipeline.lake import Output, Reject, Row
from pipeline.terms import EnvironmentOutcome, RejectReason


def environments_stage(releases: Iterable[Row], wanted: Collection[str], store: EnvironmentStore) -> Output:
    """Build the environments of one library's wanted versions, some at a time; the unit is a wanted release.

    One that cannot be built is a reject NO_ENVIRONMENT and still has its row, which says why. Where the index did
    not answer nothing is known, so there is no row. INDEX_UNREACHABLE and NO_SPACE have the stage run again.
    """
    versions = frozenset(wanted)
    chosen = sorted(
        (release for release in releases if release["version"] in versions), key=lambda row: Version(row["version"])
    )
    with ThreadPoolExecutor(store.workers) as pool:
        results = list(pool.map(lambda release: _build(store, release), chosen))
    rows = [result for result in results if not isinstance(result, Reject)]
    rejects = [result for result in results if isinstance(result, Reject)]
    rejects += [_refusal(row) for row in rows if row["outcome"] != EnvironmentOutcome.BUILT]
    return Output({"environments": rows}, seen=len(chosen), made=len(chosen) - len(rejects), rejects=rejects)


def _build(store: EnvironmentStore, release: Row) -> Row | Reject:
    try:
        return store.build(wanted_of(release))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))


def _refusal(row: Row) -> Reject:
    last = (row["detail"] or "").strip().splitlines()[-1:]
    full = row["outcome"] == EnvironmentOutcome.NO_SPACE
    reason = RejectReason.NO_SPACE if full else RejectReason.NO_ENVIRONMENT
    return Reject(row["version"], reason, ": ".join([row["outcome"], *last]))
