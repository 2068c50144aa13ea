"""The end of the collecting part of a refresh: is the lake of one time, and which versions is the snapshot made of."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.pinned_versions import is_behind, pin, pinned_lake
from pipeline.lake.run_records import now
from pipeline.lake.runner import Count, behind_inputs, is_done, write_json
from pipeline.orchestration.refresh import Refresh, counts_of, plan
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.orchestration.stages.selecting import stages_for

log = logging.getLogger(__name__)

FINISHED = "finished.json"
"""A file in the folder of a run that left something to publish; it stays when that is published."""


class NotWhole(CodedError, RuntimeError):
    """A snapshot would be of two times: some families or libraries, which it names, are as of an earlier one."""


class IndexAway(NotWhole):
    """The index answered for no library of the refresh, so that the lake is as of an earlier time."""

    code = "publishing_index_unreachable"


def finish(refresh: Refresh) -> None:
    """End the collecting part of a refresh: pin the lake as it is now for its snapshot, and fill the review queue.

    Errors: NotWhole where a snapshot would be of two times, IndexAway where the index did not answer; nothing is kept
    then. NoQueue.
    """
    resources = refresh.resources()
    libraries = covered_libraries(refresh, resources)
    fill_queue(resources, libraries)
    pin_lake(refresh, resources, libraries)
    write_json(refresh.folder / FINISHED, {"at": now()})


def pin_lake(refresh: Refresh, resources: Resources, libraries: Sequence[str]) -> None:
    """Pin the versions of the tables as they are now, for the snapshot of a refresh.

    A library of the refresh that failed midway is left out: half of its rows were made of what the other half replaced.

    Errors: NotWhole.
    """
    stages = stages_of(resources).values()
    halves = {library: names for library in libraries if (names := behind_inputs(stages, library, resources.lake))}
    _must_be_whole(refresh, resources, libraries, halves)
    for library, names in halves.items():
        log.warning("%s is left out of the snapshot: its refresh ended before the stage %s", library, names[0])
    whole = [library for library in libraries if library not in halves]
    pin(resources.lake, whole, refresh.folder, refresh.period.until)


def _must_be_whole(
    refresh: Refresh, resources: Resources, libraries: Sequence[str], halves: Mapping[str, Sequence[str]]
) -> None:
    unreached = {count.library for count in counts_of(refresh) if _index_was_away(count)}
    if unreached and unreached.issuperset(plan(refresh)):
        raise IndexAway(
            f"nothing is published and `latest` stays: the index answered for none of {', '.join(sorted(unreached))}."
            " `driftline doctor` says whether it answers now; then run the same refresh again"
        )
    if stale := _stale(refresh, resources, libraries):
        by_stages: dict[str, list[str]] = defaultdict(list)
        for library, stages in sorted(stale.items()):
            by_stages[", ".join(stages)].append(library)
        listed = "; ".join(f"{', '.join(names)}: {stages}" for stages, names in by_stages.items())
        raise NotWhole(
            f"nothing is published: the lake has the {', '.join(refresh.families)} of this refresh, but other families"
            f" are older than their inputs ({listed}). Refresh the same libraries without naming families",
            code="publishing_families_outdated",
        )
    others = [library for library in libraries if library not in plan(refresh)]
    if stopped := {library: halves[library][0] for library in others if library in halves}:
        listed = ", ".join(f"{library} before the stage {stage}" for library, stage in stopped.items())
        raise NotWhole(
            f"nothing is published: an earlier refresh ended midway ({listed})."
            f" Run it again: driftline refresh --profile {refresh.profile} --libraries {','.join(stopped)}",
            code="publishing_refresh_unfinished",
        )
    if behind := [library for library in others if is_behind(resources.lake, library, refresh.period.until)]:
        raise NotWhole(
            f"nothing is published: the last refresh of {', '.join(behind)} was about an earlier time (a backfill)."
            " The releases since are deferred. Refresh the profile without naming libraries",
            code="publishing_after_backfill",
        )


def _index_was_away(count: Count) -> bool:
    return RejectReason.INDEX_UNREACHABLE in {*count.rejected, *count.noted}


def covered_libraries(refresh: Refresh, resources: Resources) -> list[str]:
    """Return the libraries of the snapshot: those of the profile that were ever crawled, and those asked for."""
    crawled = set(pinned_lake(refresh.folder, resources.lake).libraries("releases"))
    return sorted({*(rule.library for rule in resources.profile.libraries if rule.library in crawled), *plan(refresh)})


def _stale(refresh: Refresh, resources: Resources, libraries: Iterable[str]) -> dict[str, list[str]]:
    """Return the stages that a refresh of some families passed over and that have something to do, by library."""
    stages = stages_of(resources)
    passed_over = [stages[name] for name in stages if name not in stages_for(refresh.families, stages)]
    stale = {
        library: [stage.name for stage in passed_over if not is_done(stage, library, resources.lake)]
        for library in libraries
    }
    return {library: names for library, names in stale.items() if names}


class NoQueue(CodedError, RuntimeError):
    """The review database does not answer: what people decided is not known, and nothing is published."""

    code = "publishing_no_decisions"


def fill_queue(resources: Resources, libraries: Sequence[str]) -> None:
    """Bring the review queue up to date with what is flagged now.

    Errors: NoQueue.
    """
    # slow to import
    from pipeline.quality.annotation.collect import fill_from
    from pipeline.quality.annotation.store import StoreError, open_store

    try:
        store = open_store(resources.settings.reviews_url, resources.rules.annotation)
    except StoreError as error:
        raise NoQueue(f"nothing is published, since what people decided is not known: {error}") from None
    fill_from(store, resources.lake, libraries, resources.rules.drafting)
