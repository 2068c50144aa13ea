"""Change coverage: which changes of the libraries in a lake have an executed row that tells the releases apart.

    python -m benchmarks.change_coverage --json coverage.json
    python -m benchmarks.change_coverage flask --list

It reads the lake (DRIFTLINE_DATA) as a refresh left it. A change counts if running can show it and the API is listed,
documented or used; those of behaviour, which only running finds, are a group of their own. It is covered by a
discriminating completion, migration, problem or function: there code is to be written. A compatibility, which asks in
which releases a program runs, covers it too, and is counted apart; where the API went more than once, one row covers
each time at which its answer switches. For the others the reason is that of the stage
`witnesses`, or tells how far a row came; a description that no docstring gives is for a model to write. Changes that
no run shows (annotations) stand aside.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline.core.settings import settings
from pipeline.core.vocabularies.changes import MARKED, OFFERED, WHOLE, ChangeKind
from pipeline.core.vocabularies.review import FlagKind
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.witnesses.changed_uses import side_before_mark, sides_of
from pipeline.lake.rows import BehaviourRow, ChangeRow
from pipeline.lake.tables import Lake

COVERED = "covered"
COMPATIBILITY_ALONE = "compatibility alone"
"""No code is to be written that shows the change, and it is asked in which releases a program runs that does."""
GROUPS = ("breaking", "behaviour", "introduced", "deprecated", "other")


def group_of(change: ChangeRow | BehaviourRow) -> str:
    """Return the group of a change; `other` is what may come out otherwise."""
    if change["kind"] in MARKED:
        return "deprecated"
    if change["kind"] == ChangeKind.BEHAVIOUR:
        return "behaviour"
    if change["breaking"]:
        return "breaking"
    return "introduced" if change["kind"] == ChangeKind.INTRODUCED else "other"


class Coverage:
    """What became of the changes of one library."""

    def __init__(self, lake: Lake, library: str) -> None:
        self._lake, self._library = lake, library
        changes = lake.read("changes", library)
        self.changes: list[ChangeRow | BehaviourRow] = [
            row for row in changes if sides_of(row) or side_before_mark(row)
        ]
        self.changes += [row for row in lake.read("behaviours", library) if row["reach"] in OFFERED]
        self.rows: Counter[str] = Counter()
        """Discriminating rows by family."""
        self.covered: dict[str, set[str]] = defaultdict(set)
        """Families with such a row, by change."""
        for family, change in self._discriminating():
            self.rows[family] += 1
            if change:
                self.covered[change].add(family)
        self._cover_each_switch()
        self.reasons = self._reasons()

    def _cover_each_switch(self) -> None:
        """Count every change of an API's place at which the answer of a compatibility switches."""
        for row in self._lake.read("published_compatibilities", self._library):
            outcomes = dict(zip(row["releases"], row["outcomes"], strict=True))
            for change in self.changes:
                sides = [outcomes.get(version) for version in (change["old_version"], change["new_version"])]
                is_of_path = change["kind"] in WHOLE and change["path"] == row["path"]
                if is_of_path and all(sides) and len({side == Outcome.PASSED for side in sides}) > 1:
                    self.covered[change["id"]].add("compatibility")

    def _discriminating(self) -> Iterator[tuple[str, str | None]]:
        for row in self._lake.read("published_completions", self._library):
            if row["discriminating"]:
                yield "completion", row["change_id"]
        for table in ("problems", "functions"):
            for other in self._lake.read(f"published_{table}", self._library):
                if other["discriminating"]:
                    yield table[:-1], other["change_id"]
        for compatibility in self._lake.read("published_compatibilities", self._library):
            yield "compatibility", compatibility["change_id"]
        # The change of a migration's row is that of its version, which is the release before where code moves up.
        witnessed = {
            key: row["change_id"]
            for row in self._lake.read("witnesses", self._library)
            for key in (row["old_snippet_id"], row["new_snippet_id"])
        }
        for migration in self._lake.read("published_migrations", self._library):
            if migration["discriminating"]:
                yield "migration", migration["change_id"] or witnessed.get(migration["snippet_id"])

    def _reasons(self) -> Mapping[str, str]:
        made = {
            row["change_id"] for name in ("completions", "migrations") for row in self._lake.read(name, self._library)
        }
        shown = {row["change_id"] for row in self._lake.read("witnesses", self._library)}
        rejects = list(self._lake.read("rejects", self._library))
        refused = {row["key"]: row["reason"] for row in rejects if row["stage"] == "witnesses"}
        without_text = {
            row["key"] for row in rejects if row["stage"] == "acceptance" and row["detail"] == FlagKind.NO_DESCRIPTION
        }
        undescribed = {
            row["change_id"] for row in self._lake.read("completions", self._library) if row["id"] in without_text
        }
        found: dict[str, str] = {}
        for change in self.changes:
            key = change["id"]
            if self.covered[key]:
                found[key] = COMPATIBILITY_ALONE if self.covered[key] == {"compatibility"} else COVERED
            elif key in shown:
                found[key] = "witness without description" if key in undescribed else "witness without row"
            elif key in made:
                found[key] = f"row not proven; {refused.get(key, 'no witness')}"
            else:
                found[key] = refused.get(key, "not searched")
        return found

    def shares(self) -> Iterator[tuple[str, str, int, int, int]]:
        """Yield group, kind, how many changes there are, are covered, and are so by code that is to be written."""
        counts = [Counter[tuple[str, str]]() for _ in range(3)]
        for change in self.changes:
            key = group_of(change), str(change["kind"])
            reason = self.reasons[change["id"]]
            for counter, counted in zip(
                counts, (True, reason in (COVERED, COMPATIBILITY_ALONE), reason == COVERED), strict=True
            ):
                counter[key] += counted
        total, covered, written = counts
        for key in sorted(total, key=lambda each: (GROUPS.index(each[0]), each[1])):
            yield *key, total[key], covered[key], written[key]


def measure(libraries: Sequence[str]) -> dict[str, Coverage]:
    """Return the coverage of libraries of the lake, all of them if none is named."""
    lake = Lake(settings().lake_root)
    named = libraries or sorted(lake.libraries("changes"))
    return {name: Coverage(lake, name) for name in named}


def tables(found: Mapping[str, Coverage]) -> Iterator[Table]:
    """Yield the tables of the report: by library, by kind, and the reasons for the rest."""
    by_library = Table("library", *(f"{group}, covered (by code)" for group in GROUPS), "discriminating rows")
    by_kind: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    reasons: dict[str, Counter[str]] = {group: Counter() for group in GROUPS}
    for name, coverage in found.items():
        of_group = {group: [0, 0, 0] for group in GROUPS}
        for group, kind, *numbers in coverage.shares():
            for counts in (of_group[group], by_kind[group, kind]):
                counts[:] = [count + number for count, number in zip(counts, numbers, strict=True)]
        for change in coverage.changes:
            reasons[group_of(change)][coverage.reasons[change["id"]]] += 1
        shares = (f"{covered} of {total} ({written})" for total, covered, written in of_group.values())
        by_library.add_row(name, *shares, ", ".join(f"{n} {family}s" for family, n in sorted(coverage.rows.items())))
    yield by_library
    kinds = Table("group", "kind", "changes", "covered", "by code", "share")
    for (group, kind), (total, covered, written) in sorted(
        by_kind.items(), key=lambda each: (GROUPS.index(each[0][0]), each[0])
    ):
        kinds.add_row(group, kind, str(total), str(covered), str(written), f"{covered / total:.2f}")
    yield kinds
    why = Table("reason", *GROUPS)
    for reason in sorted({reason for of_group in reasons.values() for reason in of_group}):
        why.add_row(reason, *(str(reasons[group][reason]) for group in GROUPS))
    yield why


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", help="libraries of the lake, all if none is named")
    parser.add_argument("--list", action="store_true", help="each breaking change with what became of it")
    parser.add_argument("--json", type=Path, help="file for what became of each change")
    arguments = parser.parse_args()
    found, console = measure(arguments.libraries), Console()
    for table in tables(found):
        console.print(table)
    every = [(coverage, change) for coverage in found.values() for change in coverage.changes]
    if arguments.list:
        for coverage, change in every:
            if change["breaking"]:
                place = f"{change['library']} {change['new_version']} {change['kind']} {change['path']}"
                console.print(f"{place} {change['parameter'] or ''}: {coverage.reasons[change['id']]}", highlight=False)
    if arguments.json:
        columns = ("library", "new_version", "kind", "path", "parameter", "breaking")
        rows = [
            {name: change[name] for name in columns}  # type: ignore[literal-required]
            | {"id": change["id"], "reason": coverage.reasons[change["id"]]}
            | {"families": sorted(coverage.covered[change["id"]])}
            for coverage, change in every
        ]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
