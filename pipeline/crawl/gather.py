"""The stages that ask others: every source of real code for what uses a library, and sites for what they document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Protocol

from pipeline.crawl.found import CodeSource, Found
from pipeline.crawl.http import Unreachable
from pipeline.crawl.releases import Period
from pipeline.lake import Output, Reject, Row, content_id
from pipeline.terms import RejectReason


def gather_stage(
    library: str, releases: Sequence[Row], known: Iterable[Row], sources: Iterable[CodeSource], period: Period
) -> Output:
    """Find real code that uses a library in a period, beside what is `known` from earlier runs, which stays.

    The unit is a piece of code. A source that cannot be asked, or stops answering, is a note, and the others go on.
    """
    found = {row["id"]: row for row in known}
    rejects: list[Reject] = []
    notes: list[Reject] = []
    for source in sources:
        if why := source.left_out():
            notes.append(Reject(source.name, RejectReason.SOURCE_LEFT_OUT, why))
            continue
        try:
            for piece in source.find(library, releases, period):
                if isinstance(piece, Reject):
                    rejects.append(piece)
                else:
                    row = _row(piece)
                    found[row["id"]] = row
        except Unreachable as error:
            notes.append(_stopped(source.name, error))
    rows = [found[key] for key in sorted(found)]
    return Output({"found": rows}, len(rows) + len(rejects), len(rows), rejects, notes)


class SiteSource(Protocol):
    """A source of what documentation sites say of each API."""

    def left_out(self) -> str | None:
        """Return why no site can be asked, and what to do; None if one can."""
        ...

    def documents(self, library: str, releases: Sequence[Row], period: Period) -> Iterator[Row | Reject]:
        """Yield the rows of `site_documents` of a library, or why there is none."""
        ...


def sites_stage(
    library: str, releases: Sequence[Row], known: Iterable[Row], sites: SiteSource | None, period: Period
) -> Output:
    """Read what documentation sites say of a library's APIs, beside what is `known` from earlier runs, which stays.

    The unit is an API of a release's site. Without `sites`, or where they cannot be asked, nothing is added; that the
    source was left out is said by `gather`.
    """
    found = {(row["path"], row["first_version"]): row for row in known}
    rejects: list[Reject] = []
    notes: list[Reject] = []
    if sites and not sites.left_out():
        try:
            for piece in sites.documents(library, releases, period):
                if isinstance(piece, Reject):
                    rejects.append(piece)
                else:
                    found[piece["path"], piece["first_version"]] = piece
        except Unreachable as error:
            notes.append(_stopped("documentation", error))
    rows = [found[key] for key in sorted(found)]
    return Output({"site_documents": rows}, len(rows) + len(rejects), len(rows), rejects, notes)


def _stopped(source: str, error: Unreachable) -> Reject:
    detail = f"stopped answering: {error}. What it had given until then was taken; run again for the rest."
    return Reject(source, RejectReason.SOURCE_UNREACHABLE, detail)


def _row(piece: Found) -> Row:
    made_of = (piece.library, piece.version, piece.place, piece.file, piece.line, piece.text)
    return {"id": content_id(*made_of), **asdict(piece)}
