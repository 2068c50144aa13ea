"""`driftline drafts`: which rows a model would improve, and which it has."""

from __future__ import annotations

import json as json_
from dataclasses import asdict

from pipeline.cli.options import Json, Libraries, ProfileName
from pipeline.cli.output import err, out, print_table, progress
from pipeline.cli.refresh import read_refresh
from pipeline.core.settings import settings
from pipeline.core.vocabularies.drafts import DraftStanding
from pipeline.lake.tables import Lake
from pipeline.orchestration.draftable import OF_KIND, Draftable, counted, draftable
from pipeline.orchestration.refresh import plan
from pipeline.quality.all_rules import CurationRules


def drafts(libraries: Libraries = "", profile: ProfileName = "starter", json: Json = False) -> None:
    """Count what a model would improve, has improved or was asked for, by kind of draft and library.

    With --json there is a line for each row: kind, library, subject_id, standing, detail. Nothing is asked of a model.

    Example: driftline drafts --libraries click
    """
    asked = read_refresh(libraries, None, None, profile)
    with progress("looking for rows that a model would improve"):
        rows = draftable(Lake(settings().lake), plan(asked), CurationRules.read())
    if json:
        for row in rows:
            print(json_.dumps(asdict(row), ensure_ascii=False))  # noqa: T201 - the output itself
        return
    if not rows:
        err.print("nothing in the lake that a model would improve: `driftline refresh` comes first")
        return
    print_table("Drafts", ["kind", "library", *DraftStanding], _lines(rows))
    out.print()
    for standing in DraftStanding:
        out.print(f"{standing}: {standing.meaning}", markup=False)


def _lines(rows: list[Draftable]) -> list[list[object]]:
    lines: list[list[object]] = []
    for kind in OF_KIND:
        of_kind = [row for row in rows if row.kind == kind]
        libraries = sorted({row.library for row in of_kind})
        for library in libraries:
            numbers = counted(row for row in of_kind if row.library == library)[kind]
            lines.append([kind, library, *(numbers.get(standing, 0) for standing in DraftStanding)])
        if len(libraries) > 1:
            numbers = counted(of_kind)[kind]
            lines.append([kind, "all", *(numbers.get(standing, 0) for standing in DraftStanding)])
    return lines
