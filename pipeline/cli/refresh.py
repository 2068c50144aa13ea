"""`driftline refresh`: the whole main job without Airflow."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from packaging.utils import InvalidName, canonicalize_name

from pipeline.cli.options import Families, Json, Libraries, ProfileName, Since, Sources, Until
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, print_json, progress, say
from pipeline.cli.summary import as_json, print_summary
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.runner import TRANSIENT, Count
from pipeline.orchestration.check_libraries import check_names
from pipeline.orchestration.failures import StageFailed
from pipeline.orchestration.publishing.finish_refresh import NoQueue
from pipeline.orchestration.publishing.publish_snapshot import NO_SNAPSHOT, publish_refresh
from pipeline.orchestration.refresh import Refresh, begin, checked, counts_of, run_group
from pipeline.orchestration.report.source import write_report
from pipeline.orchestration.run_parameters import BadForm
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.snapshot import Published


def refresh(
    libraries: Libraries = "",
    since: Since = None,
    until: Until = None,
    profile: ProfileName = "starter",
    families: Families = "",
    sources: Sources = "",
    json: Json = False,
) -> None:
    """Collect, analyse and prove the libraries of a profile, and publish the snapshot.

    Example: driftline refresh --libraries flask,markupsafe
    """
    asked = read_refresh(libraries, since, until, profile, families, sources)
    problems = [*_collect(asked)]
    published: Published | None = None
    try:
        with progress("publishing"):
            published = publish_refresh(asked)
    except (*NO_SNAPSHOT, NoQueue) as error:
        problems.append(str(error))
    counts = counts_of(asked)
    write_report(asked)
    if json:
        print_json(as_json(asked, published))
    else:
        print_summary(asked, published)
    problems += _unfinished(counts)
    if problems:
        fail("\n".join(problems), PROBLEM)


def _collect(asked: Refresh) -> list[str]:
    """Run every group of stages for every library, and return what to say of those that failed."""
    planned = begin(asked)
    failed: list[str] = []
    total = len(planned) * len(GROUPS)
    with progress("refresh", total) as tell:
        for place, library in enumerate(planned):
            for number, group in enumerate(GROUPS):
                tell(f"{library}: {group}", place * len(GROUPS) + number, total)
                if not _run(asked, group, library):
                    failed.append(library)
                    break
    return [f"these libraries failed and are as they were before: {', '.join(failed)}"] if failed else []


def _unfinished(counts: list[Count]) -> list[str]:
    """Return what to say of libraries that the index does not know, or for which a passing trouble left work undone.

    Drafts that wait are no trouble: the offline drafter's stand, and the summary says why they wait.
    """
    passing = TRANSIENT - {RejectReason.DRAFT_WAITING}
    troubles = {
        (count.library, reason) for count in counts for reason in {*count.rejected, *count.noted} & set(passing)
    }
    gone = sorted(count.library for count in counts if RejectReason.NO_SUCH_LIBRARY in {*count.rejected, *count.noted})
    return [
        *(f"{library}: the index does not know it; correct or remove its name in the profile" for library in gone),
        *(f"{library}: {reason}; run the same command again to go on" for library, reason in sorted(troubles)),
    ]


def read_refresh(
    libraries: str, since: str | None, until: str | None, profile: str, families: str = "", sources: str = ""
) -> Refresh:
    """Turn the options of a refresh into its parameters, or end with what is wrong with them."""
    wanted = _names(libraries)
    if libraries and not wanted:
        fail(f"--libraries {libraries!r} names no library", BAD_USAGE)
    for name in wanted:
        _check_name(name)
    asked = Refresh(
        run=f"cli-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}",
        profile=profile,
        libraries=wanted,
        since=since,
        until=until,
        families=_names(families),
        sources=_names(sources),
    )
    try:
        period = asked.period
    except ValueError as error:
        fail(f"--since and --until take a date such as 2026-11-16: {error}", BAD_USAGE)
    if period.since and period.until and period.since >= period.until:
        fail(f"--since {since} is not before --until {until}", BAD_USAGE)
    try:
        refresh = checked(asdict(asked), asked.run)
        check_names(refresh)
        return refresh
    except BadForm as error:
        fail(str(error), BAD_USAGE)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _check_name(library: str) -> None:
    try:
        canonicalize_name(library, validate=True)
    except InvalidName:
        fail(f"--libraries: {library!r} is not a name that a package index can have (PEP 508)", BAD_USAGE)


def _run(asked: Refresh, group: str, library: str) -> list[Count] | None:
    """Run a group of stages; what is wrong with one library must not stop the others."""
    try:
        return run_group(asked, group, library)
    except StageFailed as failed:
        say(str(failed))
        return None
    except Exception as error:  # noqa: BLE001 - told at once, and the command ends with status 1
        say(f"{library}, {group}: {type(error).__name__}: {error}")
        return None
