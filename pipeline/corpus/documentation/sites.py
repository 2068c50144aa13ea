"""The stage that writes the table `site_documents`: what documentation sites say of a library's APIs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.samples import SnippetSource
from pipeline.corpus.documentation.source import Documentation
from pipeline.index.http import Unreachable
from pipeline.index.reject_log import RejectLog, stopped
from pipeline.index.release_selection import Period
from pipeline.lake.guard import attempt
from pipeline.lake.rows import Tables
from pipeline.lake.stage import Output, Reject


def sites_stage(
    library: str,
    tables: Tables,
    source: Documentation | None,
    period: Period,
    progress: Mapping[str, Any] | None = None,
    end: datetime | None = None,
) -> Output:
    """Read the documentation sites of a library's releases in a period, beside the rows of earlier runs.

    Rows of releases other than these are left out, and so is what was refused in periods after `end`.

    The unit is an API that an inventory lists. Where no site can be asked, or one stops answering, that is a note, and
    what was refused before stays too (`progress`); without a `source` that is all.
    """
    releases, stored = tables["releases"], tables["site_documents"]
    versions = {release["version"] for release in releases}
    rows = {(row["path"], row["first_version"]): row for row in stored if row["first_version"] in versions}
    refusals = RejectLog(progress, period)
    notes: list[Reject] = []
    if source and (why := source.unavailable()):
        notes.append(Reject(SnippetSource.DOCUMENTATION, RejectReason.SOURCE_LEFT_OUT, why))
    elif source:
        rejects: list[Reject] = []

        def take() -> None:
            for document in source.documents(library, releases, period):
                if isinstance(document, Reject):
                    rejects.append(document)
                else:
                    rows[document["path"], document["first_version"]] = document

        try:
            # the pages guard themselves; an inventory that cannot be read ends the reading of sites
            failed = attempt(SnippetSource.DOCUMENTATION, take)
            notes += [failed] if failed else []
        except Unreachable as error:
            notes.append(stopped(SnippetSource.DOCUMENTATION, error))
        refusals.put(SnippetSource.DOCUMENTATION, rejects)
    written, refused = [rows[key] for key in sorted(rows)], refusals.rejects(end)
    return Output(
        {"site_documents": written},
        len(written) + len(refused),
        len(written),
        refused,
        notes,
        progress=refusals.progress,
    )
