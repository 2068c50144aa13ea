"""The stage that writes the table `site_documents`: what documentation sites say of a library's APIs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.crawl.documentation.source import Documentation
from pipeline.crawl.gather import stopped
from pipeline.crawl.http import Unreachable
from pipeline.crawl.releases import Period
from pipeline.lake import Output, Reject, Row
from pipeline.terms import RejectReason, SnippetSource


def sites_stage(
    library: str, releases: Sequence[Row], known: Iterable[Row], source: Documentation, period: Period
) -> Output:
    """Read the documentation sites of a library's releases in a period, beside what is `known` of earlier runs.

    The unit is an API that an inventory lists. Where no site can be asked, or one stops answering, that is a note.
    """
    rows = {(row["path"], row["first_version"]): row for row in known}
    rejects: list[Reject] = []
    notes: list[Reject] = []
    why = source.left_out()
    try:
        for document in source.documents(library, releases, period) if why is None else ():
            if isinstance(document, Reject):
                rejects.append(document)
            else:
                rows[document["path"], document["first_version"]] = document
    except Unreachable as error:
        notes.append(stopped(SnippetSource.DOCUMENTATION, error))
    if why is not None:
        notes.append(Reject(SnippetSource.DOCUMENTATION, RejectReason.SOURCE_LEFT_OUT, why))
    written = [rows[key] for key in sorted(rows)]
    return Output({"site_documents": written}, len(written) + len(rejects), len(written), rejects, notes)
