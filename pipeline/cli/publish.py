"""`driftline publish`: publish the last refresh without another one."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.options import Json, ProfileName
from pipeline.cli.output import PROBLEM, fail, out, print_json, print_table, progress
from pipeline.cli.refresh import print_published
from pipeline.core.rules.profiles import load_profile
from pipeline.core.vocabularies.release_checks import CheckStatus, PublicationState
from pipeline.orchestration.publishing.publish_snapshot import (
    NO_SNAPSHOT,
    NoRefresh,
    last_refresh,
    publication_of,
    publish_last,
)
from pipeline.orchestration.report.source import write_report
from pipeline.snapshots.publication import Publication
from pipeline.snapshots.snapshot import Published

Run = Annotated[str | None, typer.Option(help="A refresh's run; default: the newest of the profile.", metavar="RUN")]
SignedBy = Annotated[
    str | None, typer.Option(help="Name of the approver, where release checks need approval.", metavar="NAME")
]


def publish(profile: ProfileName = "starter", run: Run = None, signed_by: SignedBy = None, json: Json = False) -> None:
    """Run the release checks of curation_rules/release_checks.yaml on the newest refresh, and publish it.

    Example: driftline publish --profile starter --signed-by ada
    """
    if signed_by is not None and not signed_by.strip():
        fail("--signed-by is empty: name the approver")
    problem: str | None = None
    published: Published | None = None
    load_profile(profile)  # reports an unknown profile
    try:
        refresh = last_refresh(profile, run)
    except NoRefresh as error:
        fail(error)
    try:
        with progress(f"weighing and publishing {refresh.run}"):
            published = publish_last(refresh, signed_by)
    except NO_SNAPSHOT as error:
        problem = str(error)
    write_report(refresh)
    publication = publication_of(refresh)
    if json:
        print_json(publication.as_json() if publication else None)
    elif publication:
        _print(publication, published)
    if problem:
        fail(problem, PROBLEM)


def _print(publication: Publication, published: Published | None) -> None:
    measured = [result for result in publication.release_checks if result.status != CheckStatus.NOT_MEASURED]
    lines = [[result.kind, result.subject, result.value, result.of, result.status] for result in measured]
    print_table("Release checks", ["check", "subject", "measured", "units", "status"], lines)
    out.print(f"{len(publication.release_checks) - len(measured)} more have too few units, or no data")
    if publication.state != PublicationState.PUBLISHED:
        out.print(f"{publication.state}: {publication.state.meaning}", markup=False)
    for change in publication.changes:
        out.print(change, markup=False)
    if published:
        print_published(published)
