"""Publishing of a refresh: its candidate is compared and checked, and placed if checks pass or a person approved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline.core.errors import CodedError
from pipeline.core.rules.fingerprint import plain
from pipeline.core.settings import settings
from pipeline.core.vocabularies.annotation import QueueStatus
from pipeline.core.vocabularies.release_checks import CheckStatus, PublicationState
from pipeline.lake.damage import read_state
from pipeline.lake.ids import sha256_json
from pipeline.lake.pinned_versions import is_pinned, pinned_lake, unpin
from pipeline.lake.run_records import now, read_record, recorded_runs
from pipeline.lake.runner import last_counts, write_json
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing.apply_decisions import NotJudged, judge_again
from pipeline.orchestration.publishing.finish_refresh import NotWhole, covered_libraries, finish, pin_lake
from pipeline.orchestration.refresh import Refresh, release_check_rules
from pipeline.orchestration.resources.resources import Resources
from pipeline.snapshots.approval_text import describe_changes, describe_checks, describe_unapplied, request_text
from pipeline.snapshots.candidate import Candidate, candidates_folder, make_candidate
from pipeline.snapshots.comparison.comparison import Comparison, compare_snapshots
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.rows import NothingToPublish, OutdatedTables
from pipeline.snapshots.publication import Publication, Signature, read_publication, write_publication
from pipeline.snapshots.release_checks.release_checks import CheckInputs, overall_status, weigh
from pipeline.snapshots.release_checks.rules import ReleaseCheckRules
from pipeline.snapshots.shared import fetch_snapshots, share_snapshot
from pipeline.snapshots.snapshot import NotPlaced, Published, is_placed, place, placing_lock


class HeldBack(CodedError, ValueError):
    """A release check holds the snapshot back; the message names check, measurement, limit and what to do."""

    code = "snapshot_held"


class AwaitsApproval(CodedError, ValueError):
    """Release checks need approval; the message names them, and how to approve."""


class NoRefresh(CodedError, ValueError):
    """There is no refresh that could be published."""

    code = "refresh_missing"


NO_SNAPSHOT = (HeldBack, AwaitsApproval, NothingToPublish, OutdatedTables, NotPlaced, NotWhole, NotJudged)
"""What ends publishing without a snapshot; `latest` stays as it was."""


def publish_refresh(refresh: Refresh, signed_by: str | None = None) -> Published:
    """Finish a refresh and publish its snapshot in one go; `signed_by` approves it where release checks need that.

    Errors: NO_SNAPSHOT; `latest` stays then.
    """
    finish(refresh)
    return publish_last(refresh, signed_by)


def publish_last(refresh: Refresh, signed_by: str | None = None) -> Published:
    """Publish what a finished refresh left, with what people decided since.

    If a candidate of it waits already, `signed_by` approves that one: another one by now would be unseen.

    Errors: as `publish_refresh`.
    """
    before = publication_of(refresh)
    publication = prepare_candidate(refresh)
    if not signed_by or not publication.asks:
        return place_refresh(refresh)
    candidate = before.candidate if before and before.asks else publication.candidate
    digest = candidate.manifest_sha256 if candidate else ""
    return place_refresh(refresh, Signature(signed_by, approved=True, when=now(), candidate=digest))


def prepare_candidate(refresh: Refresh) -> Publication:
    """Make the candidate of what a refresh left, compare it with the snapshot that it follows, and weigh it.

    What people decided since the refresh counts. The record in the folder of the run says what was found.

    Errors: NothingToPublish, OutdatedTables, NotWhole, NotJudged; RuleError for rules of release checks that are wrong.
    """
    fetch_snapshots(refresh.profile)
    with _recording(refresh, Publication(refresh.run, refresh.profile, PublicationState.NOTHING)):
        publication = _checked_candidate(refresh, release_check_rules())
    write_publication(refresh.folder, publication)
    return publication


def request_of(publication: Publication, airflow: str) -> dict[str, Any]:
    """Return whether a person is asked, about which candidate, and what they see, with links into an Airflow."""
    candidate = publication.candidate
    assert candidate is not None
    links = [
        ("What is pending in the review queue", f"{airflow}/driftline-review/?status={QueueStatus.PENDING}"),
        ("Report", f"{airflow}/driftline-report/{quote(publication.run, safe='')}"),
    ]
    body = request_text(candidate, publication.release_checks, publication.changes, links)
    request = {"profile": publication.profile, "run": publication.run, "candidate": candidate.manifest_sha256}
    return request | {"asks": publication.asks, "subject": f"Publish {candidate.name}?", "body": body}


def place_refresh(refresh: Refresh, signature: Signature | None = None) -> Published:
    """Place the candidate of a refresh, if nothing is in its way or a person approved it.

    Errors: HeldBack; AwaitsApproval where nobody approved, or approved another candidate; NotPlaced where the candidate
    follows another snapshot by now.
    """
    fetch_snapshots(refresh.profile)
    publication = publication_of(refresh)
    if publication is None or publication.candidate is None:
        raise NotPlaced(
            f"the run {refresh.run} has no candidate: driftline publish --profile {refresh.profile}",
            code="candidate_gone",
        )
    candidate, publication = publication.candidate, replace(publication, signature=signature or publication.signature)
    _must_be_free(publication)
    with _recording(refresh, publication):
        if settings().shared_snapshots and is_pinned(refresh.folder) and not candidate.path.is_dir():
            # another machine made it: the same pinned versions give the same bytes
            _checked_candidate(refresh, release_check_rules())
        published = place(candidate, settings().snapshots)
        share_snapshot(published.path)
    _keep_published(refresh, published)
    done = replace(publication, state=PublicationState.PUBLISHED, reason="", snapshot=published.path.name)
    write_publication(refresh.folder, done)
    unpin(refresh.folder)
    return published


def end_unsigned(
    refresh: Refresh, manifest_sha256: str, signature: Signature | None, newer: str | None = None
) -> Publication | None:
    """Note that a person refused to sign, or that nobody answered: in time, or before a `newer` run took its place.

    Return how the publication stands then, None where it never began. If another candidate than that with
    `manifest_sha256` waits, nothing changes: another question is still open.
    """
    publication = publication_of(refresh)
    if publication is None or not publication.asks or not publication.is_about(manifest_sha256):
        return publication
    if signature and signature.approved:
        return publication
    if newer:
        state, reason = PublicationState.SUPERSEDED, f"nobody had answered when the run {newer} left a newer lake"
    elif signature is None:
        days = release_check_rules().approval.within_days
        state, reason = PublicationState.UNANSWERED, f"nobody answered within {days:g} days, or `approval` broke"
    else:
        note = f": {signature.note}" if signature.note else ""
        state, reason = PublicationState.REFUSED, f"{signature.signer} refused to sign it off{note}"
    ended = replace(publication, state=state, reason=f"{reason}; `latest` stays as it was", signature=signature)
    write_publication(refresh.folder, ended)
    return ended


def publication_of(refresh: Refresh) -> Publication | None:
    """Return how the publishing of a refresh stands, None where it was never begun."""
    return read_publication(refresh.folder, candidates_folder(settings().candidates))


def published_of(refresh: Refresh) -> Published | None:
    """Return what a refresh published, None if it did not come to that, or its record is damaged."""
    state = read_state(refresh.folder / _PUBLISHED, frozenset(field.name for field in fields(Published)))
    if state is None:
        return None
    # Where the snapshots are may differ from worker to worker; an older driftline kept a whole path.
    return Published(**state | {"path": settings().snapshots / refresh.profile / Path(state["path"]).name})


def last_refresh(profile: str, run: str | None = None) -> Refresh:
    """Return the newest refresh of a profile, or the one of this name.

    Errors: NoRefresh.
    """
    for _, record in reversed(recorded_runs(settings().runs)):
        if record.profile == profile and run in (None, record.run):
            covered = (record.libraries, record.since, record.until, record.families, record.sources)
            return Refresh(record.run, record.profile, *covered)
    named = f"run {run}" if run else "refresh"
    raise NoRefresh(
        f"no {named} of profile {profile} in {settings().runs}; run `driftline refresh --profile {profile}` first"
    )


_PUBLISHED = "published.json"


def _keep_published(refresh: Refresh, published: Published) -> None:
    write_json(refresh.folder / _PUBLISHED, asdict(published) | {"path": published.path.name})


@contextmanager
def _recording(refresh: Refresh, publication: Publication) -> Iterator[None]:
    """Keep with the run why it came to no snapshot, but not in the place of a candidate that waits to be answered."""
    try:
        yield
    except (NothingToPublish, OutdatedTables, NotPlaced, NotWhole, NotJudged) as error:
        before = publication_of(refresh)
        if not (isinstance(error, NotJudged) and before and before.asks):
            nothing = isinstance(error, NothingToPublish | NotWhole)
            state = PublicationState.NOTHING if nothing else PublicationState.FAILED
            write_publication(refresh.folder, replace(publication, state=state, reason=str(error)))
        raise


def _must_be_free(publication: Publication) -> None:
    """Raise an error where a release check holds a candidate back, or needs approval that this one lacks."""
    if publication.state == PublicationState.HELD:
        raise HeldBack(publication.reason)
    signature = publication.signature
    if publication.asks and (signature is None or not signature.approved):
        raise AwaitsApproval(publication.reason, code="approval_needed")
    if publication.asks and signature and not publication.is_about(signature.candidate):
        raise AwaitsApproval(
            f"{signature.signer} approved another candidate: this one was made since, and differs. What to do: look at"
            f" it, then run the same command again; in Airflow clear `approval` with all that follows it.\n"
            f"{publication.reason}",
            code="approval_of_other",
        )


def _checked_candidate(refresh: Refresh, rules: ReleaseCheckRules) -> Publication:
    resources = refresh.resources()
    if not is_pinned(refresh.folder):
        # published before, or never: of the lake of now only what is of this refresh's time
        pin_lake(refresh, resources, covered_libraries(refresh, resources))
    lake = pinned_lake(refresh.folder, resources.lake)
    libraries = covered_libraries(refresh, resources)
    unjudged = judge_again(resources, lake, libraries, refresh.folder)
    left_out = describe_unapplied(refresh.profile, unjudged)
    hashes = {name: sha256_json(plain(rule)) for name, rule in vars(resources.rules).items()}
    places = candidates_folder(settings().candidates), settings().snapshots
    record = read_record(refresh.folder)
    began = datetime.fromisoformat(record.began) if record else None
    # A refresh beside this one may come to the same candidate, and move it away while it is read here.
    with placing_lock(places[1], refresh.profile):
        same_code_fails = resources.rules.quality.same_code_fails
        candidate = make_candidate(
            lake, *places, refresh.profile, libraries, refresh.period, hashes, same_code_fails, began
        )
        last = places[1] / refresh.profile / candidate.last if candidate.last else None
        comparison = compare_snapshots(last, candidate.path) if last else None
        weighed = weigh(_publication(resources, lake, libraries, candidate, last, comparison), rules)
        placed = is_placed(candidate, settings().snapshots)
    # What is published already was weighed before, and approved if need be.
    status = CheckStatus.PASSED if placed else overall_status(weighed)
    return Publication(
        run=refresh.run,
        profile=refresh.profile,
        state=_STATES[status],
        reason="\n".join(filter(None, [describe_checks(candidate, weighed, status), *left_out])),
        candidate=candidate,
        release_checks=weighed,
        changes=[*(describe_changes(comparison) if comparison else ()), *left_out],
    )


_STATES: Mapping[CheckStatus, PublicationState] = {
    CheckStatus.HOLD: PublicationState.HELD,
    CheckStatus.APPROVAL: PublicationState.WAITING,
    CheckStatus.PASSED: PublicationState.READY,
}


def _publication(
    resources: Resources,
    lake: Lake,
    libraries: Sequence[str],
    candidate: Candidate,
    last: Path | None,
    comparison: Comparison | None,
) -> CheckInputs:
    # slow to import
    from pipeline.quality.annotation.agreement import agreement
    from pipeline.quality.annotation.store import open_store
    from pipeline.snapshots.format.survival_figures import FIGURE_COLUMNS, latest_figure

    look = latest_figure(Snapshot(candidate.path).rows("survivals", FIGURE_COLUMNS))
    agreed = agreement(open_store(resources.settings.reviews_url, resources.rules.annotation))
    return CheckInputs(
        candidate=candidate.path,
        comparison=comparison,
        counts=[count for library in libraries for count in last_counts(lake, library)],
        libraries_before=len(Snapshot(last).manifest.libraries) if last else 0,
        kappa=agreed.kappa,
        pairs=agreed.pairs,
        surviving=look.share if look else None,
        survivals=look.rows if look else 0,
    )
