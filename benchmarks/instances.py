"""Completion and migration instances per second on one core, made of snippets that are in the lake already.

    python -m benchmarks.instances networkx pandas sympy --json instances.json

Libraries that the lake (DRIFTLINE_DATA) does not hold are crawled and read first, the newest `--releases` of each, with
their docstrings and what dependents on the index have; none of that is counted. Of completions all is counted that the
stage does for them: the history is made ready, every snippet parsed, every use masked at every level, and every row
made; of migrations that examples are paired and that codemods rewrite them. What is refused costs as much as what is
made, but only what is made counts. Seconds are CPU seconds of this process, and the best of three runs is taken.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.api.history.tags import Tags
from pipeline.core.rules.profiles import CodeRule, LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.core.vocabularies.samples import Language, SnippetSource
from pipeline.corpus.usages.text import source_of
from pipeline.families.completions_and_migrations.completions import make_completions
from pipeline.families.completions_and_migrations.head import Candidates
from pipeline.families.completions_and_migrations.history import History
from pipeline.families.completions_and_migrations.migrations import make_migrations
from pipeline.families.completions_and_migrations.rewritten_examples import rewritten_examples
from pipeline.families.completions_and_migrations.source import parse_source
from pipeline.index.release_selection import Period
from pipeline.lake.collector import without_collector
from pipeline.lake.rows import CompletionRow, MigrationRow, UsageRow
from pipeline.lake.runner import run_stage
from pipeline.lake.stage import as_tables
from pipeline.lake.tables import Lake
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of
from pipeline.quality.all_rules import CurationRules

LIBRARIES = ("networkx", "pandas", "sympy")
TABLES = ("releases", "snippets", "usages", "symbols", "changes", "lifecycles")
STAGES = ("crawl", "gather", "surface", "lifecycle", "snippets", "usage")
RUNS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """What one family of one library came to."""

    made: int
    refused: int
    seconds: float

    @property
    def rate(self) -> float:
        """Instances per second."""
        return self.made / self.seconds if self.seconds else 0.0


def prepare(library: str, releases: int) -> None:
    """Read a library into the lake, up to its uses, if it is not there."""
    rule = LibraryRule(library=library, latest=releases)
    code = CodeRule(sources=(SnippetSource.DOWNSTREAM,))
    resources = Resources(settings(), Profile(name="benchmark", libraries=(rule,), code=code), Period())
    if library not in resources.lake.libraries("usages"):
        stages = stages_of(resources)
        for name in STAGES:
            run_stage(stages[name], library, resources.lake, settings().runs / "benchmark")


class Bench:
    """The tables of a library, and what is measured on them."""

    def __init__(self, lake: Lake, library: str, rules: CurationRules) -> None:
        self.rules = rules
        self.tables = as_tables({name: lake.read(name, library) for name in TABLES})
        self.python = [row for row in self.tables["snippets"] if row["language"] == Language.PYTHON]
        self.uses: dict[str, list[UsageRow]] = {}
        for usage in self.tables["usages"]:
            self.uses.setdefault(usage["snippet_id"], []).append(usage)

    def history(self) -> History:
        """Return the history of the library, made anew."""
        tables, tagging = self.tables, self.rules.lifecycle
        tags = Tags(tables["lifecycles"], tagging).at
        return History(tables["releases"], tables["symbols"], tables["changes"], tags)

    def completions(self) -> Candidates[CompletionRow]:
        """Make the completions."""
        programs = [(row, parse_source(source_of(row))) for row in self.python]
        return make_completions(programs, self.uses, self.history(), self.rules.masking)

    def migrations(self) -> Candidates[MigrationRow]:
        """Make the migrations, of pairs of examples and of what codemods write."""
        tables, codemods, history = self.tables, self.rules.codemods, self.history()
        changed = tables["changes"], tables["lifecycles"], history
        alone = [row for row in self.python if row["source"] in self.rules.validation.executable_sources]
        documenting = [row for row in self.python if row["source"] == SnippetSource.DOCSTRING]
        rewritten = rewritten_examples(alone, self.uses, *changed, codemods)
        most = codemods.max_per_paths_and_versions
        pairing = self.rules.masking.migration
        return make_migrations(documenting, self.uses, *changed, pairing, rewritten, most)[0]


def measure(make: Callable[[], Candidates[Any]]) -> Measured:
    """Make instances several times, and take the best."""
    seconds = []
    for _ in range(RUNS):
        started = time.process_time()
        made = make()
        seconds.append(time.process_time() - started)
    return Measured(len(made.rows), len(made.rejects), min(seconds))


def measured(libraries: Sequence[str], rules: CurationRules) -> dict[str, dict[str, Measured]]:
    """Measure both families of each library."""
    found = {}
    for library in libraries:
        bench = Bench(Lake(settings().lake_root), library, rules)
        found[library] = {"completions": measure(bench.completions), "migrations": measure(bench.migrations)}
    return found


def together(found: dict[str, dict[str, Measured]], family: str) -> Measured:
    """Return what all libraries came to."""
    parts = [of[family] for of in found.values()]
    return Measured(sum(p.made for p in parts), sum(p.refused for p in parts), sum(p.seconds for p in parts))


def show(found: dict[str, dict[str, Measured]]) -> Table:
    """Lay out what was found."""
    table = Table("library", "family", "made", "refused", "CPU s", "made a second", title="Instances, one core")
    for library, of in found.items():
        for family, one in of.items():
            numbers = (f"{one.made:,}", f"{one.refused:,}", f"{one.seconds:.2f}", f"{one.rate:,.0f}")
            table.add_row(library, family, *numbers)
    return table


def main() -> None:
    """Measure the libraries of the command line, print a table, and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", default=LIBRARIES)
    parser.add_argument("--releases", type=int, default=12, help="of a library that is read first")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    for library in asked.libraries:
        prepare(library, asked.releases)
    with without_collector():
        found = measured(asked.libraries, CurationRules.read())
    found["all"] = {family: together(found, family) for family in ("completions", "migrations")}
    Console().print(show(found))
    if asked.json:
        asked.json.write_text(json.dumps(as_json(found), indent=1) + "\n")


def as_json(found: dict[str, dict[str, Measured]]) -> dict[str, Any]:
    """Return the numbers for a program to read."""
    return {
        library: {
            family: {"made": one.made, "refused": one.refused, "seconds": one.seconds, "per_second": one.rate}
            for family, one in of.items()
        }
        for library, of in found.items()
    }


if __name__ == "__main__":
    main()
