"""`make versions`: decide for each stage and cache whose sources changed whether its result did.

make versions                        list those that wait for a decision
make versions RAISE="surface usage"  their results change: raise their numbers
make versions SAME="functions"       their results stay the same: record the new sources
make versions SAME=all               all others stay the same
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping

import yaml

from pipeline.core.versions import FILE, Recorded, read_versions
from pipeline.orchestration.refresh import Refresh
from pipeline.orchestration.stages.all_stages import stages_of
from tests.source_hash import hash_of, roots_of

CACHES: Mapping[str, tuple[str, str]] = {
    "annotated_samples": ("pipeline.quality.annotation.collect", "collect"),
    "documentation_pages": ("pipeline.corpus.documentation.pages", "read_page"),
    "environment_records": ("pipeline.execution.environments.store", "EnvironmentStore"),
    "runs": ("pipeline.execution.validation.running", "run_cases"),
    "sdists": ("pipeline.corpus.dependents.sdists", "SdistStore"),
    "stack_overflow_dump": ("pipeline.corpus.stack_overflow.dump", "read_dump"),
    "surfaces": ("pipeline.api.surface.reader", "SurfaceReader"),
}
"""What each cache is filled by."""


def current_sources() -> dict[tuple[str, str], str]:
    """Return the hash of the sources of each stage and cache."""
    stages = stages_of(Refresh("starter").resources())
    roots = {name: roots_of(stage.run) for name, stage in stages.items()}
    if without := [name for name, (definitions, _) in roots.items() if not definitions]:
        raise TypeError(f"no sources are known of the stages {without}")
    found = {("stages", name): hash_of(*of_stage) for name, of_stage in roots.items()}
    return found | {("caches", name): hash_of([root]) for name, root in CACHES.items()}


def undecided(current: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """Yield the stages and caches whose sources are not those of their version."""
    recorded = read_versions()
    for group, name in current.keys() | {(group, name) for group, names in recorded.items() for name in names}:
        entry = recorded[group].get(name)
        if entry is None or entry.sources != current.get((group, name)):
            yield group, name


def write(raised: set[str], same: set[str]) -> None:
    """Write the file with the numbers of `raised` raised, and with the sources of these and of `same` as they are."""
    current = current_sources()
    recorded = read_versions()
    known = {name for _, name in current}
    if unknown := (raised | same) - known - {"all"}:
        sys.exit(f"no such stage or cache: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    # A merge may have left an entry out: its number must not begin anew, for caches remember the old ones.
    committed = subprocess.run(["git", "show", f"HEAD:./{FILE.name}"], cwd=FILE.parent, capture_output=True, text=True)
    numbers = yaml.safe_load(committed.stdout) if committed.returncode == 0 else {}
    lines = [
        "# Versions of results: whoever changes what a stage or cache makes raises its number with `make versions`.\n"
        "# `sources` is the hash of the definitions that it is made by, without comments and docstrings.\n"
    ]
    for group in ("stages", "caches"):
        lines.append(f"{group}:\n")
        for name in sorted(name for kind, name in current if kind == group):
            last = numbers.get(group, {}).get(name, {}).get("version", 0)
            before = recorded.get(group, {}).get(name) or Recorded(last, "")
            decided = name in raised or name in same or "all" in same or not before.version
            version = before.version + (name in raised or not before.version)
            sources = current[group, name] if decided else before.sources
            lines.append(f'  {name}: {{version: {version}, sources: "{sources}"}}\n')
    FILE.write_text("".join(lines), encoding="utf-8")
    read_versions.cache_clear()


def main(raised: str = "", same: str = "") -> int:
    """Decide, and return 1 while something is undecided."""
    if raised or same:
        write(set(raised.split()), set(same.split()))
    waiting = sorted(undecided(current_sources()))
    for group, name in waiting:
        print(
            f"{group}: the sources of {name} changed since version {read_versions()[group].get(name, Recorded(0, '')).version}"
        )
    if waiting:
        print(
            'Does the result change? make versions RAISE="NAME ..." · Is it the same? make versions SAME="NAME ..." (or all)'
        )
    return int(bool(waiting))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
