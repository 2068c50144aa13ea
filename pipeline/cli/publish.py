"""`driftline publish`: draft, weigh and place what a refresh left, without refreshing anything."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.options import Json, ProfileName
from pipeline.cli.output import PROBLEM, fail, out, print_json, print_table, progress
from pipeline.cli.summary import print_published
from pipeline.core.rules.profiles import load_profile
from pipeline.core.vocabularies.gates import CheckStatus, PublicationState
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
SignedBy = Annotated[str | None, typer.Option(help="Who signs off what the gates ask a person for.", metavar="NAME")]


def publish(profile: ProfileName = "starter", run: Run = None, signed_by: SignedBy = None, json: Json = False) -> None:
    """Weigh what the newest refresh left at the gates, and publish it: curation_rules/gates.yaml.

    Example: driftline publish --profile starter --signed-by ada
    """
    if signed_by is not None and not signed_by.strip():
        fail("--signed-by is empty: say who signs")
    problem: str | None = None
    published: Published | None = None
    load_profile(profile)  # one that does not exist is named, with those that do
    try:
        refresh = last_refresh(profile, run)
    except NoRefresh as error:
        fail(str(error))
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
    measured = [gate for gate in publication.gates if gate.status != CheckStatus.NOT_MEASURED]
    lines = [[gate.kind, gate.subject, gate.value, gate.of, gate.status] for gate in measured]
    print_table("Gates", ["gate", "of what", "measured", "units", "standing"], lines)
    out.print(f"{len(publication.gates) - len(measured)} more have too few units, or nothing to measure them by")
    if publication.state != PublicationState.PUBLISHED:
        out.print(f"{publication.state}: {publication.state.meaning}", markup=False)
    for change in publication.changes:
        out.print(change, markup=False)
    if published:
        print_published(published)
