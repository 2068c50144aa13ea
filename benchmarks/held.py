"""How many of the changes that comparing sources finds hold where they are run, in both releases.

    python -m benchmarks.held pandas:1.5.3:2.0.0 flask:2.2.5:2.3.0 --refuted --json held.json

Each pair of releases is compared, the pinned environment of each is built, and every path of a change is asked for in
both (`pipeline/execution/validation/probes.py`), in the sandbox. Claims about parameters are bound as calls. A change
is judged as before it is published (`pipeline/quality/acceptance/changes.py`). It holds, is refuted, or is not decided.
Not decided are attributes of instances, modules that need what is not installed, and changes that no probe sees. These
reasons are counted. Without arguments the pairs are those of which `curation_rules/tags.yaml` says how many held. Pairs
that cannot be run are named, and left out.

Environments and sources stay in the cache under DRIFTLINE_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline.core.rules.profiles import LibraryRule, Profile
from pipeline.core.settings import settings
from pipeline.index.release_selection import Period
from pipeline.orchestration.adhoc import NoAnswerError, diff_releases
from pipeline.orchestration.proving import run_changes
from pipeline.orchestration.resources.resources import Resources
from pipeline.quality.acceptance.changes import ChangeVerdict, JudgedChange

PAIRS = (
    *(f"django:{pair}" for pair in ("5.0.14:5.1", "5.2.19:6.0", "6.0.10:6.1")),
    *(f"flask:{pair}" for pair in ("2.1.3:2.2.0", "3.0.3:3.1.0")),
    *(f"pandas:{pair}" for pair in ("0.25.3:1.0.0", "1.2.5:1.3.0", "1.5.3:2.0.0", "2.0.3:2.1.0", "2.3.3:3.0.0")),
    *(f"pydantic:{pair}" for pair in ("2.9.2:2.10.0",)),
    *(f"scipy:{pair}" for pair in ("1.10.1:1.11.1", "1.13.1:1.14.0")),
    *(f"sqlalchemy:{pair}" for pair in ("1.4.54:2.0.0", "2.0.58:2.1.0")),
    *(f"sympy:{pair}" for pair in ("1.13.3:1.14.0",)),
)


def judged(library: str, old: str, new: str, resources: Resources) -> list[JudgedChange]:
    """Compare two releases and run what changed in both.

    Errors: NoAnswerError for a release that cannot be had, or that has no environment here.
    """
    return run_changes(diff_releases(library, old, new).changes, resources)


def counts(changes: Iterable[JudgedChange]) -> dict[tuple[str, float], Counter[str]]:
    """Return the verdicts by kind of change and confidence of the comparison."""
    counted: dict[tuple[str, float], Counter[str]] = {}
    for each in changes:
        key = (str(each.change["kind"]), each.change["confidence"])
        counted.setdefault(key, Counter())[each.verdict.value] += 1
    return dict(sorted(counted.items(), key=lambda item: (item[0][0], -item[0][1])))


def show(changes: Sequence[JudgedChange], console: Console) -> None:
    """Print a line for each kind of change and confidence, and one for all."""
    table = Table(title="Changes found by comparing, run in both releases", title_justify="left", box=None)
    for column in ("change", "sure", *ChangeVerdict, "held of those decided"):
        table.add_column(column, justify="left" if column == "change" else "right")
    lines = [(kind, f"{sure:.0%}", of) for (kind, sure), of in counts(changes).items()]
    for kind, sure, of in [*lines, ("all", "", verdicts(changes))]:
        decided = of[ChangeVerdict.HELD] + of[ChangeVerdict.REFUTED]
        share = f"{of[ChangeVerdict.HELD] / decided:.1%}" if decided else ""
        table.add_row(kind, sure, *(str(of[verdict]) for verdict in ChangeVerdict), share)
    console.print(table)
    for reason, number in Counter(each.undecided for each in changes if each.undecided).most_common():
        console.print(f"{number:>6} {ChangeVerdict.UNDECIDED}: {reason}")


def verdicts(changes: Iterable[JudgedChange]) -> Counter[str]:
    """Count the changes by their verdicts."""
    return Counter(each.verdict.value for each in changes)


def main() -> None:
    """Compare and run the pairs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=PAIRS, metavar="library:old:new")
    parser.add_argument("--refuted", action="store_true", help="name the changes that running refutes")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    libraries = sorted({pair.split(":")[0] for pair in asked.pairs})
    rules = tuple(LibraryRule(library=library) for library in libraries)
    resources = Resources(settings(), Profile(name="held", libraries=rules), Period())
    console, found = Console(stderr=True), list[JudgedChange]()
    for pair in asked.pairs:
        library, old, new = pair.split(":")
        try:
            of_pair = judged(library, old, new, resources)
        except NoAnswerError as error:
            console.print(f"left out: {error}")
            continue
        found += of_pair
        console.print(f"{pair}: {dict(verdicts(of_pair))}")
    show(found, Console(width=120))
    refuted = [each.change for each in found if each.verdict == ChangeVerdict.REFUTED]
    if asked.refuted:
        for change in refuted:
            print(*(change[name] for name in ("library", "new_version", "kind", "path", "parameter")))  # noqa: T201
    if asked.json:
        lines = [{"kind": kind, "sure": sure, **of} for (kind, sure), of in counts(found).items()]
        asked.json.write_text(json.dumps({"changes": lines, "refuted": refuted}, indent=1, default=str) + "\n")
    sys.exit(0 if found else 1)


if __name__ == "__main__":
    main()
