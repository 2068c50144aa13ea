"""The gather stage: asks every source of real code for what uses a library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.code_source import CodeSample, CodeSource
from pipeline.index.http import Unreachable
from pipeline.index.reject_log import RejectLog, stopped
from pipeline.index.release_selection import Period
from pipeline.lake.guard import attempt
from pipeline.lake.ids import content_id
from pipeline.lake.rows import CodeSampleRow, Tables
from pipeline.lake.stage import Output, Reject


def gather_stage(
    library: str,
    tables: Tables,
    sources: Iterable[CodeSource],
    period: Period,
    progress: Mapping[str, Any] | None = None,
    end: datetime | None = None,
) -> Output:
    """Find real code that uses a library in a period, beside the rows of earlier runs, which stay.

    With an `end` nothing is told that was written then or later.

    The unit is a piece of code. A source that cannot be asked, or stops answering, is a note, and the others go on;
    what it refused before stays too (`progress`).
    """
    samples = {row["id"]: row for row in tables["code_samples"] if end is None or row["created_time"] < end}
    refusals = RejectLog(progress, period)
    notes: list[Reject] = []
    for source in sources:
        if why := source.unavailable():
            notes.append(Reject(source.name, RejectReason.SOURCE_LEFT_OUT, why))
            continue
        rejects: list[Reject] = []
        try:
            # a source guards its own units; one that fails as a whole leaves the others alone
            failed = attempt(source.name, _take, source.find(library, tables["releases"], period), samples, rejects)
            notes += [failed] if failed else []
        except Unreachable as error:
            notes.append(stopped(source.name, error))
        refusals.put(source.name, rejects)
    rows = [samples[key] for key in sorted(samples)]
    refused = refusals.rejects(end)
    return Output(
        {"code_samples": rows}, len(rows) + len(refused), len(rows), refused, notes, progress=refusals.progress
    )


def _take(pieces: Iterable[CodeSample | Reject], samples: dict[str, CodeSampleRow], rejects: list[Reject]) -> None:
    for piece in pieces:
        if isinstance(piece, Reject):
            rejects.append(piece)
        else:
            row = _row(piece)
            samples[row["id"]] = row


def _row(piece: CodeSample) -> CodeSampleRow:
    identity = (piece.library, piece.version, piece.place, piece.file, piece.line, piece.text)
    return cast("CodeSampleRow", {"id": content_id(*identity), **asdict(piece)})
