"""How far the found history of a library agrees with what its own docstrings state of versions.

    python -m benchmarks.agreement scikit-learn pandas scipy matplotlib --series 12 --json agreement.json

Every final release of the newest minor series is read from the package index into the lake under DRIFTLINE_DATA (the
first time that takes minutes for each library, then seconds). A statement counts once for a definition, however many
paths and releases repeat it. In the window is what states a release that the lake holds beside its predecessor.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from rich.console import Console
from rich.table import Table

from pipeline.api.history.documented import directives_stage
from pipeline.api.history.occurrences import Timeline
from pipeline.api.surface.extract.directives import read_version
from pipeline.api.surface.parse.directive_rules import DirectiveRules
from pipeline.core.rules.load import load
from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.changes import Agreement, DirectiveKind, DirectiveOwner, Disagreement
from pipeline.index.index import project
from pipeline.index.release_selection import Period, finals_of
from pipeline.lake.rows import DirectiveRow
from pipeline.lake.runner import run_stage
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of

LIBRARIES = ("scikit-learn", "pandas", "scipy", "matplotlib")
SERIES = 12
TABLES = ("releases", "documents", "symbols", "lifecycles", "changes")
STAGES = ("crawl", "surface", "lifecycle")
COLUMNS = (Agreement.AGREES, Agreement.CONTRADICTS, Agreement.NOT_FOUND, Agreement.NOT_COMPARABLE)


class Statement(DirectiveRow):
    """A statement, with whether the lake holds the release that it states beside the predecessor."""

    in_window: bool


def newest_series(library: str, count: int) -> SpecifierSet:
    """Return the range of versions that has the newest minor series of a library, all their final releases."""
    resources = _house(library, "")
    finals, _ = finals_of(project(resources.artifacts.fetcher, index_url(), library), SpecifierSet(""))
    series = sorted({Version(final.version).release[:2] for final in finals})[-count:]
    return SpecifierSet(f">={'.'.join(map(str, series[0]))}")


def _house(library: str, versions: str) -> Resources:
    rule = LibraryRule(library=library, versions=versions)
    return Resources(settings(), Profile(name="agreement", libraries=(rule,)), Period())


def directives_of(library: str, versions: SpecifierSet) -> tuple[list[DirectiveRow], Timeline]:
    """Return the `directives` rows of a library over a range of its releases, and those releases."""
    resources = _house(library, str(versions))
    stages = stages_of(resources)
    for name in STAGES:
        run_stage(stages[name], library, resources.lake, settings().runs / "agreement" / "counts")
    tables: Any = {name: resources.lake.read(name, library) for name in TABLES}
    rules = load(settings().rules / "directives.yaml", DirectiveRules)
    output = directives_stage(tables, rules=rules)
    return list(output.tables["directives"]), Timeline(tables["releases"])


def once(rows: Iterable[DirectiveRow]) -> list[DirectiveRow]:
    """Return one row for each statement about a definition: that of the first path and release which has it."""
    ordered = sorted(rows, key=lambda row: (row["path"].count("."), row["path"], Version(row["first_version"])))
    kept: dict[tuple[str | None, ...], DirectiveRow] = {}
    for row in ordered:
        # other words about the same arrival are the same statement; two changes of one release are two
        words = row["text"] if row["directive"] == DirectiveKind.VERSIONCHANGED else None
        about = (row["parameter"], row["attribute"], row["stated_version"], words)
        kept.setdefault((row["canonical_path"], row["directive"], row["owner"], *about), row)
    return list(kept.values())


def in_window(row: DirectiveRow, timeline: Timeline) -> bool:
    """Return whether a row states a release that the lake holds beside its predecessor."""
    version = read_version(row["stated_version"])
    release = timeline.release_of(version) if version else None
    return release is not None and timeline.covers(release)


def agreement_of(library: str, count: int) -> list[Statement]:
    """Return the statements of a library, each once, with `in_window` beside the columns of `directives`."""
    rows, timeline = directives_of(library, newest_series(library, count))
    return [{**row, "in_window": in_window(row, timeline)} for row in once(rows)]


def main() -> None:
    """Print the agreement for each library, directive and owner, and the disagreements by what they look like."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("libraries", nargs="*", default=LIBRARIES)
    parser.add_argument("--series", type=int, default=SERIES, help="how many of the newest minor series")
    parser.add_argument("--json", type=Path, help="write every statement to this file")
    asked = parser.parse_args()
    console = Console()
    rows = [row for library in asked.libraries for row in agreement_of(library, asked.series)]
    console.print(_table(rows))
    for line in _disagreements(rows):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1, sort_keys=True, default=str) + "\n")


def _table(rows: Sequence[Statement]) -> Table:
    """Count by library, directive and owner.

    `agree` is the share that agrees of what was found, `found` the share that was found of what a surface can show.
    """
    made = Table(title="statements of versions in the window, each counted once")
    for name in ("library", "directive", "about", *map(str, COLUMNS), "agree", "found", "outside"):
        made.add_column(name, justify="left" if name in {"library", "directive", "about"} else "right")
    groups = Counter((row["library"], str(row["directive"]), str(row["owner"])) for row in rows)
    for group in sorted(groups):
        if group[2] == DirectiveOwner.PART:
            continue
        of_group = [row for row in rows if (row["library"], row["directive"], row["owner"]) == group]
        made.add_row(*group, *_counts(of_group))
    made.add_section()
    made.add_row("all", "", "", *_counts([row for row in rows if row["owner"] != DirectiveOwner.PART]))
    return made


def _counts(rows: Sequence[Statement]) -> Iterator[str]:
    inside = Counter(row["agreement"] for row in rows if row["in_window"])
    yield from (str(inside[column]) for column in COLUMNS)
    found = inside[Agreement.AGREES] + inside[Agreement.CONTRADICTS]
    yield _share(inside[Agreement.AGREES], found)
    yield _share(found, found + inside[Agreement.NOT_FOUND])
    yield str(sum(not row["in_window"] for row in rows))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _disagreements(rows: Iterable[Statement]) -> Iterator[str]:
    """Yield what disagrees, grouped by what it looks like, the most frequent first."""
    disagreeing = [(row, row["disagreement"]) for row in rows if row["disagreement"]]
    kinds = Counter((row["agreement"], reason) for row, reason in disagreeing)
    for (agreement, reason), number in kinds.most_common():
        yield f"\n{agreement}, {reason} ({Disagreement(reason).meaning}): {number}"
        for row in (row for row, other in disagreeing if (row["agreement"], other) == (agreement, reason)):
            name = ".".join(part for part in (row["path"], row["parameter"] or row["attribute"]) if part)
            found = f"found {row['found_version']}" if row["found_version"] else "not found"
            yield f"  {name}: {row['directive']} {row['stated_version']}, {found} {row['text'][:60]}".rstrip()


if __name__ == "__main__":
    main()
