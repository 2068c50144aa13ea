"""Options of several commands. Help imports this module, so that its own imports are light."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import ExternalSource

Libraries = Annotated[str, typer.Option(help="Only these libraries, separated by commas.", metavar="A,B")]
Since = Annotated[str | None, typer.Option(help="Only releases from this day on (UTC).", metavar="DATE")]
Until = Annotated[str | None, typer.Option(help="Only releases before this day (UTC).", metavar="DATE")]
Families = Annotated[
    str,
    typer.Option(
        help=f"Make only these; the others stay. Of: {', '.join(family.table for family in Family)}.", metavar="A,B"
    ),
]
Sources = Annotated[
    str, typer.Option(help=f"Ask only these for code of others. Of: {', '.join(ExternalSource)}.", metavar="A,B")
]
ProfileName = Annotated[str, typer.Option(help="A file of curation_rules/profiles/, without `.yaml`.", metavar="NAME")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]

Named = Annotated[
    list[str] | None,
    typer.Option(help="Also this pre-release, development or yanked release; may be repeated.", metavar="VERSION"),
]
